import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import { heapSummary } from '../../../src/page/heap/summary.ts';
import { takeHeapSnapshot } from '../../../src/page/heap/take.ts';
import { heapUsage } from '../../../src/page/heap/usage.ts';
import { navigate } from '../../../src/page/navigate.ts';
import { PageHarness, PageServer } from '../../support/page-harness.ts';
import { problemOf } from '../../support/problem-of.ts';

const server = await PageServer.open({
  '/': `<title>T</title><script>
    kept = Array.from({ length: 7 }, () => document.createElement('section'));
    buffer = new Float64Array(100000);
    list = Array.from({ length: 5000 }, (_, i) => ({ i }));
  </script>`,
});
const chrome = await PageHarness.open();
afterAll(async () => {
  await chrome[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
const SLOW = { timeoutMs: 50_000 };
const snapshots = () => readdirSync(chrome.env.filesDir).filter((name) => name.endsWith('.heapsnapshot'));

interface Raw {
  snapshot: {
    node_count: number;
    edge_count: number;
    extra_native_bytes?: number;
    meta: { node_fields: string[]; node_types: [string[]] };
  };
  nodes: number[];
  strings: string[];
}

test('a snapshot is a private file that any JSON reader takes, and its figures are those of the file', async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/') }), SLOW);
  const taken = await chrome.run((op) => takeHeapSnapshot(op, {}), SLOW);
  const path = join(chrome.env.filesDir, `${taken.id}.heapsnapshot`);
  const { mode, size } = statSync(path);
  expect(mode & 0o777).toBe(0o600);
  const raw: Raw = JSON.parse(readFileSync(path, 'utf8'));
  expect(taken).toEqual({
    id: taken.id,
    tab: 't1',
    bytes: size,
    nodes: raw.snapshot.node_count,
    edges: raw.snapshot.edge_count,
  });

  const summary = await chrome.run((op) => heapSummary(op, taken.id), SLOW);
  const { node_fields: fields, node_types: types } = raw.snapshot.meta;
  let total = raw.snapshot.extra_native_bytes ?? 0;
  let strings = 0;
  for (let at = 0; at < raw.nodes.length; at += fields.length) {
    const selfSize = raw.nodes[at + fields.indexOf('self_size')] ?? 0;
    total += selfSize;
    if (types[0][raw.nodes[at] ?? 0]?.includes('string')) strings += selfSize;
  }
  expect(summary).toMatchObject({
    id: taken.id,
    bytes: size,
    nodes: taken.nodes,
    edges: taken.edges,
    totalSize: total,
  });
  expect(Object.values(summary.categories).reduce((sum, part) => sum + part)).toBe(total);
  expect(summary.categories.strings).toBe(strings);
  expect(summary.categories.typedArrays).toBeGreaterThanOrEqual(800_000);
  expect(summary.categories.arrays).toBeGreaterThanOrEqual(5000 * 4);
  expect(summary.detachedDom).toBe(7);
});

test('usage follows what the page holds', async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/') }), SLOW);
  const before = await chrome.run(heapUsage, SLOW);
  await chrome.run((op) =>
    evaluate(op, {
      expression:
        'more = new Uint8Array(5e6); for (let i = 0; i < 100; i++) document.body.append(document.createElement("p"))',
    }),
  );
  const after = await chrome.run(heapUsage, SLOW);
  expect(after.backingStorageSize - before.backingStorageSize).toBeGreaterThanOrEqual(5e6);
  expect(after.nodes - before.nodes).toBeGreaterThanOrEqual(100);
  expect(after.usedSize).toBeGreaterThan(0);
  expect(after.metrics['Nodes']).toBe(after.nodes);
});

test('a snapshot over the limit is refused and leaves no file, and the next one is whole', async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/') }), SLOW);
  const before = snapshots();
  const problem = await problemOf(chrome.run((op) => takeHeapSnapshot(op, {}, 100_000), SLOW));
  expect(problem.code).toBe('too_large');
  expect(snapshots()).toEqual(before);
  const next = await chrome.run((op) => takeHeapSnapshot(op, {}), SLOW);
  expect(
    JSON.parse(readFileSync(join(chrome.env.filesDir, `${next.id}.heapsnapshot`), 'utf8')),
  ).toHaveProperty('strings');
});

test('one that runs out of time leaves no file, and its rest does not end up in the next', async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/') }), SLOW);
  const before = snapshots();
  const { session } = chrome.tab;
  session
    .send('Runtime.evaluate', { expression: 'for (const t = Date.now(); Date.now() - t < 1500;);' })
    .catch(() => undefined);
  expect(
    (await problemOf(chrome.run((op) => takeHeapSnapshot(op, { gc: false }), { timeoutMs: 300 }))).code,
  ).toBe('timeout');
  expect(snapshots()).toEqual(before);
  const next = await chrome.run((op) => takeHeapSnapshot(op, {}), SLOW);
  expect((await chrome.run((op) => heapSummary(op, next.id), SLOW)).nodes).toBe(next.nodes);
});

test('only ids of snapshots name files', async () => {
  for (const id of ['../../etc/passwd', '', 'x', 'A'.repeat(22)]) {
    expect((await problemOf(chrome.run((op) => heapSummary(op, id)))).code).toBe('artifact_not_found');
  }
});
