import { type Layout, notASnapshot, readLayout } from './layout.ts';
import { HeapModel } from './model.ts';
import { StringTable } from './string-table.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE = 0x5d;
const END = 0x7d;

/** Headers have about a thousand bytes. */
const MAX_HEADER = 1 << 20;
const NODES_MEMBER = '"nodes":[';

type State = 'header' | 'between' | 'name' | 'numbers' | 'strings' | 'text' | 'skip' | 'end';

/**
 * Reads a V8 heap snapshot piece by piece: bytes in, a model out, no file and no recursion. The file is one JSON object;
 * it is never held as text. Members that the model does not use are skipped.
 */
export class SnapshotParser {
  #state: State = 'header';
  #header = '';
  #layout: Layout | undefined;
  #nodes = new Uint32Array(0);
  #edges = new Uint32Array(0);
  readonly #strings = new StringTable();
  #name = '';
  /** The array that numbers go to, and how many it has. */
  #numbers = new Uint32Array(0);
  #filled = 0;
  #number = 0;
  #digits = 0;
  #escaped = false;
  #depth = 0;

  /** @throws Error when the bytes are not, or not any more, those of a snapshot */
  push(chunk: Uint8Array): void {
    let at = this.#state === 'header' ? this.#readHeader(chunk) : 0;
    while (at < chunk.length) {
      switch (this.#state) {
        case 'numbers':
          at = this.#readNumbers(chunk, at);
          break;
        case 'text':
          at = this.#readText(chunk, at);
          break;
        case 'skip':
          at = this.#skip(chunk, at);
          break;
        default:
          this.#step(chunk[at] ?? 0);
          at += 1;
      }
    }
  }

  /** @throws Error when the file ended early */
  finish(): HeapModel {
    const layout = this.#layout;
    if (this.#state !== 'end' || !layout) throw notASnapshot('it ends early');
    return new HeapModel({ layout, nodes: this.#nodes, edges: this.#edges, strings: this.#strings });
  }

  /** @returns where in `chunk` the first number is, or its length while the header goes on */
  #readHeader(chunk: Uint8Array): number {
    const before = this.#header.length;
    this.#header += Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    const at = this.#header.indexOf(NODES_MEMBER, Math.max(0, before - NODES_MEMBER.length));
    if (at < 0) {
      if (this.#header.length > MAX_HEADER) throw notASnapshot('no nodes');
      return chunk.length;
    }
    const layout = readLayout(`${this.#header.slice(0, at).trimEnd().replace(/,$/, '')}}`);
    this.#layout = layout;
    this.#nodes = new Uint32Array(layout.nodeCount * layout.nodeFields);
    this.#edges = new Uint32Array(layout.edgeCount * layout.edgeFields);
    this.#header = '';
    this.#begin('nodes');
    return at + NODES_MEMBER.length - before;
  }

  /** One byte outside of the large parts. */
  #step(byte: number): void {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return;
    switch (this.#state) {
      case 'between':
        if (byte === QUOTE) {
          this.#name = '';
          this.#state = 'name';
        } else if (byte === OPEN) this.#begin(this.#name);
        else if (byte === END) this.#state = 'end';
        else if (byte !== COMMA && byte !== 0x3a) throw notASnapshot(`byte ${byte} between members`);
        return;
      case 'name':
        if (byte === QUOTE) this.#state = 'between';
        else this.#name += String.fromCharCode(byte);
        return;
      case 'strings':
        if (byte === QUOTE) this.#state = 'text';
        else if (byte === CLOSE) this.#state = 'between';
        else if (byte !== COMMA) throw notASnapshot('strings');
        return;
      default:
        throw notASnapshot('bytes after its end');
    }
  }

  #begin(name: string): void {
    if (name === 'strings') {
      this.#state = 'strings';
      return;
    }
    if (name === 'nodes' || name === 'edges') {
      this.#numbers = name === 'nodes' ? this.#nodes : this.#edges;
      this.#filled = 0;
      this.#digits = 0;
      this.#number = 0;
      this.#state = 'numbers';
      return;
    }
    this.#depth = 1;
    this.#state = 'skip';
  }

  #readNumbers(chunk: Uint8Array, from: number): number {
    const numbers = this.#numbers;
    let { number, digits, filled } = { number: this.#number, digits: this.#digits, filled: this.#filled };
    let at = from;
    for (; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (byte >= ZERO && byte <= NINE) {
        number = number * 10 + byte - ZERO;
        digits += 1;
      } else if (byte === COMMA || byte === CLOSE) {
        if (digits > 0) {
          if (filled >= numbers.length) throw notASnapshot('more numbers than it says');
          numbers[filled++] = number;
        }
        number = 0;
        digits = 0;
        if (byte === CLOSE) {
          if (filled !== numbers.length) throw notASnapshot('fewer numbers than it says');
          this.#state = 'between';
          at += 1;
          break;
        }
      } else if (byte !== 0x0a && byte !== 0x20 && byte !== 0x0d) throw notASnapshot('numbers');
    }
    this.#number = number;
    this.#digits = digits;
    this.#filled = filled;
    return at;
  }

  /** The inside of a string, as it stands in the file. */
  #readText(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at];
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) {
        this.#strings.append(chunk, from, at);
        this.#strings.end();
        this.#state = 'strings';
        return at + 1;
      }
    }
    this.#strings.append(chunk, from, chunk.length);
    return chunk.length;
  }

  /** An array of numbers, or of such arrays, that nothing here uses. */
  #skip(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === OPEN) this.#depth += 1;
      else if (byte === CLOSE) this.#depth -= 1;
      if (this.#depth > 0) continue;
      this.#state = 'between';
      return at + 1;
    }
    return chunk.length;
  }
}
