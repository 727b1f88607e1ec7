import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AirlockError } from '../errors.ts';

interface Kept<T> {
  readonly body: string;
  readonly made: Promise<T>;
}

export interface Once<T> {
  readonly made: Promise<T>;
  /** What an earlier request made. */
  readonly replayed: boolean;
}

/** What requests with an Idempotency-Key made, for as long as a repeat gets the same. What failed is not remembered. */
export class Idempotency<T> {
  readonly #kept: LRUCache<string, Kept<T>>;

  constructor(ttlMs: number, max = 1000) {
    this.#kept = new LRUCache({ max, ttl: ttlMs });
  }

  /**
   * Calls `make`, unless a request with the key and the same body did.
   * @throws AirlockError `idempotency_key_reused` for a key that came with another body
   */
  once(key: string, input: unknown, make: () => Promise<T>): Once<T> {
    const body = digest(input);
    const known = this.#kept.get(key);
    if (known && known.body !== body) {
      throw new AirlockError('idempotency_key_reused', 'The Idempotency-Key came with another body before');
    }
    if (known) return { made: known.made, replayed: true };
    const made = make();
    this.#kept.set(key, { body, made });
    made.catch(() => this.#kept.delete(key));
    return { made, replayed: false };
  }
}

/** Those who wait for the same thing. */
export class Audience {
  readonly #gone = new AbortController();
  #waiting = 0;

  /** Aborted when all of them have gone. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** @param client aborted when this one goes */
  join(client: AbortSignal): void {
    if (client.aborted) {
      if (this.#waiting === 0) this.#gone.abort();
      return;
    }
    this.#waiting += 1;
    const leave = () => {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#gone.abort();
    };
    client.addEventListener('abort', leave, { once: true });
  }
}

/** Only a digest is kept: a body may hold credentials. */
function digest(input: unknown): string {
  return createHash('sha256').update(sorted(input)).digest('base64');
}

/** JSON whose members are in order: the order in which they come means nothing. */
function sorted(input: unknown): string {
  return JSON.stringify(input, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
