/**
 * From a host and a port to addresses that may be dialled, or to a denial. The order is the boundary: the name is judged
 * before anybody is asked about it, it is resolved once, every address is judged, and one bad address denies all.
 */

import { canonicalHost } from './canonical.ts';
import { type DecideContext, decideAll, decideHost, type SelfCheck } from './decide.ts';
import { type Decision, deny } from './decision.ts';
import type { DecisionLog, DecisionStage } from './decision-log.ts';
import type { GuardQuestion } from './guard-hook.ts';
import type { Policy } from './policy.ts';
import { ResolveError, type Resolver } from './resolver.ts';

/** The policy said no. */
export class DeniedError extends Error {
  override readonly name = 'DeniedError';
  readonly stage: DecisionStage;
  readonly target: string;
  readonly decision: Decision;

  constructor(target: string, stage: DecisionStage, decision: Decision) {
    super(`${target} is denied (${decision.reason})`);
    this.target = target;
    this.stage = stage;
    this.decision = decision;
  }
}

/** May turn an allow into a deny, and nothing else. */
export interface Narrower {
  narrow(decision: Decision, question: GuardQuestion): Promise<Decision>;
}

export interface Approved {
  /** Canonical. */
  readonly host: string;
  readonly port: number;
  /** Literals, all of them approved. */
  readonly addresses: readonly string[];
  /** The policy that approved them; when it is no longer the current one they must be judged again. */
  readonly policy: Policy;
}

export interface AuthoriseOptions {
  readonly signal: AbortSignal;
  /** Asked last, and before DNS is. */
  readonly guard?: Narrower | undefined;
  /** For what the floor itself needs (a proxy, a guard's endpoint): only a denial is written down. */
  readonly quiet?: boolean;
}

export interface AuthoriserOptions {
  readonly policy: Policy;
  readonly self: SelfCheck;
  readonly resolver: Resolver;
  readonly log: DecisionLog;
}

export class Authoriser {
  policy: Policy;
  readonly #context: DecideContext;
  readonly #resolver: Resolver;
  readonly #log: DecisionLog;

  constructor(options: AuthoriserOptions) {
    this.policy = options.policy;
    this.#context = { self: options.self };
    this.#resolver = options.resolver;
    this.#log = options.log;
  }

  /**
   * @param host a name or an address, as it came
   * @throws {DeniedError} recorded in the log
   * @throws {ResolveError} the name was allowed but has no address
   */
  async authorise(host: string, port: number, options: AuthoriseOptions): Promise<Approved> {
    const { policy } = this;
    const judged = decideHost(host, port, policy, this.#context);
    this.#enforce(host, port, 'host', judged);
    const name = canonicalHost(host)?.text ?? host;
    if (options.guard !== undefined) {
      this.#enforce(name, port, 'guard', await options.guard.narrow(judged, { host: name, port }));
    }
    if (options.signal.aborted) throw new ResolveError('cancelled', name);
    const addresses = judged.needsResolution
      ? await this.#resolver.resolve(name, options.signal)
      : judged.addresses;
    const decision = decideAll(name, addresses, port, policy, this.#context);
    this.#enforce(name, port, 'address', decision);
    if (options.quiet !== true) this.#log.record({ stage: 'address', target: target(name, port), decision });
    return { host: name, port, addresses, policy };
  }

  /**
   * Judges again what was approved under an earlier policy, for the one address that is connected to.
   * @throws {DeniedError} recorded in the log
   */
  review(host: string, port: number, address: string): void {
    this.#enforce(host, port, 'host', decideHost(host, port, this.policy, this.#context));
    this.#enforce(host, port, 'address', decideAll(host, [address], port, this.policy, this.#context));
  }

  /** Writes down a request whose host cannot be read. */
  refuse(host: string): void {
    this.#log.record({ stage: 'host', target: host, decision: deny('invalid-host') });
  }

  #enforce(host: string, port: number, stage: DecisionStage, decision: Decision): void {
    if (decision.verdict === 'allow') return;
    this.#log.record({ stage, target: target(host, port), decision });
    throw new DeniedError(target(host, port), stage, decision);
  }
}

function target(host: string, port: number): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]:${port}` : `${host}:${port}`;
}
