import { expect, test } from 'vitest';
import { click } from '../../../src/page/actions/click.ts';
import { fill } from '../../../src/page/actions/fill.ts';
import { type SelectInput, select } from '../../../src/page/actions/select.ts';
import { resolveTarget } from '../../../src/page/resolve-target.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': `<select id=s aria-label=S><option></option><option value=ap>Apple</option><option value="">None</option>
    <optgroup label=G><option value=ba disabled>Banana</option></optgroup><optgroup label=H disabled><option>Kiwi</option></optgroup></select>
    <select id=m multiple><option selected>a<option selected>b<option>c</select>
    <select id=l size=4><option>one<option>two</select><button id=b onclick="n+=100">after</button>
    <script>n=0;onchange=()=>n++</script>`,
});
const choose = (input: SelectInput) => page.run((op) => select(op, input));
const state = () => page.eval('[s.value, s.selectedIndex, n]');

test('by value and by label, with one change each, and none for what is chosen already', async () => {
  await page.goto();
  expect((await choose({ target: '#s', values: 'ap' })).selected).toEqual(['ap']);
  expect(await state()).toEqual(['ap', 1, 1]);
  await choose({ target: '#s', labels: ['None'] });
  expect(await state()).toEqual(['', 2, 2]);
  await choose({ target: '#s', labels: ['Apple'] });
  await choose({ target: '#s', labels: ['Apple'] });
  expect(await state()).toEqual(['ap', 1, 3]);
  await choose({ target: '#s', values: [''] });
  expect(await state()).toEqual(['', 0, 4]);
  await choose({ target: '#s', indexes: 1 });
  expect(await state()).toEqual(['ap', 1, 5]);
});

test('disabled and absent options fail and change nothing; the answer lists the options', async () => {
  await page.goto();
  await problem(choose({ target: '#s', labels: ['Banana'] }), 'not_interactable');
  await problem(choose({ target: '#s', labels: ['Kiwi'] }), 'not_interactable');
  const none = await problem(choose({ target: '#s', values: ['zzz'] }), 'option_not_found');
  expect(none.extra['options']).toContainEqual({ value: 'ap', label: 'Apple', index: 1, disabled: false });
  await problem(choose({ target: '#m', labels: ['c', 'zzz'] }), 'option_not_found');
  expect(await state()).toEqual(['', 0, 0]);
  expect(await page.eval('[...m.selectedOptions].map(o => o.value)')).toEqual(['a', 'b']);
});

test('a list of several holds exactly what was asked for, also nothing', async () => {
  await page.goto();
  await choose({ target: '#m', values: ['c'] });
  expect(await page.eval('[[...m.selectedOptions].map(o => o.value), n]')).toEqual([['c'], 1]);
  await choose({ target: '#m', values: [] });
  expect(await page.eval('[[...m.selectedOptions].map(o => o.value), n]')).toEqual([[], 2]);
  await problem(choose({ target: '#s', values: [] }), 'invalid_request');
  await problem(choose({ target: '#s' }), 'invalid_request');
});

test('a click on an option selects it, in a closed list too', async () => {
  await page.goto();
  const ref = await page.run(async (op) => (await resolveTarget(op, '#s [value=ap]')).ref);
  await page.run((op) => click(op, { target: ref }));
  expect(await state()).toEqual(['ap', 1, 1]);
  await page.run((op) => click(op, { target: '#l option:nth-child(2)' }));
  expect(await page.eval('l.value')).toBe('two');
  await problem(
    page.run((op) => click(op, { target: '#s [value=ba]' }), { timeoutMs: 4000 }),
    'not_interactable',
  );
});

test('a click on a list opens it, and the next click is not lost', async () => {
  await page.goto();
  await page.run((op) => click(op, { target: '#s' }));
  await page.run((op) => click(op, { target: '#b' }));
  expect(await page.eval('n')).toBe(100);
});

test('fill takes a value or a label', async () => {
  await page.goto();
  await page.run((op) => fill(op, { target: '#s', value: 'Apple' }));
  await page.run((op) => fill(op, { target: '#m', value: ['a', 'c'] }));
  expect(await page.eval('[s.value, [...m.selectedOptions].map(o => o.value)]')).toEqual(['ap', ['a', 'c']]);
});
