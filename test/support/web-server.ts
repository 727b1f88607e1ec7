/** An HTTP server on loopback that counts what reaches it, down to the bare TCP connection. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export type WebHandler = (request: IncomingMessage, response: ServerResponse) => void;

export class WebServer implements AsyncDisposable {
  /** Connections accepted, ever. */
  connections = 0;
  /** `METHOD host/path` of every request. */
  readonly requests: string[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(handler: WebHandler) {
    this.#server = createServer((request, response) => {
      this.requests.push(`${request.method} ${request.headers.host}${request.url}`);
      handler(request, response);
    });
    this.#server.on('upgrade', (request, socket) => {
      this.requests.push(`${request.method} ${request.headers.host}${request.url}`);
      socket.destroy();
    });
    this.#server.on('connection', (socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** @param host by default both loopbacks, where the system has both */
  static async start(handler: WebHandler = anything, host?: string): Promise<WebServer> {
    const server = new WebServer(handler);
    await server.#listen(host ?? '::').catch(() => server.#listen('127.0.0.1'));
    return server;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the server is not listening');
    return address.port;
  }

  url(path = '/', host = 'localhost'): string {
    return `http://${host}:${this.port}${path}`;
  }

  /** Forgets what it has counted. */
  clear(): void {
    this.connections = 0;
    this.requests.length = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  async #listen(host: string): Promise<void> {
    this.#server.listen(0, host);
    await once(this.#server, 'listening');
  }
}

/** Answers whatever is asked, for whoever asks, with a type that fits the name. */
export function anything(request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? '/', 'http://x');
  const type = pathname.endsWith('.js')
    ? 'text/javascript'
    : pathname.endsWith('.css')
      ? 'text/css'
      : 'text/html; charset=utf-8';
  response.writeHead(200, {
    'content-type': type,
    'access-control-allow-origin': request.headers.origin ?? '*',
    'access-control-allow-headers': '*',
    'access-control-allow-methods': '*',
    'access-control-allow-credentials': 'true',
    connection: 'close',
  });
  response.end();
}
