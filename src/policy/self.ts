import { hostname, networkInterfaces } from 'node:os';
import { classOf, embeddedIn, parseAddress } from './address.ts';
import { canonicalHost } from './canonical.ts';
import { isLoopbackAlias } from './special-names.ts';

/** Interfaces come and go (containers, VPNs); reading them takes about 0.1 ms, so not on every call. */
const refreshMs = 2000;

/**
 * The ports of this service on this machine: API, floors, debugging ports. A session must not reach them, whatever the
 * rules say, by any address of the machine.
 */
export class SelfRegistry {
  readonly #ports = new Map<number, number>();
  #addresses: ReadonlySet<string> = new Set();
  #readAt = Number.NEGATIVE_INFINITY;

  /** Call when a listener has its port. Counted: the same port on two addresses is added twice. */
  add(port: number): void {
    this.#ports.set(port, (this.#ports.get(port) ?? 0) + 1);
  }

  /** Call when the listener is closed. Removing what was not added does nothing. */
  remove(port: number): void {
    const count = this.#ports.get(port) ?? 0;
    if (count <= 1) this.#ports.delete(port);
    else this.#ports.set(port, count - 1);
  }

  /** Is this one of our ports on an address of this machine? A host that cannot be read counts as this machine. */
  isSelf(host: string, port: number): boolean {
    return this.#ports.has(port) && this.#isThisMachine(host);
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
