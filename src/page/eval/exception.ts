import { AirlockError } from '../../errors.ts';
import type { Protocol } from '../cdp.ts';
import type { Operation } from '../operation.ts';
import { errorParts, MAX_TEXT } from './error-parts.ts';
import type { Outcome } from './run.ts';
import { describe, type Limits, type Origin } from './value.ts';
import { unwrapStack } from './wrap.ts';

/** The typed error for what a script threw. */
export async function evaluationError(
  op: Operation,
  origin: Origin,
  { result, exceptionDetails: details, linesBefore }: Outcome,
  limits: Limits,
): Promise<AirlockError> {
  const exception = details?.exception ?? result;
  const at = position(details, linesBefore);
  if (exception.subtype === 'error' && exception.objectId !== undefined) {
    const parts = await errorParts(op, origin.session, exception, exception.objectId);
    const stack = unwrapStack(parts.stack, linesBefore);
    return thrown(`${parts.name}: ${parts.message}`, { ...parts, stack, ...at });
  }
  const { value } = await describe(op, origin, exception, limits);
  const text = exception.description ?? String(exception.value ?? exception.type);
  return thrown(`${text.slice(0, 500)} was thrown, which is not an Error`, {
    name: exception.className ?? exception.type,
    message: text.slice(0, MAX_TEXT),
    stack: '',
    value,
    ...at,
  });
}

function thrown(detail: string, exception: Record<string, unknown>): AirlockError {
  return new AirlockError('evaluation_error', detail.slice(0, 1000), { extra: { exception } });
}

/** Of the script, from 1; Chrome counts from 0, and gives -1 where it does not know. */
function position(
  details: Protocol.Runtime.ExceptionDetails | undefined,
  linesBefore: number,
): Record<string, number> {
  if (details === undefined || details.lineNumber < linesBefore) return {};
  return { line: details.lineNumber + 1 - linesBefore, column: details.columnNumber + 1 };
}
