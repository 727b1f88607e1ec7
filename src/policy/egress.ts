/**
 * A proxy that the floor's connections go out through. It is asked for the address that was judged, never for the
 * name: what a name leads to is decided here, once.
 */

import { request } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { SocksClient } from 'socks';
import { AirlockError, messageOf } from '../errors.ts';
import { DialError, type DialFault } from './dial.ts';

export type EgressKind = 'socks5' | 'http';

/** Who chose it. The operator's own is dialled as it is; a caller's must pass the policy like any destination. */
export type EgressOwner = 'service' | 'session';

/** Where to leave, and as whom. The credentials can be used but not read: no printer or serialiser shows them. */
export class Egress {
  readonly kind: EgressKind;
  readonly host: string;
  readonly port: number;
  readonly owner: EgressOwner;
  readonly #user: string | undefined;
  readonly #password: string | undefined;

  private constructor(url: URL, port: number, kind: EgressKind, owner: EgressOwner) {
    this.kind = kind;
    this.host = url.hostname.replace(/^\[|\]$/g, '');
    this.port = port;
    this.owner = owner;
    this.#user = url.username === '' ? undefined : decoded(url.username);
    this.#password = url.password === '' ? undefined : decoded(url.password);
  }

  /**
   * Reads `socks5://[user:password@]host[:port]` or `http://…` (a proxy that takes CONNECT). Ports default to 1080 and
   * 8080.
   * @throws {AirlockError} invalid_request; its text never repeats the URL
   */
  static parse(text: string, owner: EgressOwner): Egress {
    const url = URL.parse(text);
    const kind = kinds.get(url?.protocol ?? '');
    if (url === null || kind === undefined) throw invalid('must be a socks5:// or http:// URL');
    if (url.hostname === '' || url.port === '0') throw invalid('has no host, or port 0');
    if ((url.pathname !== '' && url.pathname !== '/') || url.search !== '' || url.hash !== '') {
      throw invalid('has more than a host and a port');
    }
    // The parser drops a port that is the scheme's own: whoever writes :80 does not mean 8080.
    const port = url.port || (/:(\d+)\/?$/.exec(text.trim())?.[1] ?? '');
    return new Egress(url, port === '' ? defaultPorts[kind] : Number(port), kind, owner);
  }

  /** To be shown: where it is, and that there are credentials, but not which. */
  get redacted(): string {
    const host = isIP(this.host) === 6 ? `[${this.host}]` : this.host;
    return `${this.kind}://${this.#user === undefined ? '' : '***@'}${host}:${this.port}`;
  }

  toJSON(): string {
    return this.redacted;
  }

  /**
   * Asks the proxy at the other end of `socket` for a connection to `address`. The socket comes back paused, with its
   * next byte the first of the destination's; when it fails the socket is destroyed.
   * @param socket connected to the proxy, paused
   * @param address a literal
   * @throws {DialError}
   */
  async ask(socket: Socket, address: string, port: number, options: AskOptions): Promise<void> {
    const stop = (): void => {
      socket.destroy();
    };
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]);
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (isIP(address) === 0) throw new DialError('failed', 'an egress proxy is asked for literals only');
      if (signal.aborted) throw new DialError('cancelled', 'cancelled before the egress proxy was asked');
      if (this.kind === 'socks5') await this.#askSocks(socket, address, port, options.timeoutMs);
      else await this.#askHttp(socket, address, port);
    } catch (error) {
      socket.destroy();
      throw this.#explain(error, options.signal, signal);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async #askSocks(socket: Socket, address: string, port: number, timeoutMs: number): Promise<void> {
    const credentials =
      this.#user === undefined ? {} : { userId: this.#user, password: this.#password ?? '' };
    const answered = SocksClient.createConnection({
      command: 'connect',
      // Only for the client's own check: the connection exists.
      proxy: { type: 5, host: this.host, port: this.port, ...credentials },
      destination: { host: address, port },
      existing_socket: socket,
      timeout: timeoutMs,
    });
    socket.resume();
    await answered;
    await rewind(socket);
  }

  async #askHttp(socket: Socket, address: string, port: number): Promise<void> {
    const authority = `${isIP(address) === 6 ? `[${address}]` : address}:${port}`;
    const headers: Record<string, string> = { host: authority };
    if (this.#user !== undefined) {
      const pair = Buffer.from(`${this.#user}:${this.#password ?? ''}`).toString('base64');
      headers['proxy-authorization'] = `Basic ${pair}`;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const ask = request({ method: 'CONNECT', path: authority, headers, createConnection: () => socket });
    ask.once('error', reject);
    // Any answer to CONNECT comes as this event, whatever its status (RFC 9110 section 9.3.6).
    ask.once('connect', (response, _socket, head) => {
      socket.pause();
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300) {
        if (head.length > 0) socket.unshift(head);
        resolve();
      } else {
        reject(new DialError(faultByStatus.get(status) ?? 'failed', `it answered ${status}`));
      }
    });
    ask.once('response', () => reject(new DialError('failed', 'it answered without a tunnel')));
    ask.end();
    socket.resume();
    await promise;
  }

  #explain(error: unknown, callers: AbortSignal, all: AbortSignal): DialError {
    const text = `egress proxy ${this.redacted}: ${messageOf(error)}`;
    if (callers.aborted) return new DialError('cancelled', text);
    if (all.aborted) return new DialError('timeout', text);
    if (error instanceof DialError) return new DialError(error.fault, text);
    const rejection = /rejected connection - (\w+)/.exec(messageOf(error))?.[1] ?? '';
    // The cause is left out: the client's error holds its options, and those the credentials.
    return new DialError(faultBySocksReply.get(rejection) ?? 'failed', text);
  }
}

export interface AskOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

const kinds: ReadonlyMap<string, EgressKind> = new Map([
  ['socks5:', 'socks5'],
  ['http:', 'http'],
]);

const defaultPorts: Readonly<Record<EgressKind, number>> = { socks5: 1080, http: 8080 };

/** The names that the SOCKS client gives to replies 3 to 6 of RFC 1928. */
const faultBySocksReply: ReadonlyMap<string, DialFault> = new Map([
  ['NetworkUnreachable', 'network_unreachable'],
  ['HostUnreachable', 'host_unreachable'],
  ['ConnectionRefused', 'refused'],
  ['TTLExpired', 'timeout'],
]);

const faultByStatus: ReadonlyMap<number, DialFault> = new Map([
  [502, 'host_unreachable'],
  [503, 'host_unreachable'],
  [504, 'timeout'],
]);

/**
 * After the SOCKS client is done it passes on what it read too much as a `data` event, in the next turn of the loop, and
 * lets the socket flow. Both are taken back.
 */
async function rewind(socket: Socket): Promise<void> {
  const early: Buffer[] = [];
  const collect = (chunk: Buffer): void => {
    early.push(chunk);
  };
  socket.on('data', collect);
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
  socket.off('data', collect);
  socket.pause();
  if (early.length > 0) socket.unshift(Buffer.concat(early));
}

/** RFC 1929 has one octet for the length of each. */
const credentialLimitBytes = 255;

function decoded(text: string): string {
  try {
    const plain = decodeURIComponent(text);
    if (Buffer.byteLength(plain) <= credentialLimitBytes) return plain;
  } catch {
    throw invalid('has credentials that are not percent-encoded');
  }
  throw invalid(`has credentials of more than ${credentialLimitBytes} bytes`);
}

function invalid(what: string): AirlockError {
  return new AirlockError('invalid_request', `egress ${what}`);
}
