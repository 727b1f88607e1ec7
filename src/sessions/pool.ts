import type { Browser } from './browser.ts';
import { availableMemory } from './capacity.ts';
import type { Engine } from './find-chrome.ts';

export interface PoolOptions {
  /** Browsers to hold ready; 0 turns the pool off. */
  readonly size: number;
  readonly engine: Engine;
  /** Starts one behind a floor that denies everything. */
  readonly start: (signal: AbortSignal) => Promise<Browser>;
  /** True while requests are waiting for a browser: the pool does not compete with them. */
  readonly busy: () => boolean;
  readonly onFault: (error: unknown) => void;
}

/** A browser is replaced after this long, so that none is handed out with a day on its clock. */
const MAX_AGE_MS = 10 * 60_000;
/** After a hand-over the session's first requests come; a Chrome that starts beside them would slow them down. */
const REFILL_DELAY_MS = 500;
/** After a failed start. */
const RETRY_DELAY_MS = 10_000;
/** No browser is kept in reserve when less memory than this is left. */
const MIN_FREE_BYTES = 1024 ** 3;

interface Held {
  readonly browser: Browser;
  readonly expiry: NodeJS.Timeout;
}

/**
 * Launched, unassigned browsers, so that creating a session is a hand-over. Each is used once and never comes back; until
 * then its floor denies everything.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #held: Held[] = [];
  readonly #ending = new AbortController();
  readonly #reaping = new Set<Promise<unknown>>();
  #filling: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Ids of the browsers that are held. */
  get ids(): string[] {
    return this.#held.map(({ browser }) => browser.id);
  }

  /** A browser of the engine, if one is ready; it belongs to the caller from now on. */
  take(engine: Engine): Browser | undefined {
    if (engine !== this.#options.engine) return undefined;
    const held = this.#held.shift();
    this.#refillIn(REFILL_DELAY_MS);
    if (!held) return undefined;
    clearTimeout(held.expiry);
    return held.browser;
  }

  /** Fills up in the background. */
  fill(): void {
    if (this.#filling || this.#ending.signal.aborted) return;
    this.#filling = this.#fill()
      .catch((error: unknown) => {
        if (this.#ending.signal.aborted) return;
        this.#options.onFault(error);
        this.#refillIn(RETRY_DELAY_MS);
      })
      .finally(() => {
        this.#filling = undefined;
      });
  }

  /** Ends all that is held, and what is starting. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#ending.abort(new Error('the pool is closed'));
    await this.#filling;
    for (const held of this.#held.splice(0)) this.#end(held);
    await Promise.all(this.#reaping);
  }

  async #fill(): Promise<void> {
    while (this.#held.length < this.#options.size) {
      if (this.#ending.signal.aborted) return;
      if (this.#options.busy() || availableMemory() < MIN_FREE_BYTES) {
        this.#refillIn(REFILL_DELAY_MS);
        return;
      }
      const browser = await this.#options.start(this.#ending.signal);
      const held: Held = { browser, expiry: setTimeout(() => this.#replace(held), MAX_AGE_MS) };
      held.expiry.unref();
      this.#held.push(held);
      void browser.exited.then(() => this.#replace(held));
    }
  }

  #refillIn(delayMs: number): void {
    if (this.#options.size === 0 || this.#ending.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.fill(), delayMs);
    this.#timer.unref();
  }

  /** Ends a browser that is too old or has died, unless it was handed out meanwhile. */
  #replace(held: Held): void {
    const at = this.#held.indexOf(held);
    if (at === -1) return;
    this.#held.splice(at, 1);
    this.#end(held);
    this.#refillIn(0);
  }

  #end(held: Held): void {
    clearTimeout(held.expiry);
    const reaping = held.browser.reap('pool').finally(() => this.#reaping.delete(reaping));
    this.#reaping.add(reaping);
  }
}
