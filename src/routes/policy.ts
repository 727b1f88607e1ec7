import { Type } from 'typebox';
import { parsePolicy, policyToJson } from '../policy/policy.ts';
import { defineOperation } from './define.ts';

const MEMBERS =
  '{mode, allow, deny, block, schemes, guard}, all optional; docs/network-policy.md has the form of each';

export const DecisionResult = Type.Object({
  verdict: Type.Enum(['allow', 'deny']),
  reason: Type.String({ description: 'one word: ok, loopback, private, metadata, rule, self, scheme, …' }),
  rule: Type.Optional(Type.String({ description: 'the rule that decided' })),
  address: Type.Optional(Type.String({ description: 'the address that decided' })),
});

const checkPolicy = defineOperation({
  name: 'policy.check',
  method: 'POST',
  path: '/v1/policy/check',
  summary: 'Ask what the network policy says of a URL, without connecting',
  description: 'Names are not resolved: what a name leads to is judged when a session connects.',
  tag: 'policy',
  scope: 'service',
  input: Type.Object({
    url: Type.String({ maxLength: 65_536 }),
    policy: Type.Optional(
      Type.Unknown({ description: `a policy to narrow the one of the service with: ${MEMBERS}` }),
    ),
  }),
  result: DecisionResult,
  errors: ['invalid_policy'],
  async run({ service }, { url, policy }) {
    return service.judge(url, policy === undefined ? undefined : parsePolicy(policy));
  },
});

const getPolicy = defineOperation({
  name: 'policy.get',
  method: 'GET',
  path: '/v1/sessions/{id}/policy',
  summary: 'Read the network policy of a session',
  tag: 'policy',
  scope: 'observer',
  input: Type.Object({}),
  result: Type.Unknown(),
  async run({ session }) {
    return session.browser.policyView;
  },
});

const putPolicy = defineOperation({
  name: 'policy.narrow',
  method: 'PUT',
  path: '/v1/sessions/{id}/policy',
  summary: 'Narrow the network policy of a live session; open connections that no longer pass are closed',
  tag: 'policy',
  scope: 'observer',
  input: Type.Object({
    policy: Type.Unknown({ description: `never wider than what is in force: ${MEMBERS}` }),
  }),
  result: Type.Object({ policy: Type.Unknown(), connectionsClosed: Type.Integer() }),
  errors: ['invalid_policy'],
  async run({ session }, { policy }) {
    const narrowed = await session.narrowPolicy(parsePolicy(policy));
    return { policy: policyToJson(narrowed.policy), connectionsClosed: narrowed.connectionsClosed };
  },
});

const decisions = defineOperation({
  name: 'policy.decisions',
  method: 'GET',
  path: '/v1/sessions/{id}/policy/decisions',
  summary: 'What the session asked of the network, what was allowed and denied, and why',
  tag: 'policy',
  scope: 'observer',
  input: Type.Object({
    verdict: Type.Optional(Type.Enum(['allow', 'deny'])),
    since: Type.Optional(Type.Integer({ minimum: 0, description: 'only records with a greater seq' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 2000, default: 500 })),
  }),
  result: Type.Object({
    decisions: Type.Array(
      Type.Object({
        seq: Type.Integer(),
        time: Type.String({ format: 'date-time' }),
        stage: Type.Enum(['url', 'host', 'address', 'guard']),
        target: Type.String({ 'x-untrusted': true }),
        verdict: Type.Enum(['allow', 'deny']),
        reason: Type.String(),
        rule: Type.Optional(Type.String()),
        address: Type.Optional(Type.String()),
        tab: Type.Optional(Type.String()),
        count: Type.Integer({ description: 'repeats within seconds are folded into one record' }),
      }),
    ),
    counters: Type.Object({
      allowed: Type.Integer(),
      denied: Type.Integer(),
      deniedBy: Type.Record(Type.String(), Type.Integer()),
    }),
  }),
  async run({ session }, query) {
    const { log } = session.browser.floor;
    const records = log.query(query);
    return {
      decisions: records.map((record) => ({ ...record, time: new Date(record.time).toISOString() })),
      counters: { ...log.counters, deniedBy: { ...log.counters.deniedBy } },
    };
  },
});

export const policyOperations = [checkPolicy, getPolicy, putPolicy, decisions];
