import { createReadStream } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../errors.ts';
import { SnapshotParser } from './parser.ts';
import { statistics } from './statistics.ts';

/** A thread of its own: a snapshot takes seconds to read, and the service answers others meanwhile. */
async function main(): Promise<void> {
  const file: unknown = workerData;
  if (typeof file !== 'string' || !parentPort) throw new Error('started without a file');
  const parser = new SnapshotParser();
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) parser.push(chunk);
  parentPort.postMessage({ statistics: statistics(parser.finish()) });
}

main().catch((error: unknown) => parentPort?.postMessage({ fault: messageOf(error) }));
