import { expect, test } from 'vitest';
import { click } from '../../../src/page/actions/click.ts';
import { snapshot } from '../../../src/page/snapshot/snapshot.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const inner = `<button onclick="o.textContent='hit'">Inner</button><output id=o>-</output><iframe srcdoc="<a href='#k'>Deep</a>"></iframe>`;
const page = new ActionPage({
  '/': '<h1>Outer</h1><iframe style="cursor:pointer" src="/in?same"></iframe><iframe style="cursor:pointer" src="CROSS/in?cross"></iframe>',
  '/in': inner,
  '/canvas':
    '<iframe title=Board src="CROSS/board"></iframe><iframe title=Near srcdoc="<body style=\'height:100vh;margin:0\' onclick=\'n=1\'>near"></iframe>',
  '/board': '<body style="margin:0;height:900px" onclick="hits = (globalThis.hits ?? 0) + 1">',
});
const text = async () => (await page.run((op) => snapshot(op, {}))).text;
const refs = (of: string, shown: string) => {
  const lines = shown.split('\n').filter((line) => line.includes(of));
  return lines.map((line) => /\[ref=(\w+)\]/.exec(line)?.[1] ?? '');
};

test('frames of the same and of another site, and frames in them, are in the snapshot, and their refs are clicked', async () => {
  await page.goto();
  const shown = await text();
  expect(refs('iframe', shown)).toHaveLength(4);
  expect(refs('link "Deep"', shown)).toHaveLength(2);
  const [same, cross] = refs('button "Inner"', shown);
  await page.run((op) => click(op, { target: cross ?? '' }));
  expect(await page.evalIn('?same', 'o.textContent')).toBe('-');
  expect(await page.evalIn('?cross', 'o.textContent')).toBe('hit');
  expect((await text()).match(/- status: hit|status.*hit/g)).toHaveLength(1);
  await page.run((op) => click(op, { target: same ?? '' }));
  expect(await page.evalIn('?same', 'o.textContent')).toBe('hit');
});

test('a click on an iframe is a click on the document in it', async () => {
  await page.goto('/canvas');
  const [board, near] = refs('iframe', await text());
  await page.run((op) => click(op, { target: board ?? '' }));
  expect(await page.evalIn('/board', 'hits')).toBe(1);
  await page.run((op) => click(op, { target: near ?? '' }));
  expect(await page.evalIn('srcdoc', 'n')).toBe(1);
  const error = await problem(
    page.run((op) => click(op, { target: board ?? '', position: { x: 5, y: 5 } })),
    'not_interactable',
  );
  expect(error.message).toContain(`"frame":"${board}"`);
});

test('the depth of a snapshot counts through frames', async () => {
  await page.goto();
  const at = async (depth: number) => (await page.run((op) => snapshot(op, { depth }))).text;
  expect(refs('iframe', await at(1))).toHaveLength(2);
  expect(await at(1)).not.toContain('Inner');
  expect(await at(2)).toContain('button "Inner"');
  expect(await at(2)).not.toContain('Deep');
  expect(refs('link "Deep"', await at(3))).toHaveLength(2);
});
