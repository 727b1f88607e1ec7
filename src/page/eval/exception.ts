import { AirlockError } from '../../errors.ts';
import type { Protocol } from '../cdp.ts';
import type { Operation } from '../operation.ts';
import { errorParts, MAX_TEXT } from './error-parts.ts';
import { describe, type Limits, type Origin } from './value.ts';

/** The typed error for what a script threw. */
export async function evaluationError(
  op: Operation,
  origin: Origin,
  details: Protocol.Runtime.ExceptionDetails,
  limits: Limits,
): Promise<AirlockError> {
  const { exception } = details;
  if (exception?.subtype === 'error' && exception.objectId !== undefined) {
    const parts = await errorParts(op, origin.session, exception, exception.objectId);
    return thrown(`${parts.name}: ${parts.message}`, { ...parts, ...position(details) });
  }
  const { value } = exception ? await describe(op, origin, exception, limits) : { value: null };
  const text = exception?.description ?? String(exception?.value ?? details.text);
  return thrown(`${text.slice(0, 500)} was thrown, which is not an Error`, {
    name: exception?.className ?? exception?.type ?? 'unknown',
    message: text.slice(0, MAX_TEXT),
    stack: '',
    value,
    ...position(details),
  });
}

function thrown(detail: string, exception: Record<string, unknown>): AirlockError {
  return new AirlockError('evaluation_error', detail.slice(0, 1000), { extra: { exception } });
}

/** Of the script, from 1; Chrome counts from 0 and gives -1 where it does not know. */
function position(details: Protocol.Runtime.ExceptionDetails): Record<string, number> {
  if (details.lineNumber < 0) return {};
  return { line: details.lineNumber + 1, column: details.columnNumber + 1 };
}
