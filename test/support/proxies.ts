/** Egress proxies that do the real thing: a SOCKS5 server (RFC 1928, RFC 1929) and an HTTP one that takes CONNECT. */

import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

export interface ProxyOptions {
  /** Required of clients when given. */
  readonly credentials?: Credentials;
  /** Answers with this SOCKS reply, or HTTP status, instead of connecting. */
  readonly refuseWith?: number;
  /** Takes the connection and never answers. */
  readonly mute?: boolean;
  /** Sends this right after its answer, in the same packet. */
  readonly early?: string;
}

export class EgressProxy implements AsyncDisposable {
  /** What clients asked for, as `host:port`, and how the host was given. */
  readonly targets: Array<{ readonly host: string; readonly port: number; readonly byName: boolean }> = [];
  readonly #sockets = new Set<Duplex>();
  #server: Server | undefined;

  static async socks5(options: ProxyOptions = {}): Promise<EgressProxy> {
    const proxy = new EgressProxy();
    return await proxy.#listen(
      createServer({ allowHalfOpen: true }, (socket) => {
        proxy.#keep(socket);
        if (options.mute !== true) proxy.#serveSocks(socket, options).catch(() => socket.destroy());
      }),
    );
  }

  static async http(options: ProxyOptions = {}): Promise<EgressProxy> {
    const proxy = new EgressProxy();
    const server = createHttpServer((_request, response) => response.writeHead(405).end());
    server.on('connection', (socket) => proxy.#keep(socket));
    server.on('connect', (request, socket) => {
      if (options.mute === true) return;
      const { credentials } = options;
      const wanted =
        credentials === undefined
          ? undefined
          : `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`;
      if (wanted !== undefined && request.headers['proxy-authorization'] !== wanted) {
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
        return;
      }
      const { hostname, port } = new URL(`http://${request.url}`);
      const host = hostname.replace(/^\[|\]$/g, '');
      proxy.#note(host, Number(port), false);
      if (options.refuseWith !== undefined) {
        socket.end(`HTTP/1.1 ${options.refuseWith} No\r\n\r\n`);
        return;
      }
      proxy.#join(socket, host, Number(port), `HTTP/1.1 200 OK\r\n\r\n${options.early ?? ''}`);
    });
    return await proxy.#listen(server);
  }

  get port(): number {
    const address = this.#server?.address();
    if (typeof address !== 'object' || address === null) throw new Error('the proxy is not listening');
    return address.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const server = this.#server;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    await closed;
  }

  async #listen(server: Server): Promise<this> {
    this.#server = server;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return this;
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #note(host: string, port: number, byName: boolean): void {
    this.targets.push({ host, port, byName });
  }

  #join(socket: Duplex, host: string, port: number, answer: string | Buffer): void {
    const upstream = connect({ port, host, allowHalfOpen: true });
    this.#keep(upstream);
    upstream.once('connect', () => {
      socket.write(answer);
      socket.pipe(upstream).pipe(socket);
    });
    upstream.once('error', () => socket.destroy());
  }

  async #serveSocks(socket: Socket, options: ProxyOptions): Promise<void> {
    const methods = await take(socket, 2);
    await take(socket, methods.readUInt8(1));
    if (options.credentials === undefined) {
      socket.write(Uint8Array.of(5, 0));
    } else {
      socket.write(Uint8Array.of(5, 2));
      const user = await take(socket, (await take(socket, 2)).readUInt8(1));
      const password = await take(socket, (await take(socket, 1)).readUInt8(0));
      const right =
        user.toString() === options.credentials.user && password.toString() === options.credentials.password;
      socket.write(Uint8Array.of(1, right ? 0 : 1));
      if (!right) return;
    }
    const type = (await take(socket, 4)).readUInt8(3);
    const host = await readHost(socket, type);
    const port = (await take(socket, 2)).readUInt16BE(0);
    this.#note(host, port, type === 3);
    const answer = Uint8Array.of(5, options.refuseWith ?? 0, 0, 1, 0, 0, 0, 0, 0, 0);
    if (options.refuseWith !== undefined) socket.end(answer);
    else this.#join(socket, host, port, Buffer.concat([answer, Buffer.from(options.early ?? '')]));
  }
}

async function readHost(socket: Socket, type: number): Promise<string> {
  if (type === 1) return (await take(socket, 4)).join('.');
  if (type === 3) return (await take(socket, (await take(socket, 1)).readUInt8(0))).toString('latin1');
  const bytes = await take(socket, 16);
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(i * 2).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

async function take(socket: Socket, count: number): Promise<Buffer> {
  if (count === 0) return Buffer.alloc(0);
  for (;;) {
    const bytes: unknown = socket.read(count);
    if (Buffer.isBuffer(bytes)) return bytes;
    if (socket.readableEnded || socket.destroyed) throw new Error('the client has gone');
    await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
  }
}
