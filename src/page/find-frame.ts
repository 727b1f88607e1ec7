import { AirlockError } from '../errors.ts';
import type { Frame } from './frames.ts';
import type { Operation } from './operation.ts';

/** A frame as told to a caller: in errors and by GET frames. */
export interface FrameTold {
  readonly id: string;
  readonly name: string;
  readonly url: string;
}

/** @returns `main`, or the `f1` that the refs of the frame begin with */
export function frameLabel(frame: Frame): string {
  return frame.ordinal === 0 ? 'main' : `f${frame.ordinal}`;
}

export function tellFrame(frame: Frame): FrameTold {
  return { id: frameLabel(frame), name: frame.name, url: frame.url };
}

/**
 * The frame that a caller names by `main`, by the prefix of its refs (`f1`), by name, or by URL: the whole URL, else a
 * part of it that only one frame within the page has. (By the ref of an iframe: see resolve-target.ts.)
 * @throws AirlockError `frame_not_found`, with the frames that there are; `ambiguous_target`, with those that fit
 */
export function findFrame(op: Operation, wanted: string): Frame {
  const frames = op.tab.frames.list();
  const byLabel = frames.find((frame) => frameLabel(frame) === wanted);
  if (byLabel) return byLabel;
  for (const fits of [
    (frame: Frame) => frame.name === wanted,
    (frame: Frame) => frame.url === wanted,
    // Not the main one: what is meant as the name of a frame that has not told its name yet may be a part of its URL.
    (frame: Frame) => frame.ordinal !== 0 && frame.url.includes(wanted),
  ]) {
    const fitting = frames.filter(fits);
    if (fitting.length > 1) throw ambiguous(wanted, fitting);
    if (fitting[0]) return fitting[0];
  }
  throw notFound(op, `There is no frame ${JSON.stringify(wanted)}`);
}

function ambiguous(wanted: string, fitting: readonly Frame[]): AirlockError {
  const detail = `${fitting.length} frames fit ${JSON.stringify(wanted)}: ${fitting.map(frameLabel).join(', ')}; name one by its id`;
  return new AirlockError('ambiguous_target', detail, {
    extra: { count: fitting.length, frames: fitting.map(tellFrame) },
  });
}

function notFound(op: Operation, detail: string): AirlockError {
  return new AirlockError('frame_not_found', detail, {
    extra: { frames: op.tab.frames.list().map(tellFrame) },
  });
}
