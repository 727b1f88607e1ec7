import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../errors.ts';
import { type Job, run } from './jobs.ts';

try {
  // Started by thread.ts alone, with a job of this type.
  parentPort?.postMessage({ value: run(workerData as Job) });
} catch (error) {
  const depth = error instanceof RangeError;
  parentPort?.postMessage({ fault: { message: messageOf(error), depth } });
}
