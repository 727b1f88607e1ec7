/** A SOCKS5 client made of raw bytes, so that a test can also send what no honest client would. */

import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';

export const greeting = Uint8Array.of(5, 1, 0);

/** A CONNECT by name (also for addresses in text, as Chrome does). */
export function requestBytes(host: string | Uint8Array, port: number, command = 1): Uint8Array {
  const name = typeof host === 'string' ? Buffer.from(host, 'latin1') : host;
  return Uint8Array.of(5, command, 0, 3, name.length, ...name, port >> 8, port & 0xff);
}

/** A CONNECT by IPv4 address in four bytes. */
export function requestIPv4(address: string, port: number): Uint8Array {
  if (isIP(address) !== 4) throw new Error(`not IPv4: ${address}`);
  return Uint8Array.of(5, 1, 0, 1, ...address.split('.').map(Number), port >> 8, port & 0xff);
}

export interface FloorEnd {
  readonly address: string;
  readonly port: number;
}

/** A TCP connection whose received bytes can be awaited by number. */
export class RawClient implements Disposable {
  readonly socket: Socket;
  #chunks: Buffer[] = [];
  #length = 0;
  #broken = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#length += chunk.length;
    });
    socket.on('error', () => {
      this.#broken = true;
    });
  }

  static async open(floor: FloorEnd): Promise<RawClient> {
    const socket = connect({ host: floor.address, port: floor.port, allowHalfOpen: true });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  /** True when the connection ended with an error (a reset). */
  get broken(): boolean {
    return this.#broken;
  }

  send(...parts: Uint8Array[]): this {
    this.socket.write(Buffer.concat(parts));
    return this;
  }

  /** Takes the next `count` bytes; fewer when the connection ends first. */
  async take(count: number): Promise<Buffer> {
    while (this.#length < count && !this.#ended()) await this.#event();
    const all = Buffer.concat(this.#chunks);
    const rest = all.subarray(count);
    this.#chunks = [rest];
    this.#length = rest.length;
    return all.subarray(0, count);
  }

  /** Everything until the other side ends or breaks the connection. */
  async rest(): Promise<Buffer> {
    while (!this.#ended()) await this.#event();
    return this.take(this.#length);
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  #ended(): boolean {
    return this.socket.readableEnded || this.socket.destroyed;
  }

  /** The next thing that happens to the socket. */
  #event(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const names = ['data', 'end', 'close'];
    for (const name of names) this.socket.once(name, resolve);
    return promise.finally(() => {
      for (const name of names) this.socket.off(name, resolve);
    });
  }
}

/** A whole handshake. @returns the client, and the reply code (undefined when there was no reply) */
export async function socksConnect(
  floor: FloorEnd,
  host: string,
  port: number,
): Promise<{ client: RawClient; reply: number | undefined }> {
  const client = await RawClient.open(floor);
  client.send(greeting, requestBytes(host, port));
  const answer = await client.take(2 + 10);
  return { client, reply: answer[3] };
}
