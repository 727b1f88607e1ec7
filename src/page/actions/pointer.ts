import type { Point } from '../hands/types.ts';
import type { Operation } from '../operation.ts';

export type MouseButton = 'left' | 'right' | 'middle' | 'back' | 'forward';

/** Bits of `MouseEvent.buttons` (UI Events). */
const BUTTON_BITS = { left: 1, right: 2, middle: 4, back: 8, forward: 16 } as const;

export function movePointer(
  op: Operation,
  { x, y }: Point,
  held?: MouseButton,
  modifiers = 0,
): Promise<unknown> {
  return op.main('Input.dispatchMouseEvent', {
    type: 'mouseMoved',
    x,
    y,
    modifiers,
    ...(held && { button: held, buttons: BUTTON_BITS[held] }),
  });
}

export function pressButton(
  op: Operation,
  { x, y }: Point,
  button: MouseButton,
  clickCount = 1,
  modifiers = 0,
): Promise<unknown> {
  const buttons = BUTTON_BITS[button];
  return op.main('Input.dispatchMouseEvent', {
    type: 'mousePressed',
    x,
    y,
    button,
    buttons,
    clickCount,
    modifiers,
  });
}

export function releaseButton(
  op: Operation,
  { x, y }: Point,
  button: MouseButton,
  clickCount = 1,
  modifiers = 0,
): Promise<unknown> {
  return op.main('Input.dispatchMouseEvent', {
    type: 'mouseReleased',
    x,
    y,
    button,
    buttons: 0,
    clickCount,
    modifiers,
  });
}

export function turnWheel(
  op: Operation,
  { x, y }: Point,
  deltaX: number,
  deltaY: number,
  modifiers: number,
): Promise<unknown> {
  return op.main('Input.dispatchMouseEvent', { type: 'mouseWheel', x, y, deltaX, deltaY, modifiers });
}

export interface ClickOrder {
  button?: MouseButton;
  count?: number;
  modifiers?: number;
  /** The last move of the pointer went to the same point. */
  pointerIsThere?: boolean;
}

/**
 * Moves to a point and clicks `count` times, all events sent at once: Chrome keeps their order, and the round trips
 * between them would only be time in which the page can move.
 */
export async function clickAt(
  op: Operation,
  point: Point,
  { button = 'left', count = 1, modifiers = 0, pointerIsThere = false }: ClickOrder = {},
): Promise<void> {
  const sent = pointerIsThere ? [] : [movePointer(op, point, undefined, modifiers)];
  for (let clickCount = 1; clickCount <= count; clickCount++) {
    sent.push(pressButton(op, point, button, clickCount, modifiers));
    sent.push(releaseButton(op, point, button, clickCount, modifiers));
  }
  await Promise.all(sent);
}
