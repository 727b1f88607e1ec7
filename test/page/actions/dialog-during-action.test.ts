import { expect, test } from 'vitest';
import { click } from '../../../src/page/actions/click.ts';
import { fill } from '../../../src/page/actions/fill.ts';
import { press } from '../../../src/page/actions/press.ts';
import { answerDialog, openDialog } from '../../../src/page/dialogs.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': `<button id=a onclick="setTimeout(()=>r=confirm('save?'),50)">Later</button>
    <button id=b onclick="r=prompt('name','dflt')">Ask</button><button id=c onclick="alert('x'.repeat(5000))">Tell</button>
    <button id=two onclick="alert(1);alert(2)">Two</button>
    <input id=i onchange="alert('changed')"><input id=k onkeydown="alert('key')"><a id=l href="/other">away</a>
    <button id=u onclick="window.addEventListener('beforeunload',e=>e.preventDefault())">unload</button>
    <button id=p onclick="print();r='printed'">print</button><button id=n onclick="r='plain'">plain</button><script>r=0</script>`,
  '/other': '<p>other',
});
const answer = (action: 'accept' | 'dismiss', text?: string) =>
  page.run((op) => answerDialog(op, text === undefined ? { action } : { action, text }));
const waitDialog = () =>
  new Promise<void>((resolve) => (page.tab.dialog ? resolve() : page.tab.once('dialog', () => resolve())));

test('a prompt that a click opens is in the answer; the next operations say that it is open', async () => {
  await page.goto();
  const result = await page.run((op) => click(op, { target: '#b' }));
  expect(result.dialog).toMatchObject({ type: 'prompt', message: 'name', defaultPrompt: 'dflt' });
  const error = await problem(
    page.run((op) => click(op, { target: '#n' })),
    'dialog_open',
  );
  expect(error.extra['dialog']).toMatchObject({ message: 'name' });
  expect((await answer('accept', 'Ann')).dialog.message).toBe('name');
  expect(await page.eval('r')).toBe('Ann');
  await page.run((op) => click(op, { target: '#b' }));
  await answer('dismiss');
  expect(await page.eval('r')).toBe(null);
  await page.run((op) => click(op, { target: '#b' }));
  await answer('accept');
  expect(await page.eval('r')).toBe('dflt');
});

test('a dialog that opens a moment later stays open until it is answered', async () => {
  await page.goto();
  await page.run((op) => click(op, { target: '#a' }));
  await waitDialog();
  expect(openDialog(page.tab).message).toBe('save?');
  await answer('accept');
  expect(await page.eval('r')).toBe(true);
  await problem(answer('accept'), 'no_dialog');
});

test('two dialogs in a row are answered one by one', async () => {
  await page.goto();
  await page.run((op) => click(op, { target: '#two' }));
  const first = await answer('accept');
  expect(first.dialog.message).toBe('1');
  await waitDialog();
  expect((await answer('dismiss')).dialog.message).toBe('2');
  await page.run((op) => click(op, { target: '#n' }));
  expect(await page.eval('r')).toBe('plain');
});

test('fill and press end on a dialog as click does', async () => {
  await page.goto();
  expect((await page.run((op) => fill(op, { target: '#i', value: 'x' }))).dialog?.message).toBe('changed');
  await answer('accept');
  expect((await page.run((op) => press(op, { target: '#k', key: 'a' }))).dialog?.message).toBe('key');
  await answer('accept');
  expect(await page.eval('i.value')).toBe('x');
});

test('a page that does not want to be left asks, and is left or not as answered', async () => {
  await page.goto();
  await page.run((op) => click(op, { target: '#u' }));
  const leave = await page.run((op) => click(op, { target: '#l' }));
  expect(leave.dialog?.type).toBe('beforeunload');
  await answer('dismiss');
  expect(page.tab.url).toBe(page.server.url('/'));
  await page.run((op) => click(op, { target: '#l' }));
  const gone = new Promise<void>((resolve) => page.tab.once('navigated', () => resolve()));
  await answer('accept');
  await gone;
  expect(page.tab.url).toBe(page.server.url('/other'));
});

test('printing holds nothing up', async () => {
  await page.goto();
  const result = await page.run((op) => click(op, { target: '#p' }));
  expect(result.dialog).toBeUndefined();
  expect(await page.eval('r')).toBe('printed');
});

test('a long message is whole in the answer', async () => {
  await page.goto();
  const result = await page.run((op) => click(op, { target: '#c' }));
  expect(result.dialog?.message.length).toBe(5000);
  await answer('accept');
});
