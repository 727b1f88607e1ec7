/** A snapshot that was answered and may be referred to: by `cursor` to go on, by `since` to compare. */
export interface StoredSnapshot {
  readonly id: string;
  readonly tab: string;
  readonly url: string;
  readonly title: string;
  /** The whole page. */
  readonly full: string;
  /** What the answer showed of it, which is what a cursor goes on with: the page itself or a diff. */
  readonly shown: string;
  /** The options that shaped it; two snapshots compare only if these are the same. */
  readonly shape: string;
}

/** Enough to page through one snapshot while newer ones are taken. */
const keepCount = 8;
/** Characters of all snapshots that one session may hold; the newest always stays. */
const keepChars = 16_000_000;

/** The last snapshots of one session. Bounded in number and size. */
export class SnapshotStore {
  readonly #kept = new Map<string, StoredSnapshot>();
  #count = 0;

  /** Keeps a snapshot under the next id (`s1`, `s2` …); ids are never used again in the session. */
  add(snapshot: Omit<StoredSnapshot, 'id'>): StoredSnapshot {
    this.#count++;
    const stored = { ...snapshot, id: `s${this.#count}` };
    this.#kept.set(stored.id, stored);
    let chars = 0;
    const newestFirst = [...this.#kept.values()].reverse();
    newestFirst.forEach((one, index) => {
      chars += one.full.length + (one.shown === one.full ? 0 : one.shown.length);
      if (index > 0 && (index >= keepCount || chars > keepChars)) this.#kept.delete(one.id);
    });
    return stored;
  }

  get(id: string): StoredSnapshot | undefined {
    return this.#kept.get(id);
  }

  /** The newest snapshot of a tab. */
  latest(tab: string): StoredSnapshot | undefined {
    return this.of(tab)[0];
  }

  /** The kept snapshots of a tab, newest first. */
  of(tab: string): StoredSnapshot[] {
    return [...this.#kept.values()].reverse().filter((one) => one.tab === tab);
  }
}
