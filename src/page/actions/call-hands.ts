import { AirlockError } from '../../errors.ts';
import { isContextLost, isDetached } from '../cdp.ts';
import type { Frame } from '../frames.ts';
import { GONE, type Hands } from '../hands/api.ts';
import { handsSource } from '../hands/source.ts';
import { injectedSource } from '../injected/bundle.ts';
import type { Operation } from '../operation.ts';
import { isolatedWorld, type World } from '../world.ts';

type Answer<K extends keyof Hands> = Awaited<ReturnType<Hands[K]>>;

/** The value that a world without hands answers with; no method of `Hands` answers null. */
const INVOKE = `function (name, args) {
  const hands = globalThis.airlockHands;
  return hands === undefined ? null : hands[name](...args);
}`;

/**
 * Calls the code of `src/page/hands` in the isolated world of a frame; one round trip once the document has it.
 * @throws AirlockError what `Operation.send` throws, `frame_not_found`
 * @throws Error when the document goes away under the call (`isContextLost`), or the node is gone (`isNodeGone`)
 */
export async function callHands<K extends keyof Hands>(
  op: Operation,
  frame: Frame,
  name: K,
  ...args: Parameters<Hands[K]>
): Promise<Answer<K>> {
  const world = await isolatedWorld(op, frame);
  const value = (await invoke(op, world, name, args)) ?? (await installAndInvoke(op, world, name, args));
  // The other side of the line is our own code, of the same type.
  return value as Answer<K>;
}

/** A document that is replaced this often under one call is not going to stay. */
const RETRIES = 5;
const RETRY_MS = 20;

/**
 * As `callHands`, again if the document was replaced meanwhile. For what leaves the page as it is.
 * @throws AirlockError `frame_not_found` when the frame went away, or does not keep a document
 */
export function readHands<K extends keyof Hands>(
  op: Operation,
  frame: Frame,
  name: K,
  ...args: Parameters<Hands[K]>
): Promise<Answer<K>> {
  return whileReplaced(op, frame, () => callHands(op, frame, name, ...args));
}

/**
 * A read of a frame, again if its document was replaced meanwhile.
 * @throws AirlockError `frame_not_found` when the frame went away, or does not keep a document
 */
export async function whileReplaced<T>(op: Operation, frame: Frame, read: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await read();
    } catch (error) {
      if (!isDocumentGone(error)) throw error;
      const where = `The frame ${frame.url || frame.id}`;
      if (op.tab.frames.get(frame.id) !== frame)
        throw new AirlockError('frame_not_found', `${where} went away`);
      if (tries > RETRIES) {
        throw new AirlockError('frame_not_found', `${where} does not keep a document`, {
          cause: error,
          retryable: true,
        });
      }
      frame.isolatedContextId = undefined;
      await op.pause(RETRY_MS * tries);
    }
  }
}

/** The document that a call was for, or its process, was replaced; the frame may live on. */
function isDocumentGone(error: unknown): boolean {
  if (error instanceof AirlockError) return error.code === 'frame_not_found';
  return isContextLost(error) || isDetached(error) || /No frame (?:for|with) given id/.test(String(error));
}

/** True when a node that was found before is no longer in the document. */
export function isNodeGone(error: unknown): boolean {
  return error instanceof Error && error.message.includes(GONE);
}

/** Gives the world its hands, and what they build on. */
export async function installHands(op: Operation, world: World): Promise<void> {
  const { exceptionDetails } = await op.send(world.session, 'Runtime.evaluate', {
    expression: `${injectedSource()};\n${handsSource()};\n0`,
    contextId: world.contextId,
    returnByValue: true,
  });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
}

async function installAndInvoke(
  op: Operation,
  world: World,
  name: string,
  args: readonly unknown[],
): Promise<unknown> {
  await installHands(op, world);
  return invoke(op, world, name, args);
}

async function invoke(op: Operation, world: World, name: string, args: readonly unknown[]): Promise<unknown> {
  const { result, exceptionDetails } = await op.send(world.session, 'Runtime.callFunctionOn', {
    functionDeclaration: INVOKE,
    executionContextId: world.contextId,
    arguments: [{ value: name }, { value: args }],
    returnByValue: true,
    awaitPromise: true,
  });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}
