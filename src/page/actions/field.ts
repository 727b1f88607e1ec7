import { AirlockError } from '../../errors.ts';
import type { FieldState } from '../hands/types.ts';
import { notInteractable } from '../hindrance.ts';
import type { Operation } from '../operation.ts';
import { formatRef } from '../refs.ts';
import { claimRefs, handleOf } from '../resolve-target.ts';
import type { Target } from '../target.ts';
import { tell } from '../target-errors.ts';
import { aimTarget, obstacleError, type Ready } from './aim-target.ts';
import { callHands } from './call-hands.ts';

/** A target that is used by the keyboard or by its value: it needs no pointer, so nothing is hit-tested. */
export function aimField(op: Operation, target: Target, editable: boolean): Promise<Ready> {
  return aimTarget(op, target, { enabled: true, editable, hit: false, control: true });
}

/**
 * The field that has the focus, in whatever frame it is.
 * @throws AirlockError `not_interactable` when nothing has
 */
export async function focusedField(op: Operation): Promise<Ready> {
  let frame = op.tab.frames.main;
  for (;;) {
    const [number, next] = await callHands(op, frame, 'focusedRef', op.env.refs.next);
    claimRefs(op, frame, next);
    if (number === 0) throw notInteractable('unfocused', 'Nothing on the page has the focus; name a target');
    const ref = formatRef(frame.ordinal, number);
    const described = await callHands(op, frame, 'describe', number);
    if (described.tag !== 'iframe' || !frame.session) return aimField(op, ref, true);
    const objectId = await handleOf(op, { frame, session: frame.session, number, ref });
    const { node } = await op.send(frame.session, 'DOM.describeNode', { objectId });
    const inner = node.frameId === undefined ? undefined : op.tab.frames.get(node.frameId);
    if (!inner) throw new AirlockError('frame_not_found', `The frame of ${ref} is gone`);
    frame = inner;
  }
}

/**
 * Focuses a field and puts the selection where text is to go.
 * @returns the field before any input
 * @throws AirlockError `not_interactable` when the field does not take the focus
 */
export async function beginText(
  op: Operation,
  ready: Ready,
  mode: 'replace' | 'append',
): Promise<FieldState> {
  const state = await callHands(op, ready.frame, 'beginText', ready.number, mode);
  if ('why' in state) throw obstacleError(ready.frame, ready.aimed.described, state);
  return state;
}

/** A value as it may be shown. */
export function shown(state: FieldState, value: string): string {
  return state.secret ? `[redacted, ${value.length} characters]` : value;
}

/** `not_verified`, with what was meant and what the field holds. */
export function mismatch(
  ready: Ready,
  state: FieldState,
  expected: string,
  actual: string,
  why?: string,
): AirlockError {
  const element = tell(ready.frame, ready.aimed.described);
  const cut = state.maxLength >= 0 && expected.length > state.maxLength;
  const reason = why ?? (cut ? `the field takes at most ${state.maxLength} characters` : reasonOf(state));
  const values = { expected: shown(state, expected), actual: shown(state, actual) };
  const detail = `${element.role} ${JSON.stringify(element.name)} holds ${JSON.stringify(values.actual)}: ${reason}`;
  const extra = {
    element: state.secret ? { ref: element.ref, role: element.role } : element,
    ...values,
    reason,
  };
  return new AirlockError('not_verified', detail, { extra });
}

function reasonOf(state: FieldState): string {
  return state.type === 'number'
    ? 'a number field drops what is no number'
    : 'the page or the field changed the text';
}
