import { hostname, networkInterfaces } from 'node:os';
import { classOf, embeddedIn, parseAddress } from './address.ts';
import { canonicalHost } from './canonical.ts';
import { isLoopbackAlias } from './special-names.ts';

/** Interfaces come and go (containers, VPNs); reading them takes about 0.1 ms, so not on every call. */
const refreshMs = 2000;

/** Where a listener is that is reached by any address of this machine, for all we know. */
const ANYWHERE = '*';

/**
 * The ports of this service on this machine: API, floors, debugging ports. A session must not reach them, whatever the
 * rules say.
 *
 * A floor listens on a loopback address that nothing else has, so it is refused there and only there: its port number is
 * a random one, and on another address it may be that of a server that the operator opened. All other listeners are
 * refused at every address of the machine.
 */
export class SelfRegistry {
  /** By port and address: how many listeners. */
  readonly #listeners = new Map<number, Map<string, number>>();
  #addresses: ReadonlySet<string> = new Set();
  #readAt = Number.NEGATIVE_INFINITY;

  /**
   * Call when a listener has its port. Counted: the same port twice is added twice.
   * @param only the IPv4 loopback address that the listener is bound to, if it is its own; without it, any address
   */
  add(port: number, only?: string): void {
    const at = this.#listeners.get(port) ?? new Map<string, number>();
    const key = keyOf(only);
    at.set(key, (at.get(key) ?? 0) + 1);
    this.#listeners.set(port, at);
  }

  /** Call when the listener is closed, with what it was added with. Removing what was not added does nothing. */
  remove(port: number, only?: string): void {
    const at = this.#listeners.get(port);
    const key = keyOf(only);
    const count = at?.get(key) ?? 0;
    if (count > 1) at?.set(key, count - 1);
    else at?.delete(key);
    if (at?.size === 0) this.#listeners.delete(port);
  }

  /** Is this one of our listeners, by any spelling? A host that cannot be read counts as one. */
  isSelf(host: string, port: number): boolean {
    const at = this.#listeners.get(port);
    if (at === undefined) return false;
    if (at.has(ANYWHERE) && this.#isThisMachine(host)) return true;
    return isOneOf(host, at);
  }

  #isThisMachine(text: string): boolean {
    const host = canonicalHost(text);
    if (host === undefined) return true;
    if (host.kind === 'name') return isLoopbackAlias(host.text) || host.text === hostname().toLowerCase();
    const own = this.#interfaceAddresses();
    return [host.address, ...embeddedIn(host.address).map(({ address }) => address)].some((address) => {
      const cls = classOf(address);
      // Linux takes a connect to 0.0.0.0 or :: as one to loopback.
      return cls === 'loopback' || cls === 'unspecified' || own.has(address.text);
    });
  }

  #interfaceAddresses(): ReadonlySet<string> {
    const now = performance.now();
    if (now - this.#readAt < refreshMs) return this.#addresses;
    const found = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    // Link-local addresses come with a zone on some systems.
    this.#addresses = new Set(
      found.map(({ address }) => parseAddress(address.replace(/%.*$/, ''))?.text ?? address),
    );
    this.#readAt = now;
    return this.#addresses;
  }
}

/** The usual loopback address is everybody's: a listener there counts as one anywhere. */
function keyOf(only: string | undefined): string {
  return only === undefined || only === '127.0.0.1' ? ANYWHERE : only;
}

/** A name resolves to an alias of loopback only through an answer of DNS, whose addresses are judged one by one. */
function isOneOf(text: string, listeners: ReadonlyMap<string, number>): boolean {
  const host = canonicalHost(text);
  if (host === undefined) return true;
  if (host.kind === 'name') return false;
  return [host.address, ...embeddedIn(host.address).map(({ address }) => address)].some((address) =>
    listeners.has(address.text),
  );
}
