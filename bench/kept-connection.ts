import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** What came back, its body not looked at. */
export interface RawAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

interface Head {
  readonly status: number;
  readonly contentType: string;
  /** Where the body begins and ends, in bytes from the beginning of the answer. */
  readonly start: number;
  readonly end: number;
  /** The other end closes after it. */
  readonly last: boolean;
}

const END_OF_HEAD = '\r\n\r\n';

/**
 * One kept HTTP/1.1 connection, for one request at a time, with bodies whose length is told: all that the services here send.
 * By hand, because what a client takes is in every figure over HTTP, and any client for Node takes more than some of the
 * services that are measured with it.
 */
export class KeptConnection {
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #head: Head | undefined;
  #asked: PromiseWithResolvers<RawAnswer> | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#asked?.reject(error));
    socket.on('close', () => this.#asked?.reject(new Error('the connection was closed before the answer')));
  }

  /** @throws Error the connection was refused */
  static async open(hostname: string, port: number): Promise<KeptConnection> {
    const socket = connect(port, hostname);
    await once(socket, 'connect');
    return new KeptConnection(socket);
  }

  /** False once it is closed: the other end does so when it says so, or when nothing was asked for a while. */
  get usable(): boolean {
    return !this.#socket.destroyed && this.#socket.writable && this.#socket.readable;
  }

  /** @throws Error the connection broke, or the answer is none of the kind that this reads */
  ask(request: string): Promise<RawAnswer> {
    this.#asked = Promise.withResolvers();
    this.#socket.write(request);
    return this.#asked.promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    try {
      this.#head ??= headOf(this.#whole());
      if (this.#head && this.#bytes >= this.#head.end) this.#answer(this.#head);
    } catch (error) {
      this.#asked?.reject(error);
      this.close();
    }
  }

  #answer({ status, contentType, start, end, last }: Head): void {
    const body = this.#whole().toString('utf8', start, end);
    this.#chunks = [];
    this.#bytes = 0;
    this.#head = undefined;
    if (last) this.close();
    this.#asked?.resolve({ status, contentType, body });
  }

  #whole(): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && this.#chunks.length === 1) return first;
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }
}

/** @throws Error it has no length */
function headOf(answer: Buffer): Head | undefined {
  const length = answer.indexOf(END_OF_HEAD);
  if (length === -1) return undefined;
  const text = answer.toString('latin1', 0, length);
  const bytes = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
  if (bytes === undefined) throw new Error(`an answer without a length: ${text}`);
  const start = length + END_OF_HEAD.length;
  return {
    status: Number(text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)),
    contentType: /\r\ncontent-type: *([^\r]*)/i.exec(text)?.[1] ?? '',
    start,
    end: start + Number(bytes),
    last: /\r\nconnection: *close/i.test(text),
  };
}
