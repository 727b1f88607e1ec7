import type { GuardReport } from '../hands/types.ts';
import { notInteractable } from '../hindrance.ts';
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
 * Makes sure that a press that follows gets to the element, and to nothing else. For the main frame the aim has seen to
 * that. The browser routes input into an out-of-process frame by the geometry that was drawn; right after scrolling or
 * loading, that is not yet the geometry that the documents have (measured: a click in the same frame as a scroll goes
 * to the wrong place).
 * @throws AirlockError `not_interactable`
 */
export async function readyToPress(op: Operation, ready: Ready): Promise<void> {
  if (ready.frame.parentId === undefined) return;
  await landPointer(op, ready);
  await callHands(op, ready.frame, 'guard', ready.number);
}

/**
 * Moves the pointer onto an element of an out-of-process frame, and waits until it has come there.
 * @throws AirlockError `not_interactable`
 */
export async function landPointer(op: Operation, ready: Ready): Promise<void> {
  if (ready.frame.session === op.tab.session) return;
  const { x, y } = ready.point;
  for (let tries = 0; tries < LANDINGS; tries++) {
    // A pointer that stays where it was is no news to a page.
    await movePointer(op, { x: x + 1, y });
    await movePointer(op, { x, y });
    if (await callHands(op, ready.frame, 'landed')) return;
    await op.pause(FRAME_MS);
  }
  const element = tell(ready.frame, ready.aimed.described);
  const detail = `The pointer does not get to ${element.line} in ${ready.frame.url}`;
  throw notInteractable('unreachable', detail, { element });
}

/** What became of the input; `left` when its document is gone, which the input may well have caused. */
export function arrival(op: Operation, ready: Ready, effects: Effects): Promise<GuardReport | 'left'> {
  return effects.orLeft(ready.frame, callHands(op, ready.frame, 'report'));
}
