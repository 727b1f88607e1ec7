import { AirlockError } from '../errors.ts';

/** The one AbortSignal of an operation, and the hand that releases its timer and listeners. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Joins everything that ends an operation: its time limit (`timeout`), the client going away (`cancelled`) and the end
 * of the session (the reason that its signal carries). The reason of the signal is always an AirlockError.
 */
export function deadline(init: { timeoutMs: number; client: AbortSignal; session: AbortSignal }): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new AirlockError('timeout', `Not finished within ${init.timeoutMs} ms`)),
    init.timeoutMs,
  );
  timer.unref();
  const onClient = () => controller.abort(new AirlockError('cancelled', 'The client went away'));
  const onSession = () => controller.abort(init.session.reason);
  if (init.session.aborted) onSession();
  else if (init.client.aborted) onClient();
  init.client.addEventListener('abort', onClient, { once: true });
  init.session.addEventListener('abort', onSession, { once: true });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      init.client.removeEventListener('abort', onClient);
      init.session.removeEventListener('abort', onSession);
    },
  };
}
