import { AirlockError } from '../errors.ts';
import { availableMemory } from './capacity.ts';

export interface AdmissionOptions {
  /** Sessions at one time. */
  readonly maxSessions: number;
  /** Requests that may wait for a place. */
  readonly maxWaiting?: number;
}

/** Below this a new Chrome would push the machine into swapping, or the kernel into killing. */
const MIN_FREE_BYTES = 300 * 1024 ** 2;
/** What a caller is told to wait when there is no place. */
const RETRY_AFTER_SEC = 5;

interface Waiter {
  admit(): void;
}

/** Who may have a session now: a limit of sessions, a guard on memory, and a bounded queue for those who want to wait. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #waiting: Waiter[] = [];
  #taken = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Places that are taken: sessions that are open or being made. */
  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get full(): boolean {
    return this.#taken >= this.#options.maxSessions;
  }

  /**
   * Takes a place, waiting for one up to `waitMs`. Whoever gets one gives it back with `leave`, once.
   * @throws AirlockError `capacity`; the reason of `signal`
   */
  async enter(waitMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (availableMemory() < MIN_FREE_BYTES) {
      throw this.#refusal('too little memory is left for another browser');
    }
    if (!this.full && this.#waiting.length === 0) {
      this.#taken += 1;
      return;
    }
    const refusal = `${this.#options.maxSessions} sessions are open, which is the limit`;
    if (waitMs <= 0 || this.#waiting.length >= (this.#options.maxWaiting ?? 100))
      throw this.#refusal(refusal);
    await this.#turn(waitMs, signal, refusal);
  }

  leave(): void {
    this.#taken -= 1;
    while (!this.full && this.#waiting.length > 0) {
      this.#taken += 1;
      this.#waiting.shift()?.admit();
    }
  }

  #turn(waitMs: number, signal: AbortSignal, refusal: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        const at = this.#waiting.indexOf(waiter);
        if (at !== -1) this.#waiting.splice(at, 1);
        settle();
      };
      const onAbort = () => end(() => reject(signal.reason));
      const timer = setTimeout(() => end(() => reject(this.#refusal(refusal))), waitMs);
      const waiter: Waiter = { admit: () => end(resolve) };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiter);
    });
  }

  #refusal(why: string): AirlockError {
    return new AirlockError('capacity', why, { retryAfterSec: RETRY_AFTER_SEC });
  }
}
