import { type Static, Type } from 'typebox';
import type { Operation } from '../operation.ts';
import { Target } from '../target.ts';
import { callHands } from './call-hands.ts';
import { type ActionResult, withEffects } from './effects.ts';
import { aimField } from './field.ts';
import { fillField } from './fill.ts';

export const ClearInput = Type.Object({ target: Target }, { additionalProperties: false });
export type ClearInput = Static<typeof ClearInput>;

/**
 * Empties a field: text, contenteditable, date; takes the choice from a list of several and the tick from a checkbox.
 * @throws AirlockError those of `fill`; `invalid_request` for what cannot be empty (a colour, a range, a radio)
 */
export function clear(op: Operation, { target }: ClearInput): Promise<ActionResult> {
  return withEffects<object>(op, async (effects) => {
    const ready = await aimField(op, target, true);
    const { kind } = await callHands(op, ready.frame, 'field', ready.number);
    const empty = kind === 'checkbox' ? false : kind === 'select' ? [] : '';
    await fillField(op, { target: ready.ref, value: empty }, effects);
    return {};
  });
}
