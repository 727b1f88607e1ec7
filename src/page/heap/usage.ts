import Type, { type Static } from 'typebox';
import type { Operation } from '../operation.ts';

export const HeapUsageInput = Type.Object({}, { additionalProperties: false });
export const HeapUsage = Type.Object({
  tab: Type.String(),
  usedSize: Type.Number({ description: 'Bytes of the JavaScript heap in use.' }),
  totalSize: Type.Number({ description: 'Bytes that the JavaScript heap has reserved.' }),
  embedderHeapUsedSize: Type.Number({ description: 'Bytes of the heap of DOM and other browser objects.' }),
  backingStorageSize: Type.Number({ description: 'Bytes of array buffers and external strings.' }),
  documents: Type.Integer(),
  nodes: Type.Integer(),
  jsEventListeners: Type.Integer(),
  metrics: Type.Record(Type.String(), Type.Number(), {
    description: "Chrome's Performance.getMetrics; durations in seconds, timestamps on its monotonic clock.",
  }),
});
export type HeapUsage = Static<typeof HeapUsage>;

/** How much memory the page of the tab uses now; cheap enough for polling. */
export async function heapUsage(op: Operation): Promise<HeapUsage> {
  // Only then: metrics that are asked for in the same burst may come empty.
  await op.main('Performance.enable', { timeDomain: 'timeTicks' });
  const [heap, counters, { metrics }] = await Promise.all([
    op.main('Runtime.getHeapUsage'),
    op.main('Memory.getDOMCounters'),
    op.main('Performance.getMetrics'),
  ]);
  return {
    tab: op.tab.id,
    usedSize: heap.usedSize,
    totalSize: heap.totalSize,
    embedderHeapUsedSize: heap.embedderHeapUsedSize,
    backingStorageSize: heap.backingStorageSize,
    documents: counters.documents,
    nodes: counters.nodes,
    jsEventListeners: counters.jsEventListeners,
    metrics: Object.fromEntries(metrics.map(({ name, value }) => [name, value])),
  };
}
