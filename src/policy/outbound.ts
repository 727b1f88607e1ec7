/**
 * The one way out: `open` authorises and connects, for Chrome and for our own fetches alike. It knows the policy, the
 * guards and the egress proxy; it does not know who asks.
 */

import type { Socket } from 'node:net';
import { Authoriser, type AuthoriserOptions, type Narrower } from './authorise.ts';
import type { BulkReader } from './bulk-reader.ts';
import { canonicalHost } from './canonical.ts';
import type { Decision } from './decision.ts';
import { DialError, type Dialled, dial, dialLimit, interleave } from './dial.ts';
import type { Egress } from './egress.ts';
import { GuardHook, type GuardQuestion } from './guard-hook.ts';
import type { Policy } from './policy.ts';
import type { Resolver } from './resolver.ts';

/** An open connection, and what it was approved for. */
export interface Link {
  readonly host: string;
  readonly port: number;
  /** The address that is connected to, or that the egress proxy was asked for. */
  readonly address: string;
  /** The address of the egress proxy. */
  readonly via?: string;
  readonly socket: Socket;
  /** How to read the socket, when it was opened with `bulk` and without an egress proxy. */
  readonly bulk?: BulkReader;
}

export interface OpenOptions {
  readonly signal: AbortSignal;
  /** The bytes are only passed on. */
  readonly bulk?: boolean;
}

interface Ask extends OpenOptions {
  /** Absent for what the floor itself needs: the guards are not asked about their own endpoints. */
  readonly guard?: Narrower;
}

export interface OutboundOptions extends AuthoriserOptions {
  readonly egress?: Egress | undefined;
  /** For all addresses of one connect, the egress proxy's answers included. */
  readonly dialMs: number;
  /** Told to the guards with every question. */
  readonly guardContext?: Readonly<Record<string, string>> | undefined;
}

export class Outbound implements AsyncDisposable {
  readonly #options: OutboundOptions;
  readonly #authoriser: Authoriser;
  readonly #resolver: Resolver;
  #egress: Egress | undefined;
  #guards: readonly GuardHook[];
  /** Guards of earlier policies, being closed. */
  readonly #retired: Array<Promise<void>> = [];

  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#authoriser = new Authoriser(options);
    this.#resolver = options.resolver;
    this.#egress = options.egress;
    this.#guards = this.#makeGuards(options.policy);
  }

  get policy(): Policy {
    return this.#authoriser.policy;
  }

  /** What is asked from now on is judged by `policy`; questions to the guards of the old one end as denials. */
  setPolicy(policy: Policy): void {
    this.#retired.push(...this.#guards.map((guard) => guard.close()));
    this.#authoriser.policy = policy;
    this.#guards = this.#makeGuards(policy);
  }

  get egress(): Egress | undefined {
    return this.#egress;
  }

  /** Connections go out through this proxy from now on; those that are open stay as they are. */
  setEgress(egress: Egress | undefined): void {
    this.#egress = egress;
  }

  /** Asks the guards of the policy, all of which must agree; a deny is handed back as it is. Never rejects. */
  async narrow(decision: Decision, question: GuardQuestion): Promise<Decision> {
    let narrowed = decision;
    for (const guard of this.#guards) narrowed = await guard.narrow(narrowed, question);
    return narrowed;
  }

  /**
   * A connection to `host`, if the policy and the guards let it through.
   * @throws {DeniedError}
   * @throws {ResolveError}
   * @throws {DialError}
   */
  open(host: string, port: number, options: OpenOptions): Promise<Link> {
    return this.#open(host, port, { ...options, guard: this });
  }

  /** Does the policy of now let an open connection through? A denial is recorded. */
  passes(link: Link): boolean {
    try {
      this.#review(link);
      return true;
    } catch {
      // Denied, and written down by the review.
      return false;
    }
  }

  /** Writes down a request whose host cannot be read. */
  refuse(host: string): void {
    this.#authoriser.refuse(host);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#resolver.close();
    await Promise.all([...this.#retired, ...this.#guards.map((guard) => guard.close())]);
  }

  async #open(host: string, port: number, ask: Ask): Promise<Link> {
    const { signal, guard } = ask;
    const approved = await this.#authoriser.authorise(host, port, {
      signal,
      guard,
      quiet: guard === undefined,
    });
    const reached = await this.#reach(approved.addresses, port, ask);
    const { socket } = reached;
    const link: Link = { host: approved.host, port, ...reached };
    socket.on('error', leaveToClose);
    try {
      if (approved.policy !== this.policy) this.#review(link);
      if (signal.aborted) throw new DialError('cancelled', 'cancelled when it was connected');
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return link;
  }

  #review(link: Link): void {
    this.#authoriser.review(link.host, link.port, link.address);
    const egress = this.#egress;
    if (link.via !== undefined && egress?.owner === 'session') {
      this.#authoriser.review(egress.host, egress.port, link.via);
    }
  }

  async #reach(addresses: readonly string[], port: number, options: OpenOptions): Promise<Reached> {
    const egress = this.#egress;
    const { dialMs } = this.#options;
    const { signal, bulk = false } = options;
    if (egress === undefined) return await dial(addresses, port, { signal, bulk, timeoutMs: dialMs });
    const until = performance.now() + dialMs;
    let failure = new DialError('failed', 'there is no address to ask for');
    for (const address of interleave(addresses).slice(0, dialLimit)) {
      const timeoutMs = Math.ceil(until - performance.now());
      if (timeoutMs <= 0)
        throw new DialError('timeout', `egress proxy ${egress.redacted}: no answer in time`);
      const upstream = await this.#dialEgress(egress, signal, timeoutMs);
      try {
        await egress.ask(upstream.socket, address, port, { signal, timeoutMs });
        return { socket: upstream.socket, address, via: upstream.address };
      } catch (error) {
        if (!(error instanceof DialError) || !worthAnother.has(error.fault)) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  async #dialEgress(egress: Egress, signal: AbortSignal, timeoutMs: number): Promise<Dialled> {
    const addresses = await this.#egressAddresses(egress, signal);
    try {
      const dialled = await dial(addresses, egress.port, { signal, timeoutMs });
      dialled.socket.on('error', leaveToClose);
      return dialled;
    } catch (error) {
      if (!(error instanceof DialError)) throw error;
      // That the proxy refused says nothing about the destination.
      const fault = error.fault === 'cancelled' ? 'cancelled' : 'failed';
      throw new DialError(fault, `egress proxy ${egress.redacted}: ${error.message}`, error);
    }
  }

  async #egressAddresses(egress: Egress, signal: AbortSignal): Promise<readonly string[]> {
    const { host, port, owner } = egress;
    if (owner === 'session') {
      return (await this.#authoriser.authorise(host, port, { signal, quiet: true })).addresses;
    }
    const known = canonicalHost(host);
    if (known === undefined) throw new DialError('failed', `egress proxy ${egress.redacted}: not a host`);
    return known.kind === 'address' ? [known.text] : await this.#resolver.resolve(known.text, signal);
  }

  /** A session's guard is a destination like any other; only the operator's is asked directly. */
  #makeGuards(policy: Policy): readonly GuardHook[] {
    const context = this.#options.guardContext;
    return policy.guards.map(({ url, timeoutMs, from }) => {
      const open =
        from === 'service'
          ? undefined
          : async (host: string, port: number, signal: AbortSignal) =>
              (await this.#open(host, port, { signal })).socket;
      return new GuardHook({ url, timeoutMs, context, open });
    });
  }
}

interface Reached extends Dialled {
  readonly via?: string;
}

/** Faults of one address that another of the same name may not have. */
const worthAnother: ReadonlySet<string> = new Set(['refused', 'host_unreachable', 'network_unreachable']);

/** A broken connection is followed by `close`, and that is where it is dealt with. */
function leaveToClose(): void {
  return;
}
