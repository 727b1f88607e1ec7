import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import type { ToggleState } from '../hands/types.ts';
import { type Hindrance, notInteractable } from '../hindrance.ts';
import type { Operation } from '../operation.ts';
import { Target } from '../target.ts';
import { tell } from '../target-errors.ts';
import { aimTarget, type Ready } from './aim-target.ts';
import { callHands } from './call-hands.ts';
import { type ActionResult, type Effects, withEffects } from './effects.ts';
import { readyToPress } from './landing.ts';
import { clickAt } from './pointer.ts';

export const CheckInput = Type.Object({ target: Target }, { additionalProperties: false });
export type CheckInput = Static<typeof CheckInput>;

/**
 * Makes a checkbox, radio, switch or toggle button checked, by a click if it is not yet.
 * @throws AirlockError those of `aimTarget`; `not_interactable` for what cannot be checked; `not_verified`
 */
export function check(op: Operation, input: CheckInput): Promise<ActionResult> {
  return withEffects<object>(op, (effects) => setChecked(op, input.target, true, effects));
}

/** As `check`, for unchecked. A radio is unchecked by choosing another one: `not_interactable`. */
export function uncheck(op: Operation, input: CheckInput): Promise<ActionResult> {
  return withEffects<object>(op, (effects) => setChecked(op, input.target, false, effects));
}

/** `check` within an action that has begun. Already as wanted: nothing is sent, no event is fired. */
export async function setChecked(
  op: Operation,
  target: Target,
  checked: boolean,
  effects: Effects,
): Promise<object> {
  const options = { enabled: true, editable: false, hit: true, control: true, guard: true };
  const ready = await aimTarget(op, target, options);
  const wanted = checked ? 'true' : 'false';
  const { state, radio } = await callHands(op, ready.frame, 'toggle', ready.number);
  if (state === 'none') throw unusable(ready, 'not-checkable', 'is neither checked nor unchecked');
  if (state === wanted) return {};
  if (radio && !checked)
    throw unusable(ready, 'radio', 'is a radio: choose another one of its group instead');
  let now = await clickOnce(op, ready, wanted, effects);
  // What stands between checked and unchecked may become either first.
  if (now && state === 'mixed' && now.state !== wanted) {
    now = await clickOnce(op, await aimTarget(op, ready.ref, options), wanted, effects);
  }
  if (!now || now.state === wanted) return {};
  const element = tell(ready.frame, ready.aimed.described);
  const detail = `${element.line} was clicked and is ${now.state === 'true' ? 'still' : 'not'} checked`;
  throw new AirlockError('not_verified', detail, { extra: { element, expected: wanted, actual: now.state } });
}

/** @returns the state after the click, or `undefined` when the document is gone */
async function clickOnce(
  op: Operation,
  ready: Ready,
  wanted: ToggleState['state'],
  effects: Effects,
): Promise<ToggleState | undefined> {
  await readyToPress(op, ready);
  effects.begin();
  await clickAt(op, ready.point);
  const now = await effects.orLeft(ready.frame, callHands(op, ready.frame, 'toggled', ready.number, wanted));
  return now === 'left' ? undefined : now;
}

function unusable(ready: Ready, state: Hindrance, how: string): AirlockError {
  const element = tell(ready.frame, ready.aimed.described);
  return notInteractable(state, `${element.line} ${how}`, { element });
}
