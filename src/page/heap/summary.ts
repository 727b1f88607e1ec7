import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import Type, { type Static } from 'typebox';
import { AirlockError } from '../../errors.ts';
import type { Operation } from '../operation.ts';
import type { HeapStatistics } from './statistics.ts';
import { heapFile } from './take.ts';

const Bytes = Type.Integer({ description: 'Bytes.' });

export const HeapSummary = Type.Object({
  id: Type.String(),
  bytes: Type.Integer({ description: 'Of the file.' }),
  nodes: Type.Integer(),
  edges: Type.Integer(),
  totalSize: Type.Integer({ description: 'Bytes of everything in the heap.' }),
  categories: Type.Object({
    code: Bytes,
    strings: Bytes,
    arrays: Bytes,
    typedArrays: Bytes,
    system: Bytes,
    dom: Type.Integer({ description: 'Bytes of DOM, styles, layout: all that is not JavaScript.' }),
    other: Bytes,
  }),
  detachedDom: Type.Integer({ description: 'DOM nodes that are in no document and still held.' }),
});
export type HeapSummary = Static<typeof HeapSummary>;

/** From source the thread runs TypeScript too; from `dist` it is the built file. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);

/** Bytes of JavaScript objects in the thread; nodes and strings are in typed arrays outside of that. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 512 };

/**
 * What a heap snapshot holds, in figures. Read in a thread of its own, which ends with the operation.
 * @throws AirlockError `artifact_not_found`, `internal` when the file is not whole, `timeout`
 */
export async function heapSummary(op: Operation, id: string): Promise<HeapSummary> {
  const file = heapFile(op.env.filesDir, id);
  const { size } = await stat(file).catch(() => {
    throw new AirlockError('artifact_not_found', `There is no heap snapshot ${JSON.stringify(id)}`, {
      advice: 'heap',
    });
  });
  const found = await readStatistics(op, file);
  return { id, bytes: size, ...found };
}

async function readStatistics(op: Operation, file: string): Promise<HeapStatistics> {
  const worker = new Worker(WORKER, { workerData: file, resourceLimits: RESOURCE_LIMITS });
  try {
    // A worker that dies of its limits emits `error`, which `once` turns into a rejection.
    const [answer]: unknown[] = await op.raceThroughDialogs(once(worker, 'message'));
    if (isAnswer(answer)) return answer.statistics;
    throw new Error(isFault(answer) ? answer.fault : 'no answer from the thread');
  } catch (error) {
    if (error instanceof AirlockError) throw error;
    throw new AirlockError('internal', 'The heap snapshot cannot be read', { cause: error });
  } finally {
    await worker.terminate();
  }
}

/** The thread runs our own code: its answer needs no more than a glance. */
function isAnswer(message: unknown): message is { statistics: HeapStatistics } {
  return typeof message === 'object' && message !== null && 'statistics' in message;
}

function isFault(message: unknown): message is { fault: string } {
  return (
    typeof message === 'object' && message !== null && 'fault' in message && typeof message.fault === 'string'
  );
}
