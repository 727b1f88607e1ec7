import { AirlockError } from '../errors.ts';
import type { Frame } from './frames.ts';
import type { Operation } from './operation.ts';

/**
 * The frame with a name as GET frames and refs give it: `f1`, `f2`, …; the main frame where none is given.
 * @throws AirlockError `frame_not_found`, with those that there are
 */
export function frameOf(op: Operation, name: string | undefined): Frame {
  const { frames } = op.tab;
  if (name === undefined) return frames.main;
  const ordinal = /^f(\d{1,6})$/.exec(name)?.[1];
  const frame = ordinal === undefined ? undefined : frames.byOrdinal(Number(ordinal));
  if (frame) return frame;
  const known = frames.list().map(({ ordinal, url }) => ({ frame: `f${ordinal}`, url }));
  throw new AirlockError('frame_not_found', `There is no frame ${JSON.stringify(name)} in tab ${op.tab.id}`, {
    extra: { frames: known },
  });
}
