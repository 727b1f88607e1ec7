import { Type } from 'typebox';
import { HeapSummary, heapSummary } from '../page/heap/summary.ts';
import { TakeHeapInput, TakeHeapResult, takeHeapSnapshot } from '../page/heap/take.ts';
import { HeapUsage, heapUsage } from '../page/heap/usage.ts';
import { defineOperation } from './define.ts';

const tag = 'heap';
/** A heap of a gigabyte takes a while to walk and to write. */
const HEAP_TIMEOUT_MS = 120_000;

const usage = defineOperation({
  name: 'heap.usage',
  method: 'GET',
  path: '/v1/sessions/{id}/heap/usage',
  summary: 'Live figures of the JavaScript heap and the DOM; cheap, for polling',
  tag,
  scope: 'page',
  input: Type.Object({}),
  result: HeapUsage,
  run: ({ op }) => heapUsage(op),
});

const take = defineOperation({
  name: 'heap.snapshot',
  method: 'POST',
  path: '/v1/sessions/{id}/heap/snapshots',
  summary: 'Take a heap snapshot into a file of the session, which DevTools opens',
  tag,
  scope: 'page',
  input: TakeHeapInput,
  result: TakeHeapResult,
  status: 201,
  timeoutMs: HEAP_TIMEOUT_MS,
  errors: ['too_large', 'disk_full'],
  run: ({ op }, input) => takeHeapSnapshot(op, input),
});

const summary = defineOperation({
  name: 'heap.summary',
  method: 'GET',
  path: '/v1/sessions/{id}/heap/snapshots/{snapshot}',
  summary: 'What a heap snapshot holds: nodes, edges, bytes by category, detached DOM nodes',
  tag,
  scope: 'page',
  input: Type.Object({ snapshot: Type.String() }),
  result: HeapSummary,
  timeoutMs: HEAP_TIMEOUT_MS,
  errors: ['artifact_not_found'],
  run: ({ op }, input) => heapSummary(op, input.snapshot),
});

export const heapOperations = [usage, take, summary];
