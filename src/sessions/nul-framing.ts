/**
 * The framing of Chrome's debugging pipe: UTF-8 messages, each ended by a NUL byte. Bytes in, messages out; no streams
 * here, so that it can be fuzzed.
 *
 * Chunks of an unfinished message are kept as a list and joined once, when its end arrives. Joining at every chunk
 * would copy a 100 MB heap snapshot message some thousand times.
 */

/** Thrown when a message grows past the limit before its end is seen. */
export class MessageTooLargeError extends Error {
  override readonly name = 'MessageTooLargeError';
  readonly limitBytes: number;

  constructor(limitBytes: number) {
    super(`a message is larger than ${limitBytes} bytes`);
    this.limitBytes = limitBytes;
  }
}

export class NulFraming {
  readonly #maxMessageBytes: number;
  #chunks: Buffer[] = [];
  #pendingBytes = 0;

  /** @param maxMessageBytes the largest message, its NUL not counted */
  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes;
  }

  /** Bytes of a message whose end has not arrived. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /**
   * Takes the next bytes and yields each message that they complete. Read the generator to its end before the next
   * push: what is left of the chunk is kept only then.
   *
   * @throws MessageTooLargeError when a message is over the limit; messages before it have been yielded
   */
  *push(chunk: Buffer): Generator<string, void, void> {
    let start = 0;
    let end = chunk.indexOf(0);
    while (end !== -1) {
      yield this.#complete(chunk, start, end);
      start = end + 1;
      end = chunk.indexOf(0, start);
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  #complete(chunk: Buffer, start: number, end: number): string {
    this.#refuseOver(this.#pendingBytes + end - start);
    if (this.#chunks.length === 0) return chunk.toString('utf8', start, end);
    const bytes = Buffer.concat([...this.#chunks, chunk.subarray(start, end)]);
    this.#chunks = [];
    this.#pendingBytes = 0;
    return bytes.toString('utf8');
  }

  #keep(rest: Buffer): void {
    this.#refuseOver(this.#pendingBytes + rest.length);
    this.#chunks.push(rest);
    this.#pendingBytes += rest.length;
  }

  #refuseOver(bytes: number): void {
    if (bytes <= this.#maxMessageBytes) return;
    this.#chunks = [];
    this.#pendingBytes = 0;
    throw new MessageTooLargeError(this.#maxMessageBytes);
  }
}
