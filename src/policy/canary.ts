/** The hosts that a Chrome is sent to only to see that it asks this floor for them. */

import { AirlockError } from '../errors.ts';

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: AirlockError) => void;
}

export class CanaryWatch {
  /** Kept after they were seen: Chrome tries again, and its later tries are not the user's either. */
  readonly #hosts = new Map<string, Set<Waiter>>();
  #closed = false;

  /**
   * Resolves at the next request for exactly `host`.
   * @throws {AirlockError} cancelled, floor_down
   */
  async expect(host: string, signal: AbortSignal): Promise<void> {
    if (this.#closed) throw new AirlockError('floor_down', 'the floor is closed');
    if (signal.aborted) throw cancelled(host);
    const name = host.toLowerCase();
    const waiters = this.#hosts.get(name) ?? new Set();
    this.#hosts.set(name, waiters);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { resolve, reject };
    waiters.add(waiter);
    const onAbort = (): void => reject(cancelled(host));
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
      waiters.delete(waiter);
    }
  }

  /** True when `host` is one of them; whoever waits for it is told. */
  saw(host: string): boolean {
    const waiters = this.#hosts.get(host);
    if (waiters === undefined) return false;
    for (const { resolve } of waiters) resolve();
    return true;
  }

  close(): void {
    this.#closed = true;
    for (const waiters of this.#hosts.values()) {
      for (const { reject } of waiters) reject(new AirlockError('floor_down', 'the floor was closed'));
    }
  }
}

function cancelled(host: string): AirlockError {
  return new AirlockError('cancelled', `${host} was not asked for before the wait ended`);
}
