/** The latest of something, and how many older ones had to go. */
export class Recent<T> {
  readonly #limit: number;
  #items: T[] = [];
  #dropped = 0;

  /** @param limit how many are kept */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Oldest first. */
  get items(): readonly T[] {
    return this.#items;
  }

  get dropped(): number {
    return this.#dropped;
  }

  add(item: T): void {
    this.#items.push(item);
    if (this.#items.length <= this.#limit) return;
    this.#items.shift();
    this.#dropped += 1;
  }

  /** Forgets what does not count any more. */
  keep(counts: (item: T) => boolean): void {
    this.#items = this.#items.filter(counts);
    this.#dropped = 0;
  }

  clear(): void {
    this.#items = [];
    this.#dropped = 0;
  }
}
