import { type Static, Type } from 'typebox';
import type { Operation } from '../operation.ts';
import { Target } from '../target.ts';
import { type ActionResult, flushTasks, withEffects } from './effects.ts';
import { focusOn } from './press.ts';

export const FocusInput = Type.Object({ target: Target }, { additionalProperties: false });
export type FocusInput = Static<typeof FocusInput>;

/**
 * Gives an element the focus.
 * @throws AirlockError those of `aimTarget`; `not_interactable` for what does not take it
 */
export function focus(op: Operation, { target }: FocusInput): Promise<ActionResult> {
  return withEffects<object>(op, async (effects) => {
    effects.begin();
    await focusOn(op, target);
    await flushTasks(op, effects);
    return {};
  });
}
