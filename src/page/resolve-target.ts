import { AirlockError } from '../errors.ts';
import { readHands } from './actions/call-hands.ts';
import { type CdpSession, isContextLost } from './cdp.ts';
import { findFrame } from './find-frame.ts';
import type { Frame } from './frames.ts';
import type { NotFound } from './hands/types.ts';
import type { QueryAnswer, QueryTarget } from './injected/types.ts';
import type { Operation } from './operation.ts';
import { formatRef, type ParsedRef, parseRef } from './refs.ts';
import { rememberedLine } from './snapshot/answer.ts';
import { adoptClosedRoots, CLOSED_ROOT_PASSES } from './snapshot/closed-roots.ts';
import { type ParsedTarget, parseTarget, type Target } from './target.ts';
import { type Candidate, notOneError, staleError, tell } from './target-errors.ts';
import { evaluateHandle, isolatedWorld } from './world.ts';

/** One node of one document. */
export interface ResolvedTarget {
  readonly frame: Frame;
  readonly session: CdpSession;
  /** The number of its ref; every node that was resolved has one. */
  readonly number: number;
  readonly ref: string;
}

/** A target and the frame to look in. */
export interface PlacedTarget {
  readonly target: ParsedTarget;
  readonly frame: Frame;
}

/**
 * Finds the frame of a target, and for a ref whether its document is still there.
 * @throws AirlockError `invalid_target`, `frame_not_found`, `stale_ref`, `target_not_found` (a ref that was never given)
 */
export async function placeTarget(op: Operation, target: Target): Promise<PlacedTarget> {
  const parsed = parseTarget(target);
  if (parsed.ref) return { target: parsed, frame: await frameOfRef(op, parsed.ref) };
  if (parsed.frame === undefined) return { target: parsed, frame: op.tab.frames.main };
  return { target: parsed, frame: await placeFrame(op, parsed.frame) };
}

/**
 * The frame that a caller names: see `findFrame`, or by the ref of its iframe.
 * @throws AirlockError `frame_not_found`, `stale_ref`, `target_not_found`
 */
export async function placeFrame(op: Operation, wanted: string): Promise<Frame> {
  return parseRef(wanted) ? frameInside(op, wanted) : findFrame(op, wanted);
}

/**
 * The frame whose document a ref is of.
 * @throws AirlockError `stale_ref`, `target_not_found` (never given, or of another tab)
 */
export async function frameOfRef(op: Operation, ref: ParsedRef): Promise<Frame> {
  const home = op.env.refs.home(ref.number);
  if (!home)
    throw new AirlockError('target_not_found', `No snapshot of this session has given out ${ref.text}`);
  if (home.tabId !== op.tab.id) {
    const detail = `${ref.text} belongs to tab ${home.tabId}; this operation acts on ${op.tab.id}`;
    throw new AirlockError('target_not_found', detail, { extra: { tab: home.tabId }, advice: 'other_tab' });
  }
  const frame = op.tab.frames.get(home.frameId);
  if (!frame || frame.loaderId !== home.loaderId) {
    throw staleError(ref.text, 'document_replaced', await sameNow(op, frame ?? op.tab.frames.main, ref.text));
  }
  if (frame.ordinal !== ref.frameOrdinal) {
    const detail = `There is no ${ref.text}; the ref with that number is ${formatRef(frame.ordinal, ref.number)}`;
    throw new AirlockError('target_not_found', detail);
  }
  return frame;
}

/** What has the role and name now that a ref had in the latest snapshot that showed it. */
async function sameNow(op: Operation, frame: Frame, ref: string): Promise<Candidate | undefined> {
  const told = lastTold(op, ref);
  return told === undefined ? undefined : await oneLike(op, frame, told.role, told.name);
}

function lastTold(op: Operation, ref: string): { role: string; name: string } | undefined {
  for (const { full } of op.env.snapshots.of(op.tab.id)) {
    const line = rememberedLine(full, ref);
    if (line) return line;
  }
  return undefined;
}

async function oneLike(
  op: Operation,
  frame: Frame,
  role: string,
  name: string,
): Promise<Candidate | undefined> {
  if (name === '') return undefined;
  const answer = await query(op, frame, { role, name, exact: true });
  const match = answer.matches[0];
  return match && tell(frame, match);
}

/** The frame inside an iframe element that a ref names. */
async function frameInside(op: Operation, ref: string): Promise<Frame> {
  const owner = await resolveTarget(op, ref);
  const objectId = await handleOf(op, owner);
  const { node } = await op.send(owner.session, 'DOM.describeNode', { objectId });
  const frame = node.frameId === undefined ? undefined : op.tab.frames.get(node.frameId);
  if (frame && node.frameId !== owner.frame.id) return frame;
  throw new AirlockError('frame_not_found', `${ref} is not an iframe with a document`);
}

/** Asks a frame's world for the elements that match. Gives refs to those it tells of. */
export async function query(op: Operation, frame: Frame, target: QueryTarget): Promise<QueryAnswer> {
  for (let pass = 1; ; pass++) {
    const answer = await readHands(op, frame, 'query', target, op.env.refs.next);
    claimRefs(op, frame, answer.nextRef);
    if (!couldBeInClosedRoot(target, answer) || pass > CLOSED_ROOT_PASSES) return answer;
    if ((await openClosedRoots(op, frame)) === 0) return answer;
  }
}

/** Nothing was found that may yet be in a shadow root which the frame's world has not been given. */
export function couldBeInClosedRoot(target: QueryTarget, found: Pick<NotFound, 'count' | 'error'>): boolean {
  return (
    found.count === 0 && found.error === undefined && target.ref === undefined && target.xpath === undefined
  );
}

/** @returns how many closed shadow roots the frame's world has been given by this call */
export async function openClosedRoots(op: Operation, frame: Frame): Promise<number> {
  const { session, contextId } = await isolatedWorld(op, frame);
  return adoptClosedRoots(
    { send: (method: never, params: never) => op.send(session, method, params) },
    contextId,
  );
}

/** Records the refs that a call gave out in the frame's document. */
export function claimRefs(op: Operation, frame: Frame, nextRef: number): void {
  op.env.refs.claim({ tabId: op.tab.id, frameId: frame.id, loaderId: frame.loaderId }, nextRef);
}

/**
 * Finds the one element that a target names, as it is now: nothing is waited for, nothing needs to be visible.
 * @throws AirlockError `invalid_target`, `frame_not_found`, `stale_ref`, `target_not_found`, `ambiguous_target`
 */
export async function resolveTarget(op: Operation, target: Target): Promise<ResolvedTarget> {
  const { target: parsed, frame } = await placeTarget(op, target);
  const answer = await query(op, frame, parsed.query);
  const [match, ...more] = answer.matches;
  if (!match || more.length > 0 || !frame.session) {
    const candidates = match ? answer.matches : answer.near;
    throw await missingError(op, frame, parsed, { ...answer, candidates });
  }
  return { frame, session: frame.session, number: match.ref, ref: formatRef(frame.ordinal, match.ref) };
}

/** The error for a target that was not found as exactly one element. */
export async function missingError(
  op: Operation,
  frame: Frame,
  target: ParsedTarget,
  found: NotFound,
): Promise<AirlockError> {
  const kind = found.error?.kind;
  if (!target.ref || (kind !== 'stale' && kind !== 'unknown')) return notOneError(frame, target, found);
  // What the caller was shown comes first: a removed field has lost its label.
  const told = lastTold(op, target.ref.text) ?? found.was;
  const now = told && (await oneLike(op, frame, told.role, told.name));
  const was = told && `${told.role} ${JSON.stringify(told.name)}`;
  return staleError(target.ref.text, kind === 'stale' ? 'node_removed' : 'document_replaced', now, was);
}

/**
 * A handle to a resolved node in the frame's isolated world, for CDP methods that take one.
 * @throws AirlockError `stale_ref` when the node is gone
 */
export async function handleOf(op: Operation, { frame, number, ref }: ResolvedTarget): Promise<string> {
  try {
    const world = await isolatedWorld(op, frame);
    const { objectId } = await evaluateHandle(op, world, `globalThis.airlock.node(${number})`);
    if (objectId !== undefined) return objectId;
  } catch (error) {
    if (!isContextLost(error)) throw error;
  }
  throw staleError(ref, 'node_removed', undefined);
}
