import { AirlockError } from '../errors.ts';
import type { Frame } from './frames.ts';
import type { NotFound } from './hands/types.ts';
import type { Described } from './injected/types.ts';
import { formatRef } from './refs.ts';
import type { ParsedTarget } from './target.ts';

/** An element as told to a caller who has to choose. */
export interface Candidate {
  /** Can be used as a target at once; absent for what was not given one. */
  readonly ref?: string;
  readonly role: string;
  readonly name: string;
  /** As a snapshot prints it. */
  readonly line: string;
  readonly visible: boolean;
}

export function tell(frame: Frame, { ref, role, name, line, visible }: Described): Candidate {
  const told = { role, name, line, visible };
  return ref === 0 ? told : { ref: formatRef(frame.ordinal, ref), ...told };
}

/** `target_not_found`, `ambiguous_target` or `invalid_target`, from what a look for the target found. */
export function notOneError(frame: Frame, target: ParsedTarget, found: NotFound): AirlockError {
  if (found.error?.kind === 'syntax') {
    return new AirlockError('invalid_target', `${target.text}: ${found.error.message}`);
  }
  const candidates = found.candidates.map((one) => tell(frame, one));
  const where = frame.parentId === undefined ? '' : ` in the frame ${frame.url}`;
  const { nth } = target.query;
  if (found.count > 0 && nth === undefined) {
    const detail = `${found.count} elements match ${target.text}${where}`;
    return new AirlockError('ambiguous_target', detail, { extra: { count: found.count, candidates } });
  }
  const detail =
    found.count > 0
      ? `${found.count} elements match ${target.text}${where}; there is no number ${nth}`
      : `Nothing matches ${target.text}${where}`;
  return new AirlockError('target_not_found', detail, {
    extra: { count: found.count, candidates },
    ...(candidates.length > 0 ? { advice: 'candidates' as const } : {}),
  });
}

/** Which of the two ways a ref dies by. */
export type StaleReason = 'document_replaced' | 'node_removed';

export function staleError(
  ref: string,
  reason: StaleReason,
  now: Candidate | undefined,
  was?: string,
): AirlockError {
  const what = was === undefined ? ref : `${ref} (${was})`;
  const how =
    reason === 'document_replaced'
      ? `The document that ${what} belongs to was replaced`
      : `The element of ${what} was removed from the page`;
  const then = now?.ref === undefined ? '' : `; ${now.ref} has the same role and name now`;
  return new AirlockError('stale_ref', how + then, { extra: { ref, reason, ...(now && { now }) } });
}
