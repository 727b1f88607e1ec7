import { type Static, Type } from 'typebox';
import { notInteractable } from '../hindrance.ts';
import { parseChord, pressChord } from '../keyboard.ts';
import type { Operation } from '../operation.ts';
import { Target } from '../target.ts';
import { tell } from '../target-errors.ts';
import { callHands } from './call-hands.ts';
import { type ActionResult, flushTasks, withEffects } from './effects.ts';
import { aimField } from './field.ts';

export const PressInput = Type.Object(
  {
    key: Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'A key or a chord: Enter, a, Control+Shift+A, ControlOrMeta+K',
    }),
    target: Type.Optional(Target),
    count: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'Presses in a row; default 1' }),
    ),
  },
  { additionalProperties: false },
);
export type PressInput = Static<typeof PressInput>;

/**
 * Presses a key or a chord on a target (without one: on what has the focus).
 * @throws AirlockError `invalid_request` for a key that does not exist, with near names; those of `aimTarget`
 */
export async function press(op: Operation, input: PressInput): Promise<ActionResult> {
  const chord = parseChord(input.key);
  return withEffects<object>(op, async (effects) => {
    if (input.target !== undefined) await focusOn(op, input.target);
    effects.begin();
    for (let presses = 0; presses < (input.count ?? 1); presses++) await pressChord(op, chord);
    await flushTasks(op, effects);
    return {};
  });
}

/** @throws AirlockError `not_interactable` for what does not take the focus */
export async function focusOn(op: Operation, target: Target): Promise<void> {
  const ready = await aimField(op, target, false);
  if (await callHands(op, ready.frame, 'focus', ready.number)) return;
  const element = tell(ready.frame, ready.aimed.described);
  throw notInteractable('unfocusable', `${element.line} does not take the focus`, { element });
}
