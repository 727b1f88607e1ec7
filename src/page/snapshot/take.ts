import { AirlockError } from '../../errors.ts';
import type { Frame } from '../frames.ts';
import { injectedSource } from '../injected/bundle.ts';
import type { FrameText, WalkOptions } from '../injected/types.ts';
import type { Operation } from '../operation.ts';
import { formatRef } from '../refs.ts';
import { staleError } from '../target-errors.ts';
import { evaluateHandle, evaluateValue, isolatedWorld, readInFrame, type World } from '../world.ts';
import { indentOf, type WalkedFrame } from './assemble.ts';
import { adoptClosedRoots, CLOSED_ROOT_PASSES } from './closed-roots.ts';

/** How to walk, the same for every frame; `root` is for the first one only. */
export type TakeOptions = Omit<WalkOptions, 'nextRef' | 'prefix'>;

/** Of a frame that has no document to walk. */
export const LOST_FRAME: ReadonlySet<string> = new Set(['frame_not_found', 'page_crashed']);

/**
 * Walks a frame and all frames below it, each in its own process.
 * @throws AirlockError `stale_ref`, `target_not_found` or `invalid_target` when the root cannot be used
 */
export async function takeSnapshot(op: Operation, frame: Frame, options: TakeOptions): Promise<WalkedFrame> {
  const walked = await readInFrame(op, frame, (world) => walk(op, frame, world, options));
  if (walked.error) throw rootError(frame, options.root, walked.error);
  return { walked, children: await walkChildren(op, frame, walked, options) };
}

async function walk(op: Operation, frame: Frame, world: World, options: TakeOptions): Promise<FrameText> {
  for (let pass = 1; ; pass += 1) {
    const walked = await callSnapshot(op, frame, world, options);
    if (walked.closedHosts === 0 || pass > CLOSED_ROOT_PASSES) return walked;
    const adopted = await adoptClosedRoots(
      { send: (method: never, params: never) => op.send(world.session, method, params) },
      world.contextId,
    );
    if (adopted === 0) return walked;
  }
}

async function callSnapshot(
  op: Operation,
  frame: Frame,
  world: World,
  options: TakeOptions,
): Promise<FrameText> {
  const prefix = frame.ordinal === 0 ? '' : `f${frame.ordinal}`;
  const asked: WalkOptions = { ...options, prefix, nextRef: op.env.refs.next };
  // A world that was never asked before has no code of ours yet; every other one answers in one round trip.
  const call = `globalThis.airlock === undefined ? null : airlock.snapshot(${JSON.stringify(asked)})`;
  let walked = await evaluateValue(op, world, call);
  if (walked === null) {
    await evaluateHandle(op, world, injectedSource());
    walked = await evaluateValue(op, world, call);
  }
  const answer = walked as FrameText;
  op.env.refs.claim({ tabId: op.tab.id, frameId: frame.id, loaderId: frame.loaderId }, answer.nextRef);
  return answer;
}

async function walkChildren(
  op: Operation,
  frame: Frame,
  walked: FrameText,
  options: TakeOptions,
): Promise<Map<number, WalkedFrame>> {
  const children = new Map<number, WalkedFrame>();
  if (walked.frames.length === 0) return children;
  const lines = walked.text.split('\n');
  const listed = new Map(walked.frames.map(({ ref, line }) => [ref, lines[line] ?? '']));
  for (const child of op.tab.frames.children(frame.id)) {
    try {
      const ref = await refOfOwner(op, frame, child);
      const line = ref === undefined ? undefined : listed.get(ref);
      const below = line === undefined ? undefined : optionsBelow(options, line);
      if (ref !== undefined && below) children.set(ref, await takeSnapshot(op, child, below));
    } catch (error) {
      // A frame that went away, crashed, or is between two documents, keeps its line; what ends the operation is thrown on.
      op.check();
      if (error instanceof AirlockError && !LOST_FRAME.has(error.code)) throw error;
    }
  }
  return children;
}

/** How to walk the frame whose iframe has this line; `undefined` where its lines would be deeper than what is asked for. */
function optionsBelow({ root: _, depth, ...rest }: TakeOptions, line: string): TakeOptions | undefined {
  if (depth === undefined) return rest;
  const left = depth - indentOf(line) / 2 - 1;
  return left > 0 ? { ...rest, depth: left } : undefined;
}

/** The ref of the iframe element that holds `child`; `undefined` for one that has none. */
export async function refOfOwner(op: Operation, parent: Frame, child: Frame): Promise<number | undefined> {
  const { session, contextId } = await isolatedWorld(op, parent);
  const { backendNodeId } = await op.send(session, 'DOM.getFrameOwner', { frameId: child.id });
  const { object } = await op.send(session, 'DOM.resolveNode', {
    backendNodeId,
    executionContextId: contextId,
  });
  if (object.objectId === undefined) return undefined;
  const { result } = await op.send(session, 'Runtime.callFunctionOn', {
    functionDeclaration: 'function () { return globalThis.airlock.describe(this).ref; }',
    objectId: object.objectId,
    returnByValue: true,
  });
  return typeof result.value === 'number' && result.value > 0 ? result.value : undefined;
}

function rootError(
  frame: Frame,
  root: WalkOptions['root'],
  { kind, message }: NonNullable<FrameText['error']>,
): AirlockError {
  if (kind === 'syntax') return new AirlockError('invalid_target', message);
  if (kind === 'not_found' || root === undefined || !('ref' in root) || root.ref === undefined)
    return new AirlockError('target_not_found', message);
  const ref = formatRef(frame.ordinal, root.ref);
  return staleError(ref, kind === 'stale' ? 'node_removed' : 'document_replaced', undefined);
}
