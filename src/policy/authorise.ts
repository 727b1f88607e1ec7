/**
 * From a host and a port to addresses that may be dialled, or to a denial. The order is the boundary: the name is judged
 * before anybody is asked about it, it is resolved once, every address is judged, and one bad address denies all.
 */

import { isIP } from 'node:net';
import { decideAll, decideHost } from './decide.ts';
import type { Decision } from './decision.ts';
import type { DecisionLog, DecisionStage } from './decision-log.ts';
import type { Policy } from './policy.ts';
import type { Resolver } from './resolver.ts';
import type { SelfCheck } from './decide.ts';

/** The policy said no. */
export class DeniedError extends Error {
  override readonly name = 'DeniedError';
  readonly stage: DecisionStage;
  readonly decision: Decision;

  constructor(target: string, stage: DecisionStage, decision: Decision) {
    super(`${target} is denied (${decision.reason})`);
    this.stage = stage;
    this.decision = decision;
  }
}

/** What the guard hook is asked about a connection. */
export interface HostGuard {
  judge(target: { readonly host: string; readonly port: number }, signal: AbortSignal): Promise<Decision>;
}

export interface Approved {
  readonly host: string;
  readonly port: number;
  /** Literals, all of them approved. */
  readonly addresses: readonly string[];
  /** The policy that approved them; when it is no longer the current one they must be judged again. */
  readonly policy: Policy;
}

export interface AuthoriserOptions {
  readonly policy: Policy;
  readonly self: SelfCheck;
  readonly resolver: Resolver;
  readonly log: DecisionLog;
  readonly guard?: HostGuard | undefined;
}

export class Authoriser {
  policy: Policy;
  readonly #self: SelfCheck;
  readonly #resolver: Resolver;
  readonly #log: DecisionLog;
  readonly #guard: HostGuard | undefined;

  constructor(options: AuthoriserOptions) {
    this.policy = options.policy;
    this.#self = options.self;
    this.#resolver = options.resolver;
    this.#log = options.log;
    this.#guard = options.guard;
  }

  /**
   * @param host a name or an address, as it came
   * @throws {DeniedError} recorded in the log
   * @throws {ResolveError} the name was allowed but has no address
   */
  async authorise(host: string, port: number, signal: AbortSignal): Promise<Approved> {
    const policy = this.policy;
    const judged = judge(() => decideHost(host, port, policy, { self: this.#self }));
    this.#enforce(host, port, 'host', judged);
    if (this.#guard !== undefined) await this.#askGuard(this.#guard, host, port, signal);
    const addresses = judged.needsResolution
      ? await this.#resolver.resolve(host, signal)
      : [judged.address ?? host];
    const decision = judge(() => decideAll(host, addresses, port, policy, { self: this.#self }));
    this.#enforce(host, port, 'address', decision);
    this.#log.record({ stage: 'address', target: target(host, port), decision });
    return { host, port, addresses, policy };
  }

  /**
   * Judges again what was approved under an earlier policy, for the one address that is connected to.
   * @throws {DeniedError} recorded in the log
   */
  review(host: string, port: number, address: string): void {
    const { policy } = this;
    const options = { self: this.#self };
    this.#enforce(
      host,
      port,
      'host',
      judge(() => decideHost(host, port, policy, options)),
    );
    this.#enforce(
      host,
      port,
      'address',
      judge(() => decideAll(host, [address], port, policy, options)),
    );
  }

  /** Writes down a denial that was reached without the policy: a host that cannot even be read. */
  refuse(host: string, port: number | undefined): void {
    const decision: Decision = { verdict: 'deny', reason: 'invalid-host' };
    this.#log.record({ stage: 'host', target: target(host, port), decision });
  }

  async #askGuard(guard: HostGuard, host: string, port: number, signal: AbortSignal): Promise<void> {
    this.#enforce(host, port, 'guard', await guard.judge({ host, port }, signal));
  }

  #enforce(host: string, port: number, stage: DecisionStage, decision: Decision): void {
    if (decision.verdict === 'allow') return;
    this.#log.record({ stage, target: target(host, port), decision });
    throw new DeniedError(target(host, port), stage, decision);
  }
}

/** A decision that fails is a denial. */
function judge<T extends Decision>(decide: () => T): T | (Decision & { needsResolution: false }) {
  try {
    return decide();
  } catch {
    return { verdict: 'deny', reason: 'internal', needsResolution: false };
  }
}

function target(host: string, port: number | undefined): string {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return port === undefined ? name : `${name}:${port}`;
}
