/**
 * A bounded map for answers that depend on their key alone. Two generations: when the young one is full it becomes the old
 * one, and what is still asked for moves back. No clock, no list to maintain, at most 2 × size entries.
 */
export class Memo<V> {
  #young = new Map<string, V>();
  #old = new Map<string, V>();
  readonly #size: number;
  readonly #maxKey: number;

  /** @param maxKey longer keys are not kept, so that memory is bounded in bytes too */
  constructor(size: number, maxKey: number) {
    this.#size = size;
    this.#maxKey = maxKey;
  }

  get(key: string): V | undefined {
    const hit = this.#young.get(key);
    if (hit !== undefined) return hit;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: V): void {
    if (key.length > this.#maxKey) return;
    if (this.#young.size >= this.#size) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }
}
