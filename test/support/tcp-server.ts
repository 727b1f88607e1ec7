/** A TCP server on loopback that counts: what a denied connection must never reach. */

import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

export class TcpServer implements AsyncDisposable {
  /** Connections accepted, ever. */
  accepted = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(onConnection: (socket: Socket) => void) {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.accepted += 1;
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => this.#sockets.delete(socket));
      onConnection(socket);
    });
  }

  /** @param onConnection by default everything is echoed */
  static async start(onConnection: (socket: Socket) => void = echo, host = '127.0.0.1'): Promise<TcpServer> {
    const server = new TcpServer(onConnection);
    server.#server.listen(0, host);
    await once(server.#server, 'listening');
    return server;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the server is not listening');
    return address.port;
  }

  get open(): number {
    return this.#sockets.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }
}

/** Sends back what comes, and ends when the other side does. */
export function echo(socket: Socket): void {
  socket.pipe(socket);
}

/** A port of 127.0.0.1 on which nothing listens: one that was free a moment ago. */
export async function closedPort(): Promise<number> {
  await using server = await TcpServer.start();
  return server.port;
}
