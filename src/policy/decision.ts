/** What the policy answered. The same words reach the log, the metrics, the client and the problem document. */

export type Verdict = 'allow' | 'deny';

/** Why, in one word. `ok` is the only reason of an allow. */
export const reasons = [
  'ok',
  // what the target is
  'loopback',
  'private',
  'link-local',
  'metadata',
  'cgnat',
  'reserved',
  'multicast',
  'broadcast',
  'unspecified',
  'v4-mapped',
  'v4-compatible',
  'nat64',
  'siit',
  '6to4',
  'teredo',
  'ula',
  'site-local',
  'special-name',
  'dns-alias',
  // what its name led to
  'dns-failure',
  'dns-rebinding',
  // how it was written
  'invalid-host',
  'invalid-url',
  'userinfo',
  'scheme',
  'port',
  // what the operator, or this service, said
  'not-allowlisted',
  'rule',
  'self',
  'mode',
  'guard',
  'internal',
] as const;

export type Reason = (typeof reasons)[number];

export interface Decision {
  readonly verdict: Verdict;
  readonly reason: Reason;
  /** The rule that decided, as `policyToJson` prints it. */
  readonly rule?: string;
  /** The address that decided, in canonical text. */
  readonly address?: string;
}

export interface DecisionDetail {
  readonly rule?: string | undefined;
  readonly address?: string | undefined;
}

/** An allow; its reason is always `ok`. */
export function allow(detail: DecisionDetail = {}): Decision {
  return withDetail({ verdict: 'allow', reason: 'ok' }, detail);
}

/** A deny, with why. */
export function deny(reason: Exclude<Reason, 'ok'>, detail: DecisionDetail = {}): Decision {
  return withDetail({ verdict: 'deny', reason }, detail);
}

function withDetail(base: Decision, detail: DecisionDetail): Decision {
  return Object.freeze({
    ...base,
    ...(detail.rule === undefined ? {} : { rule: detail.rule }),
    ...(detail.address === undefined ? {} : { address: detail.address }),
  });
}
