import { randomBytes } from 'node:crypto';
import { AirlockError } from '../../errors.ts';
import { findFrame } from '../find-frame.ts';
import type { Operation } from '../operation.ts';
import { resolveTarget } from '../resolve-target.ts';
import { requireWebPage } from '../web-page.ts';
import { type Argument, frameOfArguments, parseArguments } from './arguments.ts';
import { evaluationError } from './exception.ts';
import { runExpression, runFunction, type Script } from './run.ts';
import { DEFAULT_LIMITS, type EvalInput, type EvalResult } from './schema.ts';
import { describe } from './value.ts';

const OBJECT_GROUP = 'airlock-eval';

/**
 * The member that marks what stands for a long string or a cut object; a page cannot guess it. One for the life of the
 * service, so that V8 finds the wrapped text of a script that runs again in its cache.
 */
const MARKER = randomBytes(12).toString('base64url');

/**
 * Runs a script in the page and answers its value. Chrome serialises it, so that nothing that the page has redefined
 * (JSON, Promise, toJSON) and no content security policy changes the answer.
 * @throws AirlockError `invalid_request`, `evaluation_error` with the exception, `timeout` (the script was stopped),
 * `dialog_open` (the script goes on once the dialog is answered), `frame_not_found`, `stale_ref` and the like for the
 * elements among the arguments, `policy_denied` or `navigation_failed` where the frame shows no web page,
 * `page_crashed`
 */
export async function evaluate(op: Operation, input: EvalInput): Promise<EvalResult> {
  checkForm(input);
  const args = await argumentsOf(op, input);
  const frame =
    input.frame === undefined ? (frameOfArguments(args) ?? op.tab.frames.main) : findFrame(op, input.frame);
  requireWebPage(op, frame);
  const limits = { ...DEFAULT_LIMITS, ...given(input) };
  const script: Script = {
    frame,
    world: input.world ?? 'main',
    awaitPromise: input.awaitPromise ?? true,
    objectGroup: OBJECT_GROUP,
    key: MARKER,
    maxChars: limits.maxChars,
  };
  const outcome =
    input.function === undefined
      ? await runExpression(op, script, input.expression ?? '')
      : await runFunction(op, script, input.function, args);
  const origin = { ...script, session: frame.session ?? op.tab.session };
  try {
    if (outcome.exceptionDetails) throw await evaluationError(op, origin, outcome, limits);
    return await describe(op, origin, outcome.result, limits);
  } finally {
    if (outcome.result.objectId !== undefined) {
      // Nobody waits for it: Chrome runs commands in order, and a page that is gone has no handles.
      origin.session.send('Runtime.releaseObjectGroup', { objectGroup: OBJECT_GROUP }).catch(() => undefined);
    }
  }
}

function checkForm(input: EvalInput): void {
  if ((input.expression === undefined) === (input.function === undefined)) {
    throw invalid('/expression', 'give either expression or function');
  }
  if (input.function !== undefined) return;
  if (input.args !== undefined) throw invalid('/args', 'args go with function, not with expression');
  if (input.target !== undefined)
    throw invalid('/target', 'target goes with function, as its first argument');
}

async function argumentsOf(op: Operation, input: EvalInput): Promise<Argument[]> {
  const args = await parseArguments(op, input.args ?? []);
  if (input.target === undefined) return args;
  return [{ element: await resolveTarget(op, input.target) }, ...args];
}

function given({ maxDepth, maxItems, maxChars }: EvalInput): Partial<typeof DEFAULT_LIMITS> {
  return {
    ...(maxDepth !== undefined && { maxDepth }),
    ...(maxItems !== undefined && { maxItems }),
    ...(maxChars !== undefined && { maxChars }),
  };
}

function invalid(pointer: string, detail: string): AirlockError {
  return new AirlockError('invalid_request', `${pointer}: ${detail}`, { extra: { pointer } });
}
