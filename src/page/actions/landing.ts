import { AirlockError } from '../../errors.ts';
import type { GuardReport } from '../hands/types.ts';
import type { Operation } from '../operation.ts';
import { tell } from '../target-errors.ts';
import type { Ready } from './aim-target.ts';
import { callHands } from './call-hands.ts';
import type { Effects } from './effects.ts';
import { movePointer } from './pointer.ts';

/** Tries, about a frame apart, until the browser's own hit test knows where an out-of-process frame is. */
const LANDINGS = 30;
const FRAME_MS = 16;

/**
 * Makes sure that the pointer gets to an element of an out-of-process frame. The browser routes input by the geometry
 * of frames that were drawn; right after scrolling or loading, that is not yet the geometry that the documents have
 * (measured: a click in the same frame as a scroll goes to the wrong place).
 * @throws AirlockError `not_interactable`
 */
export async function landPointer(op: Operation, ready: Ready): Promise<void> {
  if (ready.frame.session === op.tab.session) return;
  for (let tries = 0; tries < LANDINGS; tries++) {
    await movePointer(op, ready.point);
    if (await callHands(op, ready.frame, 'hovered', ready.number)) return;
    await op.pause(FRAME_MS);
  }
  const element = tell(ready.frame, ready.aimed.described);
  throw new AirlockError(
    'not_interactable',
    `The pointer does not get to ${element.line} in ${ready.frame.url}`,
    {
      extra: { element, state: 'unreachable' },
    },
  );
}

/** What became of the input; `left` when its document is gone, which the input may well have caused. */
export function arrival(op: Operation, ready: Ready, effects: Effects): Promise<GuardReport | 'left'> {
  return effects.orLeft(ready.frame, callHands(op, ready.frame, 'report'));
}
