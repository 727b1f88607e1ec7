import { AirlockError } from '../errors.ts';
import { type CdpSession, isContextLost, type Protocol } from './cdp.ts';
import type { Frame } from './frames.ts';
import type { Operation } from './operation.ts';

/** Where a script runs: a context of one document of one frame. */
export interface World {
  readonly session: CdpSession;
  readonly contextId: number;
}

/** Name of the isolated world; visible to nobody but a debugger. */
const WORLD = 'airlock';

/**
 * The isolated world of the frame's current document, made on first use. The page's scripts cannot see it or change
 * what it runs with.
 * @throws AirlockError `frame_not_found` when the frame is gone or between two processes
 */
export async function isolatedWorld(op: Operation, frame: Frame): Promise<World> {
  const session = hostOf(frame);
  if (frame.isolatedContextId !== undefined) return { session, contextId: frame.isolatedContextId };
  const loaderId = frame.loaderId;
  const { executionContextId } = await op.send(session, 'Page.createIsolatedWorld', {
    frameId: frame.id,
    worldName: WORLD,
    grantUniveralAccess: false,
  });
  if (frame.loaderId === loaderId) frame.isolatedContextId = executionContextId;
  return { session, contextId: executionContextId };
}

/**
 * The context of the page's own scripts.
 * @throws AirlockError `frame_not_found` when the frame has none (it is gone, or still loading)
 */
export function mainWorld(frame: Frame): World {
  const session = hostOf(frame);
  if (frame.mainContextId === undefined) {
    throw new AirlockError('frame_not_found', `The frame ${frame.url || frame.id} has no document yet`, {
      retryable: true,
    });
  }
  return { session, contextId: frame.mainContextId };
}

function hostOf(frame: Frame): CdpSession {
  if (frame.session) return frame.session;
  throw new AirlockError('frame_not_found', `The frame ${frame.url || frame.id} is being replaced`, {
    retryable: true,
  });
}

/**
 * Runs `work` with the isolated world of a frame, once more if the document was replaced under the first try. Only for
 * reads: what changes the page must not run twice.
 */
export async function readInFrame<T>(
  op: Operation,
  frame: Frame,
  work: (world: World) => Promise<T>,
): Promise<T> {
  try {
    return await work(await isolatedWorld(op, frame));
  } catch (error) {
    if (!isContextLost(error)) throw error;
    frame.isolatedContextId = undefined;
    return work(await isolatedWorld(op, frame));
  }
}

/**
 * Evaluates an expression of our own and returns its JSON value.
 * @param stopAfterMs ends synchronous code that runs longer, in milliseconds
 * @throws Error what the expression threw, with the page's stack
 */
export async function evaluateValue(
  op: Operation,
  world: World,
  expression: string,
  stopAfterMs?: number,
): Promise<unknown> {
  const answer = await op.send(world.session, 'Runtime.evaluate', {
    expression,
    contextId: world.contextId,
    returnByValue: true,
    awaitPromise: true,
    ...(stopAfterMs !== undefined && { timeout: stopAfterMs }),
  });
  return unwrap(answer.result, answer.exceptionDetails).value;
}

/** As `evaluateValue`, for a handle: an object that stays in the page. */
export async function evaluateHandle(
  op: Operation,
  world: World,
  expression: string,
): Promise<Protocol.Runtime.RemoteObject> {
  const answer = await op.send(world.session, 'Runtime.evaluate', {
    expression,
    contextId: world.contextId,
    awaitPromise: true,
  });
  return unwrap(answer.result, answer.exceptionDetails);
}

/** Calls a function of our own with an object of the page as `this`; arguments and result are JSON values. */
export async function callOn(
  op: Operation,
  session: CdpSession,
  objectId: string,
  functionDeclaration: string,
  args: readonly unknown[] = [],
): Promise<unknown> {
  const answer = await op.send(session, 'Runtime.callFunctionOn', {
    objectId,
    functionDeclaration,
    arguments: args.map((value) => ({ value })),
    returnByValue: true,
    awaitPromise: true,
  });
  return unwrap(answer.result, answer.exceptionDetails).value;
}

function unwrap(
  result: Protocol.Runtime.RemoteObject,
  exception: Protocol.Runtime.ExceptionDetails | undefined,
): Protocol.Runtime.RemoteObject {
  if (!exception) return result;
  throw new Error(exception.exception?.description ?? exception.text);
}
