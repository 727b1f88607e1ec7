import { expect, test } from 'vitest';
import { fill } from '../../../src/page/actions/fill.ts';
import { type } from '../../../src/page/actions/type.ts';
import { ActionPage } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': `<textarea id=t></textarea><input id=i><div id=c contenteditable></div><script>n=0;oninput=()=>n++</script>`,
});
const LINE = 'a😀𠮷日本🇯🇵👩‍👩‍👧é ñ Ωß"\\<%';

test.each(['type', 'fill'])('any Unicode lands whole by %s', async (by) => {
  await page.goto();
  const enter = (target: string, text: string) =>
    page.run<unknown>((op) =>
      by === 'type' ? type(op, { target, text }) : fill(op, { target, value: text }),
    );
  await enter('#t', `${LINE}\nB`);
  await enter('#i', LINE);
  await enter('#c', LINE);
  expect(await page.eval('[t.value, i.value, c.textContent]')).toEqual([`${LINE}\nB`, LINE, LINE]);
  expect(await page.eval('n > 0')).toBe(true);
});

test('a tab is text, and a combining mark stays with its letter', async () => {
  await page.goto();
  const text = 'a\tb e\u0301 x';
  await page.run((op) => type(op, { target: '#t', text }));
  expect(await page.eval('[t.value, document.activeElement.id]')).toEqual([text, 't']);
});

test('line ends of every kind are one line feed each in a text area', async () => {
  await page.goto();
  for (const by of [
    () => page.run<unknown>((op) => type(op, { target: '#t', text: 'a\r\nb\rc\nd' })),
    () => page.run<unknown>((op) => fill(op, { target: '#t', value: 'a\r\nb\rc\nd' })),
  ]) {
    await page.eval('t.value = ""');
    await by();
    expect(await page.eval('t.value')).toBe('a\nb\nc\nd');
  }
});
