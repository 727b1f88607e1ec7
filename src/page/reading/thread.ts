import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { AirlockError } from '../../errors.ts';
import type { Operation } from '../operation.ts';
import type { Job, JobAnswer } from './jobs.ts';

/** From source the thread runs TypeScript too; from `dist` it is the built file. */
const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? './thread-worker.ts' : './thread-worker.js',
  import.meta.url,
);

/** Enough for the longest content that is read, as nodes; the stack is for pages that nest deep. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 1024, stackSizeMb: 16 };

/**
 * Runs a job on content of a page in a thread of its own, which ends with the operation: what a page makes slow, or larger
 * than memory, holds up nobody else.
 * @throws AirlockError `too_large` when the thread runs out of memory or stack, what `Operation.race` throws
 * @throws Error what the job threw
 */
export async function inThread<J extends Job>(op: Operation, job: J): Promise<JobAnswer<J>> {
  const worker = new Worker(WORKER, { workerData: job, resourceLimits: RESOURCE_LIMITS, stdout: true });
  try {
    // A worker that dies of its limits emits `error`, which `once` turns into a rejection.
    const [answer]: unknown[] = await op.raceThroughDialogs(once(worker, 'message'));
    const { value, fault } = answer as { value?: JobAnswer<J>; fault?: { message: string; depth: boolean } };
    if (value !== undefined) return value;
    if (fault?.depth === true) throw tooLarge(fault.message);
    throw new Error(fault?.message ?? 'no answer from the thread');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
      throw tooLarge(error.message);
    throw error;
  } finally {
    await worker.terminate();
  }
}

function tooLarge(why: string): AirlockError {
  const detail = `The page is too large to be read in this form: ${why}. Read a part of it by selector or ref`;
  return new AirlockError('too_large', detail);
}
