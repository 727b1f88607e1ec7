/** What a close left behind, in figures, and the memory of the last of them. */
import { LRUCache } from 'lru-cache';

export interface Receipt {
  sessionId: string;
  /** Why the session ended: `delete`, `ttl`, `idle`, `crash` … */
  reason: string;
  /** ISO 8601. */
  closedAt: string;
  durationMs: number;
  processes: {
    /** Every process that was seen to belong to the session. */
    seen: number;
    /** Ended by themselves. */
    exited: number;
    /** Ended by SIGTERM. */
    terminated: number;
    /** Ended by SIGKILL. */
    killed: number;
    /** Still there after all that. */
    survivors: number;
    /** Dead, but its parent by then (process 1, as a rule) has not reaped it yet; only present when there are any. */
    zombies?: number;
  };
  disk: {
    /** Entries removed. */
    entries: number;
    /** Bytes of disk freed. */
    bytes: number;
    /** Entries still there. */
    survivors: number;
  };
  floor: { connectionsClosed: number };
  /** No process that runs or that we have to reap, and no path of the session is left, as found by looking afterwards. */
  zero: boolean;
  /** What went wrong, by name; only present when something did. */
  problems?: string[];
}

/** Receipts that are kept. */
export const RECEIPTS_KEPT = 1000;

/** The last receipts by session; the oldest goes first, however often it is read. */
export class Receipts {
  readonly #kept = new LRUCache<string, Receipt>({ max: RECEIPTS_KEPT });

  add(receipt: Receipt): void {
    this.#kept.set(receipt.sessionId, receipt);
  }

  get(sessionId: string): Receipt | undefined {
    return this.#kept.peek(sessionId);
  }

  /** Newest first. */
  list(): Receipt[] {
    return [...this.#kept.values()];
  }

  get size(): number {
    return this.#kept.size;
  }
}
