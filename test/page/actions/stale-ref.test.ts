import { expect, test } from 'vitest';
import { click } from '../../../src/page/actions/click.ts';
import { fill } from '../../../src/page/actions/fill.ts';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import type { Operation } from '../../../src/page/operation.ts';
import { resolveTarget } from '../../../src/page/resolve-target.ts';
import { screenshot } from '../../../src/page/screenshot.ts';
import { snapshot } from '../../../src/page/snapshot/snapshot.ts';
import { wait } from '../../../src/page/wait.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': `<div id=h></div><script>log=[];r=a=>{h.innerHTML=a.map(t=>'<button onclick="log.push(this.textContent)">'+t+'</button>').join('')};r(['Mine','Other'])</script>`,
  '/one': `<a href="/two">Go</a><a href="#here">Hash</a><button onclick="fetch('/log',{method:'POST'})">Delete</button>`,
  '/two': `<button onclick="fetch('/log',{method:'POST'})">Delete</button>`,
  '/field': `<div id=h><label>City <input></label></div>`,
  '/log': (_, response) => void response.end(),
  '/wait': `<div id=h><button id=b disabled>Save</button></div><script>log=[]</script>`,
});
const refOf = (name: string) =>
  page.run(async (op) => (await resolveTarget(op, { role: 'button', name, exact: true })).ref);
const posts = () => page.server.requests.filter((request) => request === 'POST /log').length;

test('a node that was replaced is stale, with what has its role and name now; nothing is clicked', async () => {
  await page.goto();
  const ref = await refOf('Mine');
  await page.eval("r(['More','Mine','Other'])");
  const error = await problem(
    page.run((op) => click(op, { target: ref })),
    'stale_ref',
  );
  expect(error.extra).toMatchObject({ ref, reason: 'node_removed', now: { role: 'button', name: 'Mine' } });
  expect(await page.eval('log')).toEqual([]);
  const { now } = error.extra as { now: { ref: string } };
  expect(now.ref).not.toBe(ref);
  await page.run((op) => click(op, { target: now.ref }));
  expect(await page.eval('log')).toEqual(['Mine']);
});

test('a field that goes with its label is told by the name that it had', async () => {
  await page.goto('/field');
  const { text } = await page.run((op) => snapshot(op, {}));
  const ref = /\[ref=(\w+)\]/.exec(text)?.[1] ?? '';
  await page.eval('h.innerHTML = "<label>City <input></label>"');
  const error = await problem(
    page.run((op) => fill(op, { target: ref, value: 'Lisbon' })),
    'stale_ref',
  );
  expect(error.message).toContain('textbox "City"');
  expect(error.extra['now']).toMatchObject({ role: 'textbox', name: 'City' });
});

test('the same node keeps its ref, wherever it is moved', async () => {
  await page.goto();
  const ref = await refOf('Other');
  await page.eval('document.body.append(h.lastChild)');
  expect(await refOf('Other')).toBe(ref);
  await page.run((op) => click(op, { target: ref }));
  expect(await page.eval('log')).toEqual(['Other']);
});

test('a ref of a document that a click left is stale, and the like on the new page is not touched', async () => {
  await page.goto('/one');
  const ref = await refOf('Delete');
  const went = await page.run((op) => click(op, { target: { text: 'Go' } }));
  expect(went).toMatchObject({ navigated: true, url: page.server.url('/two') });
  const error = await problem(
    page.run((op) => click(op, { target: ref })),
    'stale_ref',
  );
  expect(error.extra['reason']).toBe('document_replaced');
  expect(posts()).toBe(0);
});

test('after a reload and after going back a ref is stale; after a hash change it is not', async () => {
  await page.goto('/one');
  const ref = await refOf('Delete');
  const hash = await page.run((op) => click(op, { target: { text: 'Hash' } }));
  expect(hash).toMatchObject({ navigated: true, url: page.server.url('/one#here') });
  await page.run((op) => click(op, { target: ref }));
  await expect.poll(posts).toBe(1);
  await page.goto('/one?again');
  await problem(
    page.run((op) => click(op, { target: ref })),
    'stale_ref',
  );
  await page.eval('void setTimeout(() => history.back())');
  await expect.poll(() => page.tab.url).toBe(page.server.url('/one#here'));
  await problem(
    page.run((op) => click(op, { target: ref })),
    'stale_ref',
  );
  expect(posts()).toBe(1);
});

test('what a snapshot told of a ref helps after its document is gone', async () => {
  await page.goto('/one');
  const ref = await refOf('Delete');
  await page.run((op) => snapshot(op, {}));
  await page.goto('/two');
  const error = await problem(
    page.run((op) => click(op, { target: ref })),
    'stale_ref',
  );
  expect(error.extra).toMatchObject({ reason: 'document_replaced', now: { role: 'button', name: 'Delete' } });
});

test('a ref that was never given is not found', async () => {
  await page.goto();
  await problem(
    page.run((op) => click(op, { target: 'e99999' })),
    'target_not_found',
  );
  const ref = await refOf('Mine');
  await problem(
    page.run((op) => fill(op, { target: ref.replace('e', 'f7e'), value: 'x' })),
    'target_not_found',
  );
});

test('a node that the page replaces while it is waited for: a selector finds the new one, a ref is stale', async () => {
  const renew = `setTimeout(() => { h.innerHTML = '<button id=b onclick="log.push(1)">Save</button>' }, 300)`;
  await page.goto('/wait');
  await page.eval(renew);
  await page.run((op) => click(op, { target: '#b' }));
  expect(await page.eval('log')).toEqual([1]);
  await page.goto('/wait');
  const ref = await refOf('Save');
  await page.eval(renew);
  await problem(
    page.run((op) => click(op, { target: ref })),
    'stale_ref',
  );
  expect(await page.eval('log')).toEqual([]);
});

test('wherever a ref is used, one that was never given is not found, and one that is gone says how', async () => {
  await page.goto();
  const uses: ((ref: string) => (op: Operation) => Promise<unknown>)[] = [
    (ref) => (op) => click(op, { target: ref }),
    (ref) => (op) => snapshot(op, { ref }),
    (ref) => (op) => screenshot(op, { ref }),
    (ref) => (op) => evaluate(op, { function: '(el) => el', args: [{ ref }] }),
    (ref) => (op) => wait(op, { target: ref }),
  ];
  const removed = await refOf('Mine');
  await page.eval("r(['Other'])");
  const replaced = await refOf('Other');
  for (const use of uses) {
    const never = await problem(page.run(use('e99999')), 'target_not_found');
    expect(never.status).toBe(404);
    const error = await problem(page.run(use(removed)), 'stale_ref');
    expect(error.extra).toMatchObject({ ref: removed, reason: 'node_removed' });
  }
  await page.goto('/one');
  for (const use of uses) {
    const error = await problem(page.run(use(replaced)), 'stale_ref');
    expect(error.extra).toMatchObject({ ref: replaced, reason: 'document_replaced' });
  }
});
