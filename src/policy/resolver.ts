/**
 * Name resolution for one session's floor: hosts file first, then DNS through c-ares.
 *
 * Not `dns.lookup`: getaddrinfo runs on libuv's four threads, so one session with slow names would stall file work and
 * names of all the others; it also reads `0x7f.1` or a name cut at NUL as 127.0.0.1.
 */

import { CANCELLED, promises as dns, NODATA, NOTFOUND, TIMEOUT } from 'node:dns';
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { HostsFile } from './hosts-file.ts';

export type ResolveFault = 'not_found' | 'timeout' | 'failed' | 'cancelled';

/** A name has no usable address. */
export class ResolveError extends Error {
  override readonly name = 'ResolveError';
  readonly fault: ResolveFault;

  constructor(fault: ResolveFault, host: string, cause?: unknown) {
    super(`${host}: ${faultText[fault]}`, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}

const faultText: Readonly<Record<ResolveFault, string>> = {
  not_found: 'the name does not exist or has no address',
  timeout: 'the name servers did not answer in time',
  failed: 'the name servers answered with a failure',
  cancelled: 'the lookup was cancelled',
};

export interface ResolverOptions {
  /** Name servers, `ip` or `ip:port`; the system's when absent. */
  readonly servers?: readonly string[];
  readonly hostsFile?: HostsFile;
  /** For the whole lookup, waiting for a place included. */
  readonly timeoutMs?: number;
  /** Lookups under way at the same time; more wait. Each is two queries. */
  readonly maxConcurrent?: number;
  /** The longest that an answer is used again, whatever its TTL says. */
  readonly maxCacheMs?: number;
}

interface Answer {
  readonly addresses: readonly string[];
  readonly ttlMs: number;
}

/** One family has answered; the other may take this long. RFC 8305 waits 50 ms, but here a late answer is lost. */
const otherFamilyMs = 1000;
/** Kept names. A page of the busiest news sites touches some 200. */
const cacheEntries = 1000;
/** A message of DNS over TCP has room for some 4 000 addresses; no honest name has this many. */
const answerLimit = 256;
/** What DNS may be asked for: letters, digits, hyphen and the underscore of service names. */
const queryable = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/;

const sharedHosts = new HostsFile();

export class Resolver {
  readonly #dns: dns.Resolver;
  readonly #hosts: HostsFile;
  readonly #timeoutMs: number;
  readonly #maxCacheMs: number;
  readonly #cache = new LRUCache<string, readonly string[]>({ max: cacheEntries });
  readonly #flights = new Map<string, Promise<readonly string[]>>();
  readonly #waiting: Array<() => void> = [];
  #free: number;
  #closed = false;

  constructor(options: ResolverOptions = {}) {
    this.#timeoutMs = options.timeoutMs ?? 5000;
    this.#maxCacheMs = options.maxCacheMs ?? 60_000;
    this.#free = options.maxConcurrent ?? 32;
    this.#hosts = options.hostsFile ?? sharedHosts;
    // Two tries, the second after 1.2 s: a lost packet is mended well inside the limit.
    this.#dns = new dns.Resolver({ timeout: 1200, tries: 2 });
    if (options.servers !== undefined) this.#dns.setServers([...options.servers]);
  }

  /**
   * Every address of `name`, IPv4 first. Lookups of one name at one time are one lookup; a signal only ends the
   * caller's own waiting.
   * @param name canonical: lower case, ASCII, no trailing dot
   * @throws {ResolveError} never an empty list
   */
  async resolve(name: string, signal?: AbortSignal): Promise<readonly string[]> {
    if (isLocalhost(name)) return ['127.0.0.1', '::1'];
    if (isIP(name) !== 0 || !queryable.test(name)) throw new ResolveError('failed', name);
    const cached = this.#cache.get(name);
    if (cached !== undefined) return cached;
    let flight = this.#flights.get(name);
    if (flight === undefined) {
      flight = this.#fly(name).finally(() => this.#flights.delete(name));
      this.#flights.set(name, flight);
    }
    return signal === undefined ? flight : untilAborted(flight, name, signal);
  }

  /** Ends every lookup. */
  close(): void {
    this.#closed = true;
    this.#dns.cancel();
    for (const wake of this.#waiting.splice(0)) wake();
    this.#cache.clear();
  }

  async #fly(name: string): Promise<readonly string[]> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new ResolveError('timeout', name)), this.#timeoutMs);
    timer.unref();
    try {
      return await Promise.race([this.#inTurn(name), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #inTurn(name: string): Promise<readonly string[]> {
    const named = await this.#hosts.lookup(name);
    if (named.length > 0) return named;
    const startedAt = performance.now();
    await this.#enter();
    try {
      // Whoever asked has been answered already: the name servers need not be troubled.
      if (performance.now() - startedAt >= this.#timeoutMs) throw new ResolveError('timeout', name);
      if (this.#closed) throw new ResolveError('cancelled', name);
      const answer = await this.#query(name);
      if (answer.ttlMs > 0) this.#cache.set(name, answer.addresses, { ttl: answer.ttlMs });
      return answer.addresses;
    } finally {
      this.#leave();
    }
  }

  async #query(name: string): Promise<Answer> {
    const four = this.#dns.resolve4(name, { ttl: true });
    const six = this.#dns.resolve6(name, { ttl: true });
    const [a, aaaa] = await settleBoth(four, six);
    const records = [...(a.value ?? []), ...(aaaa.value ?? [])];
    if (records.length === 0) throw whyNothing(name, [a.error, aaaa.error]);
    if (records.length > answerLimit) throw new ResolveError('failed', name);
    const ttlSec = Math.min(...records.map((record) => record.ttl));
    return {
      addresses: [...new Set(records.map((record) => record.address))],
      ttlMs: Math.min(Math.max(0, ttlSec * 1000), this.#maxCacheMs),
    };
  }

  async #enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const turn = Promise.withResolvers<void>();
    this.#waiting.push(turn.resolve);
    await turn.promise;
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

/** RFC 6761 section 6.3: these are loopback, and no question about them may reach a name server. */
export function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

interface Settled<T> {
  readonly value?: T;
  readonly error?: unknown;
}

/** Both results; once one has come with addresses the other is waited for only `otherFamilyMs`. */
async function settleBoth<T>(
  first: Promise<T[]>,
  second: Promise<T[]>,
): Promise<[Settled<T[]>, Settled<T[]>]> {
  const late = Promise.withResolvers<Settled<T[]>>();
  let timer: NodeJS.Timeout | undefined;
  const settle = async (promise: Promise<T[]>): Promise<Settled<T[]>> => {
    try {
      const value = await promise;
      if (value.length > 0 && timer === undefined) {
        timer = setTimeout(() => late.resolve({}), otherFamilyMs);
        timer.unref();
      }
      return { value };
    } catch (error) {
      return { error };
    }
  };
  try {
    return await Promise.all([
      Promise.race([settle(first), late.promise]),
      Promise.race([settle(second), late.promise]),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

function whyNothing(name: string, errors: readonly unknown[]): ResolveError {
  const codes = errors.map((error) => (error instanceof Error && 'code' in error ? error.code : undefined));
  // Only "there is no such thing" from both is an answer; anything else may be different the next time.
  const absent = codes.every((code) => code === NOTFOUND || code === NODATA);
  if (absent) return new ResolveError('not_found', name);
  if (codes.includes(CANCELLED)) return new ResolveError('cancelled', name);
  return new ResolveError(codes.includes(TIMEOUT) ? 'timeout' : 'failed', name, errors[0]);
}

function untilAborted<T>(promise: Promise<T>, name: string, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(ignore);
    return Promise.reject(new ResolveError('cancelled', name));
  }
  const stop = Promise.withResolvers<never>();
  const onAbort = (): void => stop.reject(new ResolveError('cancelled', name));
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([promise, stop.promise]).finally(() => signal.removeEventListener('abort', onAbort));
}

/** The lookup goes on for whoever else waits for it; this caller has already got its answer. */
function ignore(): void {
  return;
}
