/**
 * The connection to Chrome over its debugging pipe, in the shape that puppeteer-core takes (`ConnectionTransport`).
 * It bounds what one message may hold and what may wait to be written, and says why it closed.
 */
import type { Readable, Writable } from 'node:stream';
import type { ConnectionTransport } from 'puppeteer-core';
import { messageOf } from '../errors.ts';
import { MessageTooLargeError, NulFraming } from './nul-framing.ts';

/** Why the connection ended. `closed`: we closed it; `ended`: Chrome closed its side, most often by dying. */
export type PipeCloseKind =
  | 'closed'
  | 'ended'
  | 'message_too_large'
  | 'write_queue_full'
  | 'read_failed'
  | 'write_failed'
  | 'handler_failed';

export interface PipeCloseReason {
  readonly kind: PipeCloseKind;
  readonly detail: string;
  readonly cause?: unknown;
}

export interface PipeTransportOptions {
  /** The largest message from Chrome in bytes; a larger one closes the connection. Default 256 MiB. */
  readonly maxMessageBytes?: number;
  /** What may wait to be written to a Chrome that does not read, in bytes. Default 64 MiB. */
  readonly maxQueuedBytes?: number;
}

/** Half of the longest string that V8 makes (2^29 characters), so that decoding cannot fail. */
const defaultMaxMessageBytes = 256 * 1024 * 1024;
/** Room for the largest request body that the service takes, several times over. */
const defaultMaxQueuedBytes = 64 * 1024 * 1024;

const endedDetail = 'Chrome closed its end of the pipe';

function ignore(): void {
  // stands where no handler is set
}

export class PipeTransport implements ConnectionTransport {
  onclose?: () => void;
  readonly #write: Writable;
  readonly #read: Readable;
  readonly #framing: NulFraming;
  readonly #maxQueuedBytes: number;
  readonly #closed = Promise.withResolvers<PipeCloseReason>();
  #onmessage: (message: string) => void = ignore;
  #reading = false;
  #reason: PipeCloseReason | undefined;

  /**
   * Takes both streams over: closing the transport destroys them. Nothing is read before `onmessage` is set, so no
   * message is lost between the two.
   *
   * @param pipeWrite what Chrome reads commands from (its descriptor 3)
   * @param pipeRead what Chrome writes replies and events to (its descriptor 4)
   */
  constructor(pipeWrite: Writable, pipeRead: Readable, options: PipeTransportOptions = {}) {
    this.#write = pipeWrite;
    this.#read = pipeRead;
    this.#framing = new NulFraming(options.maxMessageBytes ?? defaultMaxMessageBytes);
    this.#maxQueuedBytes = options.maxQueuedBytes ?? defaultMaxQueuedBytes;
    // The error listeners stay for ever: a late EPIPE on a destroyed stream must not become an uncaught exception.
    pipeRead.on('error', (error) => this.#end('read_failed', messageOf(error), error));
    pipeWrite.on('error', (error) => this.#end('write_failed', messageOf(error), error));
    pipeRead.once('end', () => this.#end('ended', endedDetail));
    pipeRead.once('close', () => this.#end('ended', endedDetail));
    pipeWrite.once('close', () => {
      // When Chrome dies both sides close, this one perhaps first: its last replies are still to be read.
      if (!this.#reading) this.#end('ended', endedDetail);
    });
  }

  get onmessage(): (message: string) => void {
    return this.#onmessage;
  }

  /** The first handler starts the reading; undefined (puppeteer-core sets it when it lets go) drops what comes. */
  set onmessage(handler: ((message: string) => void) | undefined) {
    this.#onmessage = handler ?? ignore;
    if (handler === undefined || this.#reading || this.#reason !== undefined) return;
    this.#reading = true;
    this.#read.on('data', this.#onData);
    this.#read.resume(); // a stream that was paused stays so when a listener is added
  }

  /** Why the connection ended; undefined while it is open. */
  get closeReason(): PipeCloseReason | undefined {
    return this.#reason;
  }

  /** Resolves once, when the connection has ended, with the reason; never rejects. */
  get closed(): Promise<PipeCloseReason> {
    return this.#closed.promise;
  }

  /** Bytes that wait to be written because Chrome does not read them. */
  get queuedBytes(): number {
    return this.#write.writableLength;
  }

  /**
   * Sends one message. The stream keeps what Chrome does not read yet, in order; over the limit the connection closes
   * with `write_queue_full`: a Chrome that reads nothing answers nothing, and holding more for it only grows.
   *
   * @throws Error when the connection has ended
   */
  send(message: string): void {
    // A write on a destroyed stream fails without a word, and its caller would wait for ever.
    if (!this.#write.writable) this.#end('ended', endedDetail);
    if (this.#reason !== undefined) {
      throw new Error(`the connection to Chrome has ended (${this.#reason.kind}): ${this.#reason.detail}`);
    }
    if (message.includes('\0')) throw new Error('a message to Chrome cannot hold a NUL: it ends the message');
    this.#write.write(`${message}\0`, 'utf8');
    if (this.#write.writableLength > this.#maxQueuedBytes) {
      this.#end(
        'write_queue_full',
        `more than ${this.#maxQueuedBytes} bytes wait for a Chrome that does not read`,
      );
    }
  }

  /** Ends the connection. Chrome exits by itself when its pipe closes. A second call does nothing. */
  close(): void {
    this.#end('closed', 'closed by the service');
  }

  readonly #onData = (chunk: Buffer): void => {
    try {
      for (const message of this.#framing.push(chunk)) {
        if (!this.#deliver(message)) return;
      }
    } catch (error) {
      if (!(error instanceof MessageTooLargeError)) throw error;
      this.#end('message_too_large', error.message, error);
    }
  };

  /** False when the connection has ended, so that what follows in the chunk is dropped. */
  #deliver(message: string): boolean {
    try {
      this.#onmessage(message);
    } catch (error) {
      // Thrown on, it would end the whole service and with it every other session.
      this.#end('handler_failed', messageOf(error), error);
    }
    return this.#reason === undefined;
  }

  #end(kind: PipeCloseKind, detail: string, cause?: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = cause === undefined ? { kind, detail } : { kind, detail, cause };
    this.#read.off('data', this.#onData);
    this.#write.destroy();
    this.#read.destroy();
    this.#closed.resolve(this.#reason);
    this.onclose?.();
  }
}
