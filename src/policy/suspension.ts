import { setTimeout as delay } from 'node:timers/promises';
import { DialError } from './dial.ts';

/** Milliseconds without a try that count as quiet, and how long that is waited for. */
const QUIET_MS = 50;
const QUIET_LIMIT_MS = 500;

/**
 * A floor that lets nothing through for a while: when the rules about URLs of a live session begin, so that no request that
 * was sent before them is led on by a redirect.
 */
export class Suspension {
  #on = false;
  /** When a connection was last refused, by `performance.now()`. */
  #refusedAt = 0;

  get on(): boolean {
    return this.#on;
  }

  begin(): void {
    this.#on = true;
    this.#refusedAt = performance.now();
  }

  end(): void {
    this.#on = false;
  }

  /** @throws DialError `network_unreachable` while it lasts */
  check(): void {
    if (!this.#on) return;
    this.#refusedAt = performance.now();
    throw new DialError('network_unreachable', 'the policy of the session is being changed');
  }

  /** Resolves when nobody has tried to get through for a moment, which a page may never stop to do. */
  async quiet(): Promise<void> {
    const until = performance.now() + QUIET_LIMIT_MS;
    for (;;) {
      const wait = Math.min(this.#refusedAt + QUIET_MS, until) - performance.now();
      if (wait <= 0) return;
      await delay(wait, undefined, { ref: false });
    }
  }
}
