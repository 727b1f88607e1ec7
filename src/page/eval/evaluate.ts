import { AirlockError } from '../../errors.ts';
import type { Protocol } from '../cdp.ts';
import { frameOf } from '../frame-of.ts';
import type { Operation } from '../operation.ts';
import { requireWebPage } from '../web-page.ts';
import { evaluationError } from './exception.ts';
import { type Outcome, runExpression, runFunction, type Script } from './run.ts';
import { DEFAULT_LIMITS, type EvalInput, type EvalResult } from './schema.ts';
import { describe } from './value.ts';

const OBJECT_GROUP = 'airlock-eval';

/**
 * Runs a script in the page and answers its value. Chrome serialises it, so that nothing that the page has redefined
 * (JSON, Promise, toJSON) and no content security policy changes the answer.
 * @throws AirlockError `invalid_request`, `evaluation_error` with the exception, `timeout` (the script was stopped),
 * `dialog_open` (the script goes on once the dialog is answered), `frame_not_found`, `policy_denied` or
 * `navigation_failed` where the frame shows no web page, `page_crashed`
 */
export async function evaluate(op: Operation, input: EvalInput): Promise<EvalResult> {
  const frame = frameOf(op, input.frame);
  requireWebPage(op, frame);
  const script: Script = {
    frame,
    world: input.world ?? 'main',
    awaitPromise: input.awaitPromise ?? true,
    objectGroup: OBJECT_GROUP,
  };
  const outcome = await run(op, script, input);
  const session = frame.session ?? op.tab.session;
  const limits = {
    maxDepth: input.maxDepth ?? DEFAULT_LIMITS.maxDepth,
    maxItems: input.maxItems ?? DEFAULT_LIMITS.maxItems,
    maxChars: input.maxChars ?? DEFAULT_LIMITS.maxChars,
  };
  try {
    if (outcome.exceptionDetails) throw await evaluationError(op, session, outcome.exceptionDetails, limits);
    return await describe(op, session, outcome.result, limits);
  } finally {
    if (outcome.result.objectId !== undefined) {
      // Nobody waits for it: Chrome runs commands in order, and a page that is gone has no handles.
      session.send('Runtime.releaseObjectGroup', { objectGroup: OBJECT_GROUP }).catch(() => undefined);
    }
  }
}

function run(op: Operation, script: Script, input: EvalInput): Promise<Outcome> {
  if (input.expression !== undefined && input.function === undefined) {
    if (input.args !== undefined) throw invalid('/args', 'args go with function, not with expression');
    return runExpression(op, script, input.expression);
  }
  if (input.function !== undefined && input.expression === undefined) {
    return runFunction(op, script, input.function, (input.args ?? []).map(callArgument));
  }
  throw invalid('/expression', 'give either expression or function');
}

function callArgument(value: unknown): Protocol.Runtime.CallArgument {
  return { value };
}

function invalid(pointer: string, detail: string): AirlockError {
  return new AirlockError('invalid_request', `${pointer}: ${detail}`, { extra: { pointer } });
}
