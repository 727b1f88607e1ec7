import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { AirlockError } from '../../errors.ts';
import type { CdpSession, Protocol } from '../cdp.ts';
import type { Operation } from '../operation.ts';
import { ChunkFile } from './chunk-file.ts';

export const TakeHeapInput = Type.Object(
  { gc: Type.Optional(Type.Boolean({ description: 'Collects garbage first. Default true.' })) },
  { additionalProperties: false },
);
export type TakeHeapInput = Static<typeof TakeHeapInput>;

export const TakeHeapResult = Type.Object({
  id: Type.String(),
  tab: Type.String(),
  bytes: Type.Integer({ description: 'Of the file, which DevTools opens.' }),
  nodes: Type.Integer(),
  edges: Type.Integer(),
});
export type TakeHeapResult = Static<typeof TakeHeapResult>;

/** A page with a heap of 1 GiB gives a file of about 1.5 GiB. */
const DEFAULT_MAX_BYTES = 2 * 1024 ** 3;

/** Ids are ours and random: 22 characters of base64url. */
const ID = /^[A-Za-z0-9_-]{22}$/;

/**
 * Where a snapshot is kept.
 * @throws AirlockError `artifact_not_found` for what cannot be an id
 */
export function heapFile(filesDir: string, id: string): string {
  if (ID.test(id)) return join(filesDir, `${id}.heapsnapshot`);
  throw new AirlockError(
    'artifact_not_found',
    `There is no heap snapshot ${JSON.stringify(id.slice(0, 50))}`,
    { advice: 'heap' },
  );
}

/**
 * Takes a heap snapshot of the tab's renderer into a file of the session, while Chrome sends it. A file that is not
 * whole is removed.
 * @throws AirlockError `too_large` (over `maxBytes`), `disk_full`, `timeout`, `page_crashed`
 */
export async function takeHeapSnapshot(
  op: Operation,
  input: TakeHeapInput,
  maxBytes: number = DEFAULT_MAX_BYTES,
): Promise<TakeHeapResult> {
  const id = randomBytes(16).toString('base64url');
  op.check();
  if (input.gc !== false) await op.main('HeapProfiler.collectGarbage');
  const hold = () => op.env.holdInput?.() ?? (() => undefined);
  const file = await ChunkFile.create(heapFile(op.env.filesDir, id), hold);
  try {
    const counts = await stream(op, file, maxBytes);
    await file.close();
    return { id, tab: op.tab.id, bytes: file.bytes, ...counts };
  } catch (error) {
    await file.discard();
    throw diskError(error);
  }
}

/** Snapshots that Chrome still sends although nobody waits any more: their parts would end up in the next one. */
const unfinished = new WeakMap<CdpSession, Promise<unknown>>();

interface Counts {
  readonly nodes: number;
  readonly edges: number;
}

async function stream(op: Operation, file: ChunkFile, maxBytes: number): Promise<Counts> {
  const { session } = op.tab;
  await op.race(unfinished.get(session) ?? Promise.resolve());
  let head = '';
  const { promise: overflow, reject } = Promise.withResolvers<never>();
  overflow.catch(() => undefined);
  const onChunk = ({ chunk }: Protocol.HeapProfiler.AddHeapSnapshotChunkEvent) => {
    if (head.length < 8192) head += chunk.slice(0, 8192);
    if (file.bytes + chunk.length <= maxBytes) file.append(chunk);
    else reject(tooLarge(maxBytes));
  };
  session.on('HeapProfiler.addHeapSnapshotChunk', onChunk);
  try {
    op.check();
    const taken = session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false }, { timeout: 0 });
    unfinished.set(
      session,
      taken.catch(() => undefined),
    );
    await op.race(Promise.race([taken, overflow]));
  } finally {
    session.off('HeapProfiler.addHeapSnapshotChunk', onChunk);
  }
  return { nodes: countIn(head, 'node_count'), edges: countIn(head, 'edge_count') };
}

/** From the header: the first thousand bytes of the file. */
function countIn(head: string, name: string): number {
  return Number(new RegExp(`"${name}":(\\d+)`).exec(head)?.[1] ?? 0);
}

function tooLarge(maxBytes: number): AirlockError {
  return new AirlockError('too_large', `The heap snapshot is over the limit of ${maxBytes} bytes`, {
    extra: { maxBytes },
  });
}

function diskError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  return new AirlockError('disk_full', 'There is no room for the heap snapshot', { cause: error });
}
