/**
 * Opens one TCP connection to one of several approved addresses (happy eyeballs, RFC 8305). Only literals are dialled:
 * `net.connect` asks no resolver for a literal, so what was judged is what is connected to. The address that the socket
 * ended up with is compared with the one that was asked for.
 */

import { connect, isIP, type Socket, SocketAddress } from 'node:net';
import { BulkReader } from './bulk-reader.ts';

export type DialFault =
  | 'refused'
  | 'host_unreachable'
  | 'network_unreachable'
  | 'timeout'
  | 'cancelled'
  | 'wrong_peer'
  | 'failed';

/** No connection could be made. */
export class DialError extends Error {
  override readonly name = 'DialError';
  readonly fault: DialFault;

  constructor(fault: DialFault, detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}

export interface DialOptions {
  readonly signal: AbortSignal;
  /** Head start of each address over the next. 250 ms is the RFC's recommendation. */
  readonly staggerMs?: number;
  /** For all addresses together. */
  readonly timeoutMs?: number;
  /** Prepare the socket for a `BulkReader`; it has no `data` events then. */
  readonly bulk?: boolean;
}

export interface Dialled {
  readonly socket: Socket;
  /** The reader of a socket that was dialled with `bulk`. */
  readonly bulk?: BulkReader;
  /** The address of `addresses` that answered first. */
  readonly address: string;
}

/** At most so many of a name's addresses are tried: 10 s have room for 40, no name needs so many. */
export const dialLimit = 16;

/**
 * The first connection that succeeds. The socket is paused, has no delay, and allows half-open use; its owner must
 * attach an `error` listener at once. All other attempts are destroyed.
 * @param addresses literals, in order of preference; families are interleaved
 * @throws {DialError}
 */
export async function dial(
  addresses: readonly string[],
  port: number,
  options: DialOptions,
): Promise<Dialled> {
  if (addresses.length === 0 || addresses.some((address) => isIP(address) === 0 || address.includes('%'))) {
    throw new DialError('failed', 'only address literals are dialled');
  }
  if (options.signal.aborted) throw new DialError('cancelled', 'cancelled before it was dialled');
  const race = new DialRace(interleave(addresses).slice(0, dialLimit), port, options);
  return await race.run();
}

class DialRace {
  readonly #addresses: string[];
  readonly #port: number;
  readonly #options: DialOptions;
  readonly #open = new Set<Socket>();
  readonly #faults: DialError[] = [];
  readonly #result = Promise.withResolvers<Dialled>();
  #stagger: NodeJS.Timeout | undefined;
  #done = false;

  constructor(addresses: string[], port: number, options: DialOptions) {
    this.#addresses = addresses;
    this.#port = port;
    this.#options = options;
  }

  async run(): Promise<Dialled> {
    const { signal, timeoutMs = 10_000 } = this.#options;
    const onAbort = (): void => this.#lose(new DialError('cancelled', 'cancelled while dialling'));
    signal.addEventListener('abort', onAbort, { once: true });
    const limit = setTimeout(() => this.#lose(new DialError('timeout', 'no answer in time')), timeoutMs);
    limit.unref();
    try {
      this.#nextAttempt();
      return await this.#result.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
      clearTimeout(limit);
      this.#finish();
    }
  }

  #nextAttempt(): void {
    clearTimeout(this.#stagger);
    const address = this.#addresses.shift();
    if (this.#done || address === undefined) return;
    this.#attempt(address);
    if (this.#addresses.length > 0) {
      this.#stagger = setTimeout(() => this.#nextAttempt(), this.#options.staggerMs ?? 250);
      this.#stagger.unref();
    }
  }

  #attempt(address: string): void {
    // The family is given, so that nothing (autoSelectFamily) tries another address on its own.
    const family = isIP(address);
    const bulk = this.#options.bulk === true ? new BulkReader() : undefined;
    const socket = connect({
      host: address,
      port: this.#port,
      family,
      noDelay: true,
      allowHalfOpen: true,
      ...(bulk === undefined ? {} : { onread: bulk.onread }),
    });
    this.#open.add(socket);
    socket.pause();
    socket.once('connect', () =>
      this.#connected({ socket, address, ...(bulk === undefined ? {} : { bulk }) }),
    );
    socket.on('error', (error) => this.#failed(socket, faultOf(error, address)));
  }

  #connected(dialled: Dialled): void {
    if (this.#done) return;
    const { socket, address } = dialled;
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || !sameAddress(remoteAddress, address)) {
      this.#failed(socket, new DialError('wrong_peer', `asked for ${address}, got ${remoteAddress}`));
      return;
    }
    this.#open.delete(socket);
    this.#done = true;
    this.#result.resolve(dialled);
  }

  #failed(socket: Socket, fault: DialError): void {
    if (!this.#open.delete(socket)) return;
    socket.destroy();
    this.#faults.push(fault);
    if (this.#addresses.length > 0) this.#nextAttempt();
    else if (this.#open.size === 0) this.#lose(this.#worst(fault));
  }

  /** Of several failures the one that says most: somebody refused, before nobody answered. */
  #worst(last: DialError): DialError {
    return this.#faults.find((fault) => fault.fault === 'refused') ?? last;
  }

  #lose(error: DialError): void {
    this.#done = true;
    this.#result.reject(error);
  }

  #finish(): void {
    this.#done = true;
    clearTimeout(this.#stagger);
    for (const socket of this.#open) socket.destroy();
    this.#open.clear();
  }
}

/** True when both texts are the same address, however each is spelt. */
export function sameAddress(one: string, other: string): boolean {
  return plainAddress(one) === plainAddress(other);
}

function plainAddress(address: string): string {
  const family = isIP(address);
  if (family === 0) return `not an address: ${address}`;
  return new SocketAddress({ address, family: family === 4 ? 'ipv4' : 'ipv6' }).address;
}

/** A, B, A, B …, beginning with the family of the first (RFC 8305 section 4). */
export function interleave(addresses: readonly string[]): string[] {
  const family = isIP(addresses[0] ?? '');
  const first = addresses.filter((address) => isIP(address) === family);
  const second = addresses.filter((address) => isIP(address) !== family);
  const mixed: string[] = [];
  for (let i = 0; i < Math.max(first.length, second.length); i++) {
    mixed.push(...first.slice(i, i + 1), ...second.slice(i, i + 1));
  }
  return mixed;
}

const faultByCode: Readonly<Record<string, DialFault>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'host_unreachable',
  EHOSTDOWN: 'host_unreachable',
  ENETUNREACH: 'network_unreachable',
  ENETDOWN: 'network_unreachable',
  EADDRNOTAVAIL: 'network_unreachable',
  ETIMEDOUT: 'timeout',
};

function faultOf(error: Error, address: string): DialError {
  const code = 'code' in error ? String(error.code) : '';
  return new DialError(faultByCode[code] ?? 'failed', `${address}: ${code || error.message}`, error);
}
