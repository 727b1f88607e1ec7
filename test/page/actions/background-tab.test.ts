import { expect, test } from 'vitest';
import { click } from '../../../src/page/actions/click.ts';
import { drag } from '../../../src/page/actions/drag.ts';
import { fill } from '../../../src/page/actions/fill.ts';
import { press } from '../../../src/page/actions/press.ts';
import { type } from '../../../src/page/actions/type.ts';
import { wait } from '../../../src/page/wait.ts';
import { ActionPage } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': `<button id=o onclick="window.open('/two')">Open</button><input id=i onfocus="h.push('focus')" onchange="h.push('change')"><p id=p>-</p>
    <div id=k style="position:relative;width:40px;height:40px;background:red" onpointermove="h.push('move')"></div><script>h=[]</script>`,
  '/two': `<input id=i autofocus><script>setTimeout(()=>document.title='later',300)</script>`,
});

test('a tab behind another one is acted on as if it were in front, each for itself', async () => {
  await page.goto();
  const opened = (await page.run((op) => click(op, { target: '#o' }))).newTabs?.[0]?.id ?? '';
  const first = { tab: page.tab.id };
  const second = { tab: opened };
  await page.run((op) => type(op, { target: '#i', text: 'two😀' }), second);
  await page.run((op) => type(op, { target: '#i', text: 'one😀' }), first);
  await page.run((op) => press(op, { key: '!' }), second);
  await page.run((op) => press(op, { key: 'Backspace' }), first);
  await page.run((op) => fill(op, { target: '#i', value: 'filled' }), first);
  await page.run((op) => wait(op, { function: 'document.title === "later"' }), second);
  await page.run((op) => drag(op, { from: '#k', by: { dx: 10, dy: 0 } }), first);
  expect(await page.eval('[i.value, h.includes("focus"), h.includes("move")]')).toEqual([
    'filled',
    true,
    true,
  ]);
  expect(await page.eval('i.value', page.chrome.tabs.get(opened).session)).toBe('two😀!');
});
