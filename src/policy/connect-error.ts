/** Why our own connection through the floor failed, as the error that a caller of the service sees. */

import { AirlockError } from '../errors.ts';
import { DeniedError } from './authorise.ts';
import { DialError } from './dial.ts';
import { ResolveError } from './resolver.ts';

/** `extra` has the `decision` of a denial, and the `netError` of a failure. */
export function toAirlockError(error: unknown): AirlockError {
  if (error instanceof DeniedError) {
    const { stage, target } = error;
    const decision = { stage, target, ...error.decision };
    return new AirlockError('policy_denied', error.message, { extra: { decision } });
  }
  if (error instanceof ResolveError || error instanceof DialError) {
    const { fault, message } = error;
    if (fault === 'cancelled') return new AirlockError('cancelled', message, { cause: error });
    if (fault === 'timeout') return new AirlockError('timeout', message, { cause: error });
    return new AirlockError('navigation_failed', message, { cause: error, extra: { netError: fault } });
  }
  return new AirlockError('internal', 'the connection could not be made', { cause: error });
}
