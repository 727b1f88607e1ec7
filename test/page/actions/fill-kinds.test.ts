import { expect, test } from 'vitest';
import { clear } from '../../../src/page/actions/clear.ts';
import { type FillValue, fill } from '../../../src/page/actions/fill.ts';
import { fillForm } from '../../../src/page/actions/fill-form.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': `<form><input id=text><input id=pre value=old><textarea id=area>old</textarea><input id=email type=email><input id=num type=number>
    <input id=date type=date><input id=time type=time><input id=month type=month><input id=week type=week><input id=local type=datetime-local>
    <input id=color type=color><input id=range type=range min=0 max=10 step=2><input id=check type=checkbox><input id=radio type=radio>
    <select id=sel><option>a<option>b</select><div id=rich contenteditable>old <b>bold</b></div><label id=lab>Name <input id=inner></label>
    <input id=hidden type=hidden></form>
    <script>h=[];for(const t of ['input','change'])addEventListener(t,e=>h.push(t+':'+e.target.id))</script>`,
  '/react': `<input id=r><script>
    // As a framework tracks the value: its own setter on the node, compared when an event comes.
    let tracked='';const d=Object.getOwnPropertyDescriptor(HTMLInputElement.prototype,'value');
    Object.defineProperty(r,'value',{get(){return d.get.call(this)},set(v){tracked=v;d.set.call(this,v)},configurable:true});
    seen=[];document.addEventListener('input',()=>{if(d.get.call(r)!==tracked){tracked=d.get.call(r);seen.push(tracked)}})</script>`,
});
const put = (target: string, value: FillValue) => page.run((op) => fill(op, { target, value }));

test.each([
  ['text', 'hello', 'hello'],
  ['pre', 'new', 'new'],
  ['area', 'two\nlines', 'two\nlines'],
  ['email', 'a@b.test', 'a@b.test'],
  ['num', 12.5, '12.5'],
  ['date', '2024-02-29', '2024-02-29'],
  ['time', '13:45', '13:45'],
  ['month', '2024-02', '2024-02'],
  ['week', '2024-W09', '2024-W09'],
  ['local', '2024-02-29T13:45', '2024-02-29T13:45'],
  ['color', '#AABBCC', '#aabbcc'],
  ['range', '4', '4'],
  ['sel', 'b', 'b'],
] as const)('%s takes %s, with one input and one change', async (id, value, held) => {
  await page.goto();
  const result = await put(`#${id}`, value);
  expect(result.value).toBe(held);
  expect(await page.eval(`[document.getElementById('${id}').value, h]`)).toEqual([
    held,
    [`input:${id}`, `change:${id}`],
  ]);
  // Leaving the field tells the page nothing that it has not heard.
  await page.eval('document.activeElement.blur()');
  expect(await page.eval('h')).toHaveLength(2);
});

test('a change that a person makes afterwards is told again', async () => {
  await page.goto();
  await put('#text', 'one');
  await page.tab.session.send('Input.insertText', { text: ' two' });
  await page.eval('document.activeElement.blur()');
  expect(await page.eval('h')).toEqual(['input:text', 'change:text', 'input:text', 'change:text']);
});

test('checkbox and radio take true and false', async () => {
  await page.goto();
  await put('#check', true);
  await put('#radio', 'true');
  expect(await page.eval('[check.checked, radio.checked]')).toEqual([true, true]);
  await put('#check', 'false');
  expect(await page.eval('check.checked')).toBe(false);
  await problem(put('#check', 'maybe'), 'invalid_request');
});

test('contenteditable is replaced whole, lines and all', async () => {
  await page.goto();
  await put('#rich', 'plain');
  expect(await page.eval('rich.innerText')).toBe('plain');
  await put('#rich', 'one\ntwo');
  expect(await page.eval('rich.innerText')).toBe('one\ntwo');
  await put('#rich', '');
  expect(await page.eval('rich.innerText.trim()')).toBe('');
});

test.each([
  ['date', '29/02/2024'],
  ['date', '2023-02-29'],
  ['time', '25:00'],
  ['week', '2024-09'],
  ['color', 'red'],
  ['range', '11'],
  ['range', '3'],
])('%s refuses %s and changes nothing', async (id, value) => {
  await page.goto();
  const before = await page.eval(`document.getElementById('${id}').value`);
  const error = await problem(put(`#${id}`, value), 'invalid_request');
  expect(error.extra['expected']).toBeTypeOf('string');
  expect(await page.eval(`[document.getElementById('${id}').value, h]`)).toEqual([before, []]);
});

test('a label stands for its field', async () => {
  await page.goto();
  await put('#lab', 'x');
  await page.run((op) => fill(op, { target: { label: 'Name' }, value: 'Ann' }));
  expect(await page.eval('inner.value')).toBe('Ann');
});

test('a framework that tracks the value hears of it', async () => {
  await page.goto('/react');
  await put('#r', 'abc');
  await put('#r', '');
  expect(await page.eval('seen')).toEqual(['abc', '']);
});

test('clear empties; what cannot be empty is refused', async () => {
  await page.goto();
  await put('#date', '2024-02-29');
  for (const id of ['pre', 'area', 'rich', 'date']) await page.run((op) => clear(op, { target: `#${id}` }));
  expect(await page.eval('[pre.value, area.value, rich.textContent.trim(), date.value]')).toEqual([
    '',
    '',
    '',
    '',
  ]);
  await problem(
    page.run((op) => clear(op, { target: '#color' })),
    'invalid_request',
  );
});

test('a form is filled in order; the error says which field failed', async () => {
  await page.goto();
  const result = await page.run((op) =>
    fillForm(op, {
      fields: [
        { target: '#text', value: 'a' },
        { target: '#check', value: true },
        { target: '#sel', value: 'b' },
        { target: '#date', value: '2024-01-01' },
      ],
    }),
  );
  expect(result.values).toEqual(['a', 'true', 'b', '2024-01-01']);
  const fields = [
    { target: '#text', value: 'c' },
    { target: '#date', value: 'never' },
    { target: '#pre', value: 'untouched' },
  ];
  const error = await problem(
    page.run((op) => fillForm(op, { fields })),
    'invalid_request',
  );
  expect(error.extra).toMatchObject({ failedIndex: 1, values: ['c'] });
  expect(await page.eval('[text.value, pre.value]')).toEqual(['c', 'old']);
});
