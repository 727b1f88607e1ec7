import { AirlockError } from '../../errors.ts';
import type { Frame } from '../frames.ts';
import type { Operation } from '../operation.ts';
import { claimRefs } from '../resolve-target.ts';
import { LOST_FRAME, refOfOwner } from '../snapshot/take.ts';
import { staleError } from '../target-errors.ts';
import { callReader } from './call-reader.ts';
import type { ReadAnswer, ReadingKind } from './injected/types.ts';
import { findPlace, type Place, type Placed } from './place.ts';
import type { Source } from './store.ts';

/** Characters that are read of one page. More than that is answered by nothing but an error, so that it is not cut unsaid. */
export const MOST_CHARS = 32_000_000;

export interface Reading extends Source {
  readonly content: string;
}

/**
 * Reads a page, a frame or an element, with the frames inside (which only `html` leaves as elements).
 * @param hints print what Readability goes by
 * @throws AirlockError those of `findPlace`; `too_large`, `frame_not_found`
 */
export async function read(op: Operation, input: Placed, kind: ReadingKind, hints = false): Promise<Reading> {
  const place = await findPlace(op, input);
  const run = { op, kind, hints, left: MOST_CHARS };
  const answer = await readPlace(run, place);
  const content = (await join(run, place.frame, answer)).toWellFormed();
  return { url: answer.url, title: answer.title.toWellFormed(), content };
}

interface Run {
  readonly op: Operation;
  readonly kind: ReadingKind;
  readonly hints: boolean;
  left: number;
}

async function readPlace(run: Run, { frame, number }: Place): Promise<ReadAnswer> {
  const { op, kind, hints, left } = run;
  const order = { kind, ref: number, nextRef: op.env.refs.next, limit: left, hints };
  const answer = await callReader(op, frame, 'read', order);
  if (answer === null) throw staleError(`e${number}`, 'node_removed', undefined);
  claimRefs(op, frame, answer.nextRef);
  if (answer.over) throw tooLarge();
  for (const piece of answer.pieces) if (typeof piece === 'string') run.left -= piece.length;
  return answer;
}

/** Everything that is read at once is bounded, or it would fill the memory of the service. */
export function tooLarge(): AirlockError {
  return new AirlockError(
    'too_large',
    `There are more than ${MOST_CHARS} characters; read a part of the page by selector or ref`,
  );
}

/** Puts the frames in their places. One that went away, crashed, or is between two documents, leaves its place empty. */
async function join(run: Run, frame: Frame, { pieces }: ReadAnswer): Promise<string> {
  if (pieces.length === 1) return String(pieces[0]);
  const inner = await framesByRef(run.op, frame);
  const out: string[] = [];
  for (const piece of pieces) {
    if (typeof piece === 'string') out.push(piece);
    else out.push(await readInner(run, inner.get(piece)));
  }
  return out.join('');
}

async function readInner(run: Run, frame: Frame | undefined): Promise<string> {
  if (frame === undefined) return '';
  try {
    const content = await join(run, frame, await readPlace(run, { frame, number: 0 }));
    return run.kind === 'clean' ? `<div>${content}</div>` : content.trim();
  } catch (error) {
    run.op.check();
    if (error instanceof AirlockError && LOST_FRAME.has(error.code)) return '';
    throw error;
  }
}

async function framesByRef(op: Operation, frame: Frame): Promise<Map<number, Frame>> {
  const found = new Map<number, Frame>();
  for (const child of op.tab.frames.children(frame.id)) {
    try {
      const ref = await refOfOwner(op, frame, child);
      if (ref !== undefined) found.set(ref, child);
    } catch {
      // It went away meanwhile; what ends the operation is thrown on.
      op.check();
    }
  }
  return found;
}
