import { notASnapshot } from './layout.ts';

const FIRST_BYTES = 1 << 20;
const FIRST_STRINGS = 1 << 14;

/** Offsets are 32 bits wide. */
const MAX_BYTES = 0xffff_ffff;

/**
 * The strings of a snapshot, kept as the bytes of the file (JSON, escaped) and decoded one by one on demand: a million
 * JavaScript strings would take several times the room.
 */
export class StringTable {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #used = 0;
  /** End of each string; the next one begins there. */
  #ends = new Uint32Array(FIRST_STRINGS);
  #count = 0;

  get length(): number {
    return this.#count;
  }

  /** Adds bytes to the string that is being read. */
  append(chunk: Uint8Array, from: number, to: number): void {
    const needed = this.#used + to - from;
    if (needed > this.#bytes.length) this.#growBytes(needed);
    this.#bytes.set(chunk.subarray(from, to), this.#used);
    this.#used = needed;
  }

  /** The string that is being read is whole. */
  end(): void {
    if (this.#count === this.#ends.length) {
      const larger = new Uint32Array(this.#ends.length * 2);
      larger.set(this.#ends);
      this.#ends = larger;
    }
    this.#ends[this.#count++] = this.#used;
  }

  /** @throws Error for an index that the snapshot does not have */
  get(index: number): string {
    const bytes = this.#raw(index);
    const text: unknown = JSON.parse(`"${bytes.toString('utf8')}"`);
    return String(text);
  }

  /** Numbers of the strings that are equal to `text`, which has no character that JSON escapes. */
  findAll(text: string): Set<number> {
    const wanted = Buffer.from(text);
    const found = new Set<number>();
    let from = 0;
    for (let index = 0; index < this.#count; index++) {
      const to = this.#ends[index] ?? from;
      if (to - from === wanted.length && this.#bytes.compare(wanted, 0, wanted.length, from, to) === 0) {
        found.add(index);
      }
      from = to;
    }
    return found;
  }

  #raw(index: number): Buffer {
    const to = index < this.#count ? this.#ends[index] : undefined;
    if (to === undefined) throw notASnapshot(`string ${index}`);
    return this.#bytes.subarray(index === 0 ? 0 : this.#ends[index - 1], to);
  }

  #growBytes(needed: number): void {
    if (needed > MAX_BYTES) throw new Error('the strings of the snapshot are over 4 GiB');
    const larger = Buffer.allocUnsafe(Math.min(MAX_BYTES, Math.max(needed, this.#bytes.length * 2)));
    this.#bytes.copy(larger, 0, 0, this.#used);
    this.#bytes = larger;
  }
}
