import { AirlockError, messageOf } from '../errors.ts';
import { decideHost, type SelfCheck } from '../policy/decide.ts';
import { Egress } from '../policy/egress.ts';
import { narrowPolicy, type Policy, parsePolicy } from '../policy/policy.ts';
import type { SessionSpec } from './spec.ts';

/** What a session may reach, and what it goes out through. */
export interface Reach {
  readonly policy: Policy;
  readonly egress?: Egress | undefined;
}

/**
 * What a caller asked for, under the policy of the service. The proxy is a destination like any other: one that the
 * policy denies is refused here, and not only when the first page does not load.
 * @throws AirlockError `invalid_policy`, `invalid_request` (the proxy's URL, which is not repeated), `policy_denied`
 */
export function reachOf(spec: SessionSpec, ceiling: { policy: Policy; self: SelfCheck }): Reach {
  const policy =
    spec.policy === undefined ? ceiling.policy : narrowPolicy(ceiling.policy, parsePolicy(spec.policy));
  if (spec.egress === undefined) return { policy };
  const egress = egressOf(spec.egress);
  const decision = decideHost(egress.host, egress.port, policy, { self: ceiling.self });
  if (decision.verdict === 'allow') return { policy, egress };
  const { verdict, reason, rule, address } = decision;
  throw new AirlockError('policy_denied', `The policy denies the proxy ${egress.redacted}: ${reason}`, {
    extra: {
      pointer: '/egress',
      decision: {
        target: `${egress.host}:${egress.port}`,
        verdict,
        reason,
        ...(rule === undefined ? {} : { rule }),
        ...(address === undefined ? {} : { address }),
      },
    },
  });
}

function egressOf(text: string): Egress {
  try {
    return Egress.parse(text, 'session');
  } catch (error) {
    throw new AirlockError('invalid_request', `/egress: ${messageOf(error)}`, {
      extra: { pointer: '/egress' },
    });
  }
}
