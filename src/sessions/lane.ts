import { AirlockError } from '../errors.ts';

interface Waiting {
  start(): void;
}

/**
 * One operation at a time, first come first served. What waits can be ended by its signal at any time; what runs ends
 * by itself through the same signal (the operation's work listens to it).
 */
export class Lane {
  readonly #limit: number;
  readonly #waiting: Waiting[] = [];
  readonly #quiet: (() => void)[] = [];
  #busy = false;

  /** @param limit how many operations may wait (64 in the contract) */
  constructor(limit = 64) {
    this.#limit = limit;
  }

  /** Operations that run or wait. */
  get depth(): number {
    return this.#waiting.length + (this.#busy ? 1 : 0);
  }

  /** Resolves when nothing runs or waits. */
  whenQuiet(): Promise<void> {
    if (this.depth === 0) return Promise.resolve();
    return new Promise((resolve) => this.#quiet.push(resolve));
  }

  /**
   * Runs `work` when its turn comes.
   * @throws AirlockError `lane_full` with `Retry-After`, or the reason of `signal` while waiting
   */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#busy) await this.#turn(signal);
    this.#busy = true;
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      this.#busy = false;
      this.#waiting.shift()?.start();
      if (this.depth === 0) for (const quiet of this.#quiet.splice(0)) quiet();
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= this.#limit) {
      throw new AirlockError('lane_full', `${this.#limit} operations wait for this session already`, {
        retryAfterSec: 1,
      });
    }
    return new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        const index = this.#waiting.indexOf(entry);
        if (index !== -1) this.#waiting.splice(index, 1);
        reject(signal.reason);
      };
      const entry: Waiting = {
        start: () => {
          signal.removeEventListener('abort', onAbort);
          // Taken at once, so that a newcomer cannot slip in between.
          this.#busy = true;
          resolve();
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(entry);
    });
  }
}
