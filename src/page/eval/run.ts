import { AirlockError } from '../../errors.ts';
import type { Protocol } from '../cdp.ts';
import type { Frame } from '../frames.ts';
import type { Operation } from '../operation.ts';
import { freeRenderer } from '../renderer.ts';
import { isolatedWorld, type World } from '../world.ts';
import { type Argument, callArguments } from './arguments.ts';
import { WRAPPER_LINES, type WrapOptions, wrapBody, wrapExpression, wrapFunction } from './wrap.ts';

/** What a script gave: a value or an exception, as Chrome's handles. */
export interface Outcome {
  readonly result: Protocol.Runtime.RemoteObject;
  readonly exceptionDetails?: Protocol.Runtime.ExceptionDetails | undefined;
  /** Lines before the caller's own first line in what Chrome ran. */
  readonly linesBefore: number;
}

export interface Script extends WrapOptions {
  readonly frame: Frame;
  readonly world: 'main' | 'isolated';
  /** Handles of the outcome are in this group; the caller releases it. */
  readonly objectGroup: string;
}

/** Chrome ends synchronous code by itself this much after our own deadline, so that ours is the one that answers. */
const GRACE_MS = 50;

/** What Chrome answers when its own limit, or somebody, has stopped the script. */
const TERMINATED = /Internal error|Execution was terminated/;

/** What became of a script after the operation stopped waiting for it. */
interface Fate {
  terminated: boolean;
}

/** Declarations that a second run of the same text would make again, and `await`: only the REPL mode takes these. */
const NEEDS_REPL = /\b(?:let|const|class|await)\b/;

/**
 * Runs a script: statements, the value of the last one; `await` and `return` at the top level.
 * @throws AirlockError `timeout` after having stopped it, `dialog_open` (it goes on after the answer), `page_crashed`,
 * `evaluation_error` when the page navigated away under it
 */
export function runExpression(op: Operation, script: Script, text: string): Promise<Outcome> {
  return guarded(op, script, async (world, fate) => {
    const replMode = NEEDS_REPL.test(text);
    const run = (expression: string, repl: boolean, linesBefore: number) =>
      evaluateOnce(op, script, world, fate, { expression, repl, linesBefore });
    const wrapped = wrapExpression(text, script);
    if (wrapped !== undefined) {
      const outcome = await run(wrapped, replMode, WRAPPER_LINES);
      if (!isSyntaxError(outcome)) return outcome;
    }
    // Not an expression. Nothing of it has run.
    const outcome = await run(text, replMode, 0);
    if (!isSyntaxError(outcome, 'Illegal return statement')) return outcome;
    // Scripts cannot return, functions can.
    return run(wrapBody(text, script), false, WRAPPER_LINES);
  });
}

/** Calls a function with arguments. As `runExpression`; also `invalid_request`, `stale_ref` for an argument. */
export function runFunction(
  op: Operation,
  script: Script,
  text: string,
  args: readonly Argument[],
): Promise<Outcome> {
  return guarded(op, script, async (world) => {
    const handles = await callArguments(op, script.frame, world, args, script.objectGroup);
    const outcome = await op.send(world.session, 'Runtime.callFunctionOn', {
      functionDeclaration: wrapFunction(text, args.length, script),
      executionContextId: world.contextId,
      arguments: handles,
      awaitPromise: script.awaitPromise,
      objectGroup: script.objectGroup,
    });
    if (outcome.exceptionDetails?.exception?.value === script.key) {
      throw new AirlockError('invalid_request', '/function is not a function', {
        extra: { pointer: '/function' },
      });
    }
    return { ...outcome, linesBefore: WRAPPER_LINES };
  });
}

async function evaluateOnce(
  op: Operation,
  script: Script,
  world: World,
  fate: Fate,
  { expression, repl, linesBefore }: { expression: string; repl: boolean; linesBefore: number },
): Promise<Outcome> {
  const { awaitPromise, objectGroup } = script;
  const outcome = await op.send(
    world.session,
    'Runtime.evaluate',
    {
      expression,
      contextId: world.contextId,
      awaitPromise,
      objectGroup,
      timeout: op.remainingMs + GRACE_MS,
      ...(repl && { replMode: true }),
    },
    (error) => {
      fate.terminated ||= TERMINATED.test(String(error));
    },
  );
  // The REPL mode waits for what is awaited, and hands a promise on as it is.
  const { subtype, objectId } = outcome.result;
  const pending = repl && awaitPromise && subtype === 'promise' && !outcome.exceptionDetails;
  if (!pending || objectId === undefined) return { ...outcome, linesBefore };
  const settled = await op.send(world.session, 'Runtime.awaitPromise', { promiseObjectId: objectId });
  return { ...settled, linesBefore };
}

/** An error of the parser itself: one that was thrown has a stack. */
function isSyntaxError({ exceptionDetails }: Outcome, message = ''): boolean {
  return (
    exceptionDetails !== undefined &&
    exceptionDetails.stackTrace === undefined &&
    exceptionDetails.exception?.description?.startsWith(`SyntaxError: ${message}`) === true &&
    !exceptionDetails.exception.description.includes('\n    at ')
  );
}

async function guarded(
  op: Operation,
  script: Script,
  work: (world: World, fate: Fate) => Promise<Outcome>,
): Promise<Outcome> {
  const fate: Fate = { terminated: false };
  const session = script.frame.session ?? op.tab.session;
  try {
    return await inWorld(op, script, (world) => work(world, fate));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof AirlockError) {
      if (error.code !== 'timeout' && error.code !== 'cancelled') throw error;
      throw await stopped(op, session, error, fate);
    }
    throw await explain(op, session, error, fate);
  }
}

/** Runs `work` once; again only where Chrome says that the context was gone before it, so that nothing has run. */
async function inWorld<T>(op: Operation, script: Script, work: (world: World) => Promise<T>): Promise<T> {
  for (;;) {
    const world = await worldOf(op, script);
    try {
      return await work(world);
    } catch (error) {
      if (!(error instanceof Error) || !/Cannot find context with specified id/.test(error.message))
        throw error;
      const { frame } = script;
      if (frame.mainContextId === world.contextId) frame.mainContextId = undefined;
      if (frame.isolatedContextId === world.contextId) frame.isolatedContextId = undefined;
    }
  }
}

/** Chrome's own refusals, in our words. */
async function explain(
  op: Operation,
  session: Operation['tab']['session'],
  error: Error,
  fate: Fate,
): Promise<Error> {
  if (/Inspected target navigated|Execution context was destroyed/.test(error.message)) {
    return new AirlockError('evaluation_error', 'The page navigated before the script had ended', {
      cause: error,
      extra: { exception: null, navigated: true, url: op.tab.url },
    });
  }
  if (/Promise was collected/.test(error.message)) {
    return new AirlockError(
      'evaluation_error',
      'The promise can never settle: nothing refers to it any more',
      {
        cause: error,
        extra: { exception: null },
      },
    );
  }
  if (!TERMINATED.test(error.message)) return error;
  // Chrome's own limit was a moment ahead of ours.
  try {
    await op.pause(4 * GRACE_MS);
  } catch (reason) {
    if (reason instanceof AirlockError && reason.code === 'timeout')
      return stopped(op, session, reason, fate);
    throw reason;
  }
  return new AirlockError('evaluation_error', 'The script was terminated', {
    cause: error,
    extra: { exception: null },
  });
}

/** Frees the renderer, and says where that took more than waiting. */
async function stopped(
  op: Operation,
  session: Operation['tab']['session'],
  error: AirlockError,
  fate: Fate,
): Promise<AirlockError> {
  const freed = await freeRenderer(op.tab, session);
  // Chrome's own limit came first: the script was running, and that stopped it.
  const renderer = freed === 'idle' && fate.terminated ? 'stopped' : freed;
  return error.retold({ renderer });
}

/** The world of the frame's document; waits where the next document is about to come. */
async function worldOf(op: Operation, { frame, world }: Script): Promise<World> {
  if (world === 'isolated') return isolatedWorld(op, frame);
  if (frame.session && frame.mainContextId !== undefined) {
    return { session: frame.session, contextId: frame.mainContextId };
  }
  const { frames } = op.tab;
  const { promise, resolve } = Promise.withResolvers<World>();
  const look = () => {
    const { session, mainContextId: contextId } = frame;
    if (session && contextId !== undefined) resolve({ session, contextId });
  };
  frames.on('changed', look);
  try {
    look();
    return await op.race(promise);
  } finally {
    frames.off('changed', look);
  }
}
