import { expect, test } from 'vitest';
import { click } from '../../../src/page/actions/click.ts';
import { snapshot } from '../../../src/page/snapshot/snapshot.ts';
import { evaluateValue, isolatedWorld } from '../../../src/page/world.ts';
import { ActionPage, problem } from '../../support/action-page.ts';
import { eventually } from '../../support/processes.ts';

// A snapshot takes note of where things are; an action on what has not moved since need not wait for a frame.
const page = new ActionPage({
  '/': `<style>.far{margin-left:300px;transition:margin-left .4s linear}</style>
    <button id=b onclick="h.push(this.getAnimations().length)">press</button><script>h=[]
    function roam() { let x = 0; const step = () => { x = (x + 7) % 300; b.style.marginLeft = x + 'px'; requestAnimationFrame(step) }; step() }</script>`,
});
const target = { text: 'press' };

/** Milliseconds for which the button is known to be where it is, as the code in the page has it. */
const restedFor = () =>
  page.run(async (op) => {
    const world = await isolatedWorld(op, op.tab.frames.main);
    return Number(await evaluateValue(op, world, 'airlock.restedFor(document.querySelector("#b"))'));
  });

async function seen(): Promise<void> {
  await page.goto();
  await page.run((op) => snapshot(op, {}));
  await eventually(restedFor, (ms) => ms > 100);
}

test('what a snapshot showed is known to be at rest, until it moves', async () => {
  await seen();
  await page.run((op) => click(op, { target }));
  expect(await page.eval('h')).toEqual([0]);
  expect(await restedFor()).toBeGreaterThan(100);
  await page.eval('b.style.marginLeft = "1px"');
  expect(await restedFor()).toBe(0);
});

test('it is not used while a script moves it', async () => {
  await seen();
  await page.eval('roam()');
  const error = await problem(
    page.run((op) => click(op, { target }), { timeoutMs: 2000 }),
    'not_interactable',
  );
  expect([error.extra['state'], await page.eval('h')]).toEqual(['moving', []]);
});

test('nor where a transition has just begun, and has not moved it yet', async () => {
  await seen();
  await page.eval('b.className = "far"');
  await page.run((op) => click(op, { target }));
  expect(await page.eval('h')).toEqual([0]);
});

test('nodes of a snapshot are not kept alive', async () => {
  await seen();
  await page.eval('(globalThis.weak = new WeakRef(b), b.remove(), 0)');
  const gone = async () => {
    await page.run((op) => op.main('HeapProfiler.collectGarbage'));
    return page.eval('weak.deref() === undefined');
  };
  await eventually(gone, (value) => value === true);
});
