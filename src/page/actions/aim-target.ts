import { AirlockError } from '../../errors.ts';
import type { Frame } from '../frames.ts';
import type { AimAnswer, Aimed, AimOptions, Obstacle, Point } from '../hands/types.ts';
import { notInteractable } from '../hindrance.ts';
import type { Described, QueryTarget } from '../injected/types.ts';
import type { Operation } from '../operation.ts';
import { formatRef } from '../refs.ts';
import {
  claimRefs,
  couldBeInClosedRoot,
  missingError,
  openClosedRoots,
  placeTarget,
} from '../resolve-target.ts';
import { CLOSED_ROOT_PASSES } from '../snapshot/closed-roots.ts';
import type { Target } from '../target.ts';
import { staleError, tell } from '../target-errors.ts';
import { readHands } from './call-hands.ts';
import { toTabPoint } from './frame-path.ts';

/** A node that is ready to be acted on. */
export interface Ready {
  readonly frame: Frame;
  /** Number of its ref. */
  readonly number: number;
  readonly ref: string;
  /** Where to send the pointer, in CSS pixels of the tab's viewport. */
  readonly point: Point;
  readonly aimed: Aimed;
}

export type TargetOptions = Omit<AimOptions, 'waitUntil' | 'early'> & {
  /** JSON pointer of the position in the request; `/position` unless said. */
  readonly positionPointer?: string;
};

/** A target that does not exist yet may still come: a page answers an action a moment after it. Milliseconds. */
const GRACE_MS = 1000;

/** Pause between two looks whether a frame is laid out by now. Milliseconds. */
const LAYOUT_POLL_MS = 50;

/** Kept of the deadline to answer with the reason rather than with `timeout`: a part of it, within bounds. Milliseconds. */
export function reserve(op: Operation): number {
  return Math.min(1000, Math.max(20, op.timeoutMs / 10));
}

/**
 * Finds the target's node, scrolls to it, waits until it can be used, and hit-tests it in every document from its own
 * to the tab's.
 * @param approach brings the pointer to a point of the tab's viewport; where possible it is called while the node is
 * looked at for being at rest, since both take a frame
 * @throws AirlockError those of `resolveTarget`; `not_interactable`, `not_editable`, `covered`, `invalid_request` (a position
 * outside of the element's box)
 */
export async function aimTarget(
  op: Operation,
  target: Target,
  { positionPointer = '/position', ...options }: TargetOptions,
  approach?: (point: Point) => Promise<unknown>,
): Promise<Ready> {
  const { target: parsed, frame } = await placeTarget(op, target);
  const answer = await prepare(op, frame, parsed.query, options, approach);
  if ('missing' in answer) throw await missingError(op, frame, parsed, answer.missing);
  if ('obstacle' in answer && answer.obstacle.why === 'beyond') {
    const element = tell(frame, answer.described);
    const detail = `${positionPointer}: ${answer.obstacle.detail}: ${element.line}`;
    throw new AirlockError('invalid_request', detail, { extra: { pointer: positionPointer, element } });
  }
  if ('obstacle' in answer) throw obstacleError(frame, answer.described, answer.obstacle);
  const { aimed } = answer;
  const number = aimed.described.ref;
  const inTab = frame.parentId === undefined || !options.hit || aimed.closedOption;
  const point = inTab ? aimed.point : await toTabPoint(op, frame, aimed.point, aimed.view);
  return { frame, number, ref: formatRef(frame.ordinal, number), point, aimed };
}

/** One call to the page, and another one where the target may be in a closed root that it did not know. */
async function prepare(
  op: Operation,
  frame: Frame,
  target: QueryTarget,
  options: Omit<AimOptions, 'waitUntil'>,
  approach: ((point: Point) => Promise<unknown>) | undefined,
): Promise<AimAnswer> {
  for (let pass = 1; ; pass++) {
    const left = Math.max(0, op.remainingMs - reserve(op));
    const graceMs = pass > 1 ? 0 : Math.min(GRACE_MS, left);
    const find = { target, nextRef: op.env.refs.next, graceMs };
    const asked = { ...options, early: approach !== undefined, waitUntil: Date.now() + left };
    const answer = await readHands(op, frame, 'prepare', find, asked);
    claimRefs(op, frame, answer.nextRef);
    if (approach && 'aimed' in answer && answer.aimed.unsettled) {
      const [settled] = await Promise.all([
        readHands(op, frame, 'settle', { ...find, nextRef: answer.nextRef }, asked),
        approach(answer.aimed.point),
      ]);
      claimRefs(op, frame, settled.nextRef);
      return settled;
    }
    if ('obstacle' in answer && answer.obstacle.why === 'unlaid' && left > 0) {
      // Waited for here: in a frame without an area the engine slows timers to one a second.
      await op.pause(Math.min(LAYOUT_POLL_MS, left));
      pass -= 1;
      continue;
    }
    if (!('missing' in answer) || !couldBeInClosedRoot(target, answer.missing)) return answer;
    if (pass > CLOSED_ROOT_PASSES || (await openClosedRoots(op, frame)) === 0) return answer;
  }
}

/** The error for a node that was found and cannot be used. */
export function obstacleError(frame: Frame, described: Described, obstacle: Obstacle): AirlockError {
  const element = tell(frame, described);
  const what = element.line;
  if (obstacle.why === 'gone') {
    return staleError(element.ref ?? what, 'node_removed', undefined, what);
  }
  const extra = { element, state: obstacle.why, reason: obstacle.detail };
  if (obstacle.why === 'covered' && obstacle.by) {
    const coveredBy = tell(frame, obstacle.by);
    return new AirlockError('covered', `${coveredBy.line} covers ${what}`, {
      extra: { ...extra, coveredBy },
    });
  }
  const detail = `${what}: ${obstacle.detail}`;
  switch (obstacle.why) {
    case 'readonly':
    case 'not-editable':
      return new AirlockError('not_editable', detail, { extra });
    case 'covered':
      return new AirlockError('covered', detail, { extra });
    case 'beyond':
      return new AirlockError('invalid_request', detail, { extra: { element } });
    default:
      return notInteractable(obstacle.why, detail, extra);
  }
}
