import { expect, test } from 'vitest';
import { clear } from '../../../src/page/actions/clear.ts';
import { fill } from '../../../src/page/actions/fill.ts';
import { type } from '../../../src/page/actions/type.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': `<input id=r readonly value=keep><input id=d disabled value=keep><fieldset disabled><textarea id=f>keep</textarea></fieldset>
    <input id=a aria-readonly=true value=keep><input id=m maxlength=5><input id=n type=number><p id=p>text</p>
    <input id=u type=file><input id=late readonly><input id=w maxlength=4 type=password>
    <script>h=[];for(const t of ['input','change','beforeinput'])addEventListener(t,e=>h.push(t+':'+e.target.id),true)</script>`,
});
const short = { timeoutMs: 4000 };

test.each([
  ['#r', 'not_editable'],
  ['#d', 'not_interactable'],
  ['#f', 'not_interactable'],
  ['#a', 'not_editable'],
] as const)('%s is refused untouched by fill, type and clear', async (target, code) => {
  await page.goto();
  await problem(
    page.run((op) => fill(op, { target, value: 'x' }), short),
    code,
  );
  await problem(
    page.run((op) => type(op, { target, text: 'x', clear: true }), short),
    code,
  );
  await problem(
    page.run((op) => clear(op, { target }), short),
    code,
  );
  expect(await page.eval(`[document.querySelector('${target}').value, h]`)).toEqual(['keep', []]);
});

test('a field that becomes writable in time is filled', async () => {
  await page.goto();
  await page.eval('setTimeout(() => { late.readOnly = false }, 300)');
  await page.run((op) => fill(op, { target: '#late', value: 'x' }));
  expect(await page.eval('late.value')).toBe('x');
});

test('what can never be a field is refused at once', async () => {
  await page.goto();
  await problem(
    page.run((op) => fill(op, { target: '#p', value: 'x' })),
    'not_editable',
  );
  await problem(
    page.run((op) => fill(op, { target: '#u', value: '/etc/passwd' })),
    'not_editable',
  );
});

test('text that a field cuts is reported, not hidden', async () => {
  await page.goto();
  const long = await problem(
    page.run((op) => fill(op, { target: '#m', value: 'abcdefgh' })),
    'not_verified',
  );
  expect(long.extra).toMatchObject({ expected: 'abcdefgh', actual: 'abcde' });
  expect(long.message).toContain('at most 5');
  const typed = await problem(
    page.run((op) => type(op, { target: '#m', text: 'abcdefgh', clear: true })),
    'not_verified',
  );
  expect(typed.extra).toMatchObject({ actual: 'abcde' });
  expect(await page.eval('m.value')).toBe('abcde');
});

test.each(['12abc', '1,5', '0x10', '--1', '1e', '5.'])(
  '%s is no number: nothing is changed',
  async (value) => {
    await page.goto();
    await page.eval('n.value = 7');
    const error = await problem(
      page.run((op) => fill(op, { target: '#n', value })),
      'invalid_request',
    );
    expect(error.extra).toMatchObject({
      expected: expect.stringContaining('a number'),
      element: { role: 'spinbutton' },
    });
    expect(await page.eval('n.value')).toBe('7');
  },
);

test.each(['-0.5', '.5', '1e3', '1E+2', '007'])('%s is one', async (value) => {
  await page.goto();
  await page.run((op) => fill(op, { target: '#n', value }));
  expect(await page.eval('n.value')).toBe(value);
});

test('text that does not arrive is told with all that the field was to hold', async () => {
  await page.goto();
  await page.eval('m.value = "zz"; m.onkeydown = (event) => event.preventDefault(); 0');
  const error = await problem(
    page.run((op) => type(op, { target: '#m', text: 'yy' })),
    'not_verified',
  );
  expect(error.extra).toMatchObject({ expected: 'zzyy', actual: 'zz' });
});

test('a password is in no error', async () => {
  await page.goto();
  const error = await problem(
    page.run((op) => fill(op, { target: '#w', value: 'hunter2' })),
    'not_verified',
  );
  expect(JSON.stringify([error.message, error.extra])).not.toContain('hunt');
});
