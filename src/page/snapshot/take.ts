import { AirlockError } from '../../errors.ts';
import type { Frame } from '../frames.ts';
import { injectedSource } from '../injected/bundle.ts';
import type { FrameText, WalkOptions } from '../injected/types.ts';
import type { Operation } from '../operation.ts';
import { evaluateHandle, evaluateValue, readInFrame, type World } from '../world.ts';
import { assembleFrames, type WalkedFrame } from './assemble.ts';

export type TakeOptions = Omit<WalkOptions, 'nextRef' | 'prefix' | 'root'> & {
  /** Only the subtree of this element of `frame`. */
  readonly root?: WalkOptions['root'];
  /** The frame to begin with; the main frame unless said. */
  readonly frame?: Frame;
};

export interface TakenSnapshot {
  readonly url: string;
  readonly title: string;
  readonly text: string;
}

/**
 * Walks a frame and all frames below it, each in its own process, and puts their lines together in document order.
 * @throws AirlockError `stale_ref`, `target_not_found` or `invalid_target` when the root cannot be used
 */
export async function takeSnapshot(op: Operation, options: TakeOptions): Promise<TakenSnapshot> {
  const { frame = op.tab.frames.main, root, ...walk } = options;
  const taken = await walkFrame(op, frame, root === undefined ? walk : { ...walk, root });
  if (taken.walked.error) throw rootError(taken.walked.error);
  return { url: taken.walked.url, title: taken.walked.title, text: assembleFrames(taken) };
}

async function walkFrame(
  op: Operation,
  frame: Frame,
  options: Omit<WalkOptions, 'nextRef' | 'prefix'>,
): Promise<WalkedFrame> {
  const prefix = frame.ordinal === 0 ? '' : `f${frame.ordinal}`;
  const walked = await readInFrame(op, frame, async (world) => {
    const asked = JSON.stringify({ ...options, prefix, nextRef: op.env.refs.next } satisfies WalkOptions);
    return (await evaluateValue(op, world, `(${await apiIn(op, world)}).snapshot(${asked})`)) as FrameText;
  });
  op.env.refs.claim({ tabId: op.tab.id, frameId: frame.id, loaderId: frame.loaderId }, walked.nextRef);
  const children = new Map<number, WalkedFrame>();
  if (walked.frames.length > 0) {
    const { root: _, ...below } = options;
    for (const child of op.tab.frames.children(frame.id)) {
      const ref = await refOfOwner(op, frame, child);
      if (ref === undefined || !walked.frames.some((line) => line.ref === ref)) continue;
      const inside = await walkFrame(op, child, below).catch((error: unknown) => skipFrame(op, error));
      if (inside) children.set(ref, inside);
    }
  }
  return { walked, children };
}

/** Installs the injected code once per world; afterwards its name is enough. */
async function apiIn(op: Operation, world: World): Promise<string> {
  const known = await evaluateValue(op, world, 'typeof globalThis.airlock');
  if (known !== 'object') await evaluateHandle(op, world, injectedSource());
  return 'globalThis.airlock';
}

/** The ref of the iframe element that holds `child`, if it has one. */
async function refOfOwner(op: Operation, parent: Frame, child: Frame): Promise<number | undefined> {
  if (!parent.session) return undefined;
  const { session } = parent;
  const world = await readInFrame(op, parent, async (found) => found);
  try {
    const { backendNodeId } = await op.send(session, 'DOM.getFrameOwner', { frameId: child.id });
    const { object } = await op.send(session, 'DOM.resolveNode', {
      backendNodeId,
      executionContextId: world.contextId,
    });
    const answer = await op.send(session, 'Runtime.callFunctionOn', {
      functionDeclaration: 'function () { return globalThis.airlock.refOf(this, 0)[0]; }',
      objectId: object.objectId ?? '',
      returnByValue: true,
    });
    return typeof answer.result.value === 'number' ? answer.result.value : undefined;
  } catch (error) {
    skipFrame(op, error);
    return undefined;
  }
}

/** A frame that went away, or is between two documents, keeps its line; whatever ends the operation is thrown on. */
function skipFrame(op: Operation, error: unknown): undefined {
  op.check();
  if (error instanceof AirlockError && error.code !== 'frame_not_found') throw error;
  return undefined;
}

function rootError(error: NonNullable<FrameText['error']>): AirlockError {
  const code = {
    syntax: 'invalid_target',
    stale: 'stale_ref',
    unknown: 'stale_ref',
    not_found: 'target_not_found',
  } as const;
  return new AirlockError(code[error.kind], error.message);
}
