/**
 * What was decided for one session: the last records for people and programs to read, and counters that never forget.
 *
 * Chrome tries a denied main-frame load about five times (measured on 156), so a repeat within a few seconds is folded
 * into its record: `count` grows, and the record moves to the end with a new `seq`, so that whoever polls with a cursor
 * sees it again.
 */

import type { Decision, Reason } from './decision.ts';

/** Where the decision was taken: on a whole URL, on host and port, on a resolved address, or by the guard hook. */
export type DecisionStage = 'url' | 'host' | 'address' | 'guard';

export interface DecisionRecord {
  /** Grows with every decision; the cursor for `since`. */
  readonly seq: number;
  /** When it was last decided, in milliseconds since 1970. */
  readonly time: number;
  readonly stage: DecisionStage;
  /** `host:port`, or the URL. */
  readonly target: string;
  readonly address?: string;
  readonly verdict: 'allow' | 'deny';
  readonly reason: Reason;
  readonly rule?: string;
  /** How many times it was decided, folded repeats included. */
  readonly count: number;
  readonly tab?: string;
}

export interface DecisionEntry {
  readonly stage: DecisionStage;
  readonly target: string;
  readonly decision: Decision;
  readonly tab?: string;
}

export interface DecisionQuery {
  readonly verdict?: 'allow' | 'deny' | undefined;
  /** Only records with a greater `seq`. */
  readonly since?: number | undefined;
  /** At most so many, the newest; they come oldest first. */
  readonly limit?: number | undefined;
}

export interface DecisionCounters {
  readonly allowed: number;
  readonly denied: number;
  /** Denials by reason. */
  readonly deniedBy: Readonly<Partial<Record<Reason, number>>>;
}

export interface DecisionLogOptions {
  /** Records kept. */
  readonly capacity?: number;
  /** A repeat that comes within this time of the one before it is folded. */
  readonly foldMs?: number;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
}

/** Enough to read; a `data:` URL may have megabytes. */
const targetLimit = 2048;

export class DecisionLog {
  readonly #capacity: number;
  readonly #foldMs: number;
  readonly #now: () => number;
  /** By `seq`, oldest first: a Map keeps the order of insertion. */
  readonly #ring = new Map<number, DecisionRecord>();
  readonly #lastByKey = new Map<string, DecisionRecord>();
  readonly #listeners = new Set<(record: DecisionRecord) => void>();
  #seq = 0;
  #allowed = 0;
  #denied = 0;
  #deniedBy = new Map<Reason, number>();

  constructor(options: DecisionLogOptions = {}) {
    this.#capacity = options.capacity ?? 2000;
    this.#foldMs = options.foldMs ?? 10_000;
    this.#now = options.now ?? Date.now;
  }

  /** The `seq` of the newest record: the cursor for what comes after now. */
  get cursor(): number {
    return this.#seq;
  }

  get counters(): DecisionCounters {
    return { allowed: this.#allowed, denied: this.#denied, deniedBy: Object.fromEntries(this.#deniedBy) };
  }

  /** Writes a decision down, counts it, and tells the listeners when it is a denial. */
  record(entry: DecisionEntry): DecisionRecord {
    const key = keyOf(entry);
    const time = this.#now();
    const last = this.#lastByKey.get(key);
    const repeats = last !== undefined && time - last.time <= this.#foldMs;
    if (repeats) this.#ring.delete(last.seq);
    this.#seq += 1;
    const record = toRecord(entry, { seq: this.#seq, time, count: repeats ? last.count + 1 : 1 });
    this.#ring.set(record.seq, record);
    this.#lastByKey.set(key, record);
    this.#evict();
    this.#count(record);
    return record;
  }

  /** Records, oldest first. */
  query(query: DecisionQuery = {}): DecisionRecord[] {
    const since = query.since ?? 0;
    const found = [...this.#ring.values()].filter(
      (record) => record.seq > since && (query.verdict === undefined || record.verdict === query.verdict),
    );
    return query.limit === undefined ? found : found.slice(Math.max(0, found.length - query.limit));
  }

  /**
   * Calls `listener` with each denial, folded repeats included (`count` tells them apart). A listener must not throw.
   * @returns stops it
   */
  onDenial(listener: (record: DecisionRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Forgets records and counters; `seq` goes on. Used once, when the session is handed to its user. */
  clear(): void {
    this.#ring.clear();
    this.#lastByKey.clear();
    this.#deniedBy = new Map();
    this.#allowed = 0;
    this.#denied = 0;
  }

  #count(record: DecisionRecord): void {
    if (record.verdict === 'allow') {
      this.#allowed += 1;
      return;
    }
    this.#denied += 1;
    this.#deniedBy.set(record.reason, (this.#deniedBy.get(record.reason) ?? 0) + 1);
    for (const listener of this.#listeners) listener(record);
  }

  #evict(): void {
    for (const [seq, record] of this.#ring) {
      if (this.#ring.size <= this.#capacity) return;
      this.#ring.delete(seq);
      const key = keyOfRecord(record);
      if (this.#lastByKey.get(key) === record) this.#lastByKey.delete(key);
    }
  }
}

function toRecord(
  entry: DecisionEntry,
  place: Pick<DecisionRecord, 'seq' | 'time' | 'count'>,
): DecisionRecord {
  const { decision } = entry;
  return {
    seq: place.seq,
    time: place.time,
    stage: entry.stage,
    target: entry.target.slice(0, targetLimit),
    verdict: decision.verdict,
    reason: decision.reason,
    count: place.count,
    ...(decision.address === undefined ? {} : { address: decision.address }),
    ...(decision.rule === undefined ? {} : { rule: decision.rule }),
    ...(entry.tab === undefined ? {} : { tab: entry.tab }),
  };
}

function keyOf(entry: DecisionEntry): string {
  return keyOfRecord(toRecord(entry, { seq: 0, time: 0, count: 0 }));
}

function keyOfRecord(record: DecisionRecord): string {
  const { stage, target, address, verdict, reason, rule, tab } = record;
  return JSON.stringify([stage, target, address, verdict, reason, rule, tab]);
}
