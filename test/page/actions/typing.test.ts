import { expect, test } from 'vitest';
import { type } from '../../../src/page/actions/type.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const OTP = Array.from(
  { length: 4 },
  () => '<input maxlength=1 class=otp oninput="this.nextElementSibling?.focus()">',
).join('');
const page = new ActionPage({
  '/': `<input id=i value=old><input id=n type=number value=4><input id=e type=email value=a@b.test><textarea id=t>one</textarea><div id=c contenteditable>one</div>
    <input id=mask oninput="const d=this.value.replace(/\\D/g,'').slice(0,10);this.value=d.replace(/(\\d{3})(\\d{3})?(\\d+)?/,(_,a,b,c)=>'('+a+') '+(b??'')+(c?'-'+c:''))">
    <input id=up oninput="this.value=this.value.toUpperCase()"><p>${OTP}</p>
    <form id=f onsubmit="s.push(q.value);q.value='';event.preventDefault()"><input id=q></form><div id=chat contenteditable onkeydown="if(event.key==='Enter'){s.push(chat.textContent);chat.textContent='';event.preventDefault()}"></div>
    <input id=d type=date><script>s=[];k=[];addEventListener('keydown',e=>k.push(e.key+':'+e.code+':'+e.shiftKey),true);addEventListener('paste',()=>s.push('paste'))</script>`,
  '/strays': `<form onsubmit="log='sent';event.preventDefault()"><input id=i></form><input id=j2><button id=j onclick="log='DELETED'">Delete account</button><script>log=''</script>`,
});
const put = (
  target: string,
  text: string,
  more: { clear?: boolean; submit?: boolean; delayMs?: number } = {},
) => page.run((op) => type(op, { target, text, ...more }));
const held = (id: string) => page.eval(`${id}.value ?? ${id}.innerText`);

test.each([
  ['i', 'old more'],
  ['n', '412'],
  ['e', 'a@b.testx'],
  ['t', 'one more'],
  ['c', 'one more'],
])('text goes behind what #%s holds', async (id, whole) => {
  await page.goto();
  const before = String(await held(id));
  await put(`#${id}`, whole.slice(before.length));
  expect(await held(id)).toBe(whole);
  await put(`#${id}`, '7', { clear: true });
  expect(await held(id)).toBe('7');
});

test('a caret that was set stays where it is, and a selection gives way', async () => {
  await page.goto();
  await page.eval('i.focus(); i.setSelectionRange(0, 0)');
  await put('#i', 'very ');
  await page.eval('i.setSelectionRange(0, 4)');
  await put('#i', 'not so');
  expect(await held('i')).toBe('not so old');
});

test('keys are real keys, capitals with Shift', async () => {
  await page.goto();
  await put('#i', 'aB?1');
  expect(await page.eval('k')).toEqual(['a:KeyA:false', 'B:KeyB:true', '?:Slash:true', '1:Digit1:false']);
});

test('a mask, a change of case and boxes that pass the focus on are no loss', async () => {
  await page.goto();
  expect((await put('#mask', '5551234567')).value).toBe('(555) 123-4567');
  expect((await put('#up', 'shout')).value).toBe('SHOUT');
  await put('.otp:first-child', '1234');
  expect(await page.eval('[...document.querySelectorAll(".otp")].map(i => i.value).join("")')).toBe('1234');
  await problem(put('#mask', '99', { clear: false }), 'not_verified');
});

test('Enter submits after the text was checked, by a line feed or by submit', async () => {
  await page.goto();
  await put('#q', 'first\n');
  await put('#q', 'second', { submit: true });
  await put('#chat', 'third\n');
  await put('#chat', 'fourth', { submit: true });
  expect(await page.eval('s')).toEqual(['first', 'second', 'third', 'fourth']);
});

test('without a target the field with the focus is typed into; with none focused it is an error', async () => {
  await page.goto();
  await problem(
    page.run((op) => type(op, { text: 'x' })),
    'not_interactable',
  );
  await page.eval('t.focus()');
  await page.run((op) => type(op, { text: 'zero ' }));
  expect(String(await held('t'))).toContain('zero ');
});

test('long text arrives whole, and slow text in order', async () => {
  await page.goto();
  const text = 'The quick brown fox. '.repeat(60);
  await put('#t', text, { clear: true });
  expect(await held('t')).toBe(text);
  await put('#i', 'slow😀ly', { clear: true, delayMs: 5 });
  expect(await held('i')).toBe('slow😀ly');
});

test('a date is not typed', async () => {
  await page.goto();
  const error = await problem(put('#d', '2024'), 'not_editable');
  expect(error.message).toContain('fill');
});

test('Enter goes to the field, or to nothing', async () => {
  for (const moves of [
    'i.oninput = () => { if (i.value === "abc") setTimeout(() => j.focus(), 0) }',
    'i.onkeydown = (event) => { if (event.key === "Enter") j.focus() }',
  ]) {
    await page.goto('/strays');
    await page.eval(`${moves}; 0`);
    await problem(
      page.run((op) => type(op, { target: '#i', text: 'abc', submit: true })),
      'not_verified',
    );
    expect(await page.eval('log')).toBe('');
  }
  await page.goto('/strays');
  await page.run((op) => type(op, { target: '#i', text: 'abc', submit: true }));
  expect(await page.eval('log')).toBe('sent');
});

test('text that goes to another field than the one that was named is not there', async () => {
  await page.goto('/strays');
  await page.eval('i.onfocus = () => setTimeout(() => j2.focus(), 5); 0');
  await problem(
    page.run((op) => type(op, { target: '#i', text: 'hello world this is long', delayMs: 5 })),
    'not_verified',
  );
});
