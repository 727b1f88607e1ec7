import { Type } from 'typebox';
import { AirlockError } from '../errors.ts';
import { checkLimits } from '../sessions/check-spec.ts';
import type { Session } from '../sessions/session.ts';
import { Labels, SessionSpec } from '../sessions/spec.ts';
import { defineOperation, Reply, STATE_BODY_LIMIT } from './define.ts';
import { Receipt } from './receipt.ts';

const Time = (description: string) => Type.String({ format: 'date-time', description });

const summaryFields = {
  id: Type.String(),
  state: Type.Enum(['ready', 'closing', 'closed', 'crashed']),
  engine: Type.Enum(['headless-shell', 'chrome']),
  profileMode: Type.Enum(['ephemeral', 'persistent']),
  profile: Type.Optional(Type.String({ description: 'name of the profile that stays' })),
  url: Type.String({ 'x-untrusted': true, description: 'of the active tab' }),
  createdAt: Time('when the session was made'),
  expiresAt: Time('when it ends whatever it does'),
  idleExpiresAt: Time('when it ends if no request comes'),
  labels: Labels,
  links: Type.Record(Type.String(), Type.String()),
};

export const SessionSummary = Type.Object(summaryFields);

const SessionDetail = Type.Object({
  ...summaryFields,
  browser: Type.String({ description: 'what Chrome calls itself' }),
  sandbox: Type.Boolean({ description: 'whether Chrome runs in its own sandbox' }),
  strictNetwork: Type.Boolean({ description: 'whether Chrome has a network namespace of its own' }),
  tabs: Type.Array(Type.Object({ id: Type.String(), url: Type.String({ 'x-untrusted': true }) })),
  laneDepth: Type.Integer({ description: 'operations that run or wait' }),
  processes: Type.Integer({ description: 'processes of this session' }),
  memoryBytes: Type.Integer({ description: 'proportional set size of its processes' }),
  floor: Type.Object({
    connections: Type.Integer(),
    active: Type.Integer(),
    bytesIn: Type.Integer(),
    bytesOut: Type.Integer(),
    denied: Type.Integer(),
  }),
  policy: Type.Unknown({ description: 'the network policy in force' }),
  egress: Type.Optional(Type.String({ description: 'the proxy it goes out through, without credentials' })),
});

function summary(session: Session) {
  const self = `/v1/sessions/${session.id}`;
  return {
    id: session.id,
    state: session.state,
    engine: session.browser.engine,
    ...profileOf(session),
    url: session.tabs.list().find((tab) => tab.id === session.tabs.activeId)?.url ?? '',
    createdAt: new Date(session.createdAt).toISOString(),
    expiresAt: new Date(session.expiresAt).toISOString(),
    idleExpiresAt: new Date(session.idleExpiresAt).toISOString(),
    labels: session.labels,
    links: {
      self,
      navigate: `${self}/navigate`,
      snapshot: `${self}/snapshot`,
      policy: `${self}/policy`,
    },
  };
}

function profileOf(session: Session) {
  const { profile } = session.browser;
  if (!profile) return { profileMode: 'ephemeral' as const };
  return { profileMode: 'persistent' as const, profile: profile.name };
}

/** The longest that a caller may wait in the queue, in seconds. */
const MAX_WAIT_SEC = 300;

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** `Prefer: wait=N` (RFC 7240): wait up to N seconds for a place. */
function preferredWait(header: string | string[] | undefined): number {
  const match = /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/i.exec([header ?? ''].flat().join(','));
  return match ? Math.min(Number(match[1]), MAX_WAIT_SEC) : 0;
}

const CreateHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      pattern: IDEMPOTENCY_KEY.source,
      description: 'the same key and body give the same session for 24 hours',
    }),
  ),
  Prefer: Type.Optional(
    Type.String({
      examples: ['wait=30'],
      description: `wait=N: wait up to N seconds for a place, ${MAX_WAIT_SEC} at most`,
    }),
  ),
});

const createSession = defineOperation({
  name: 'sessions.create',
  method: 'POST',
  path: '/v1/sessions',
  summary: 'Create a session: an isolated Chrome behind its own network floor',
  description:
    'With `Idempotency-Key`, the same key and body give the same session for 24 hours, with `Idempotent-Replayed: true`. With `Prefer: wait=N` the request waits up to N seconds for a place when all are taken. A client that hangs up while it waits leaves nothing behind.',
  tag: 'sessions',
  scope: 'service',
  input: SessionSpec,
  headers: CreateHeaders,
  bodyLimit: STATE_BODY_LIMIT,
  result: SessionSummary,
  status: 201,
  errors: [
    'idempotency_key_reused',
    'capacity',
    'draining',
    'browser_unavailable',
    'invalid_policy',
    'policy_denied',
    'disk_full',
    'profile_busy',
    'cookie_rejected',
    'storage_rejected',
  ],
  async run({ service, request }, input) {
    const key = request.headers['idempotency-key'];
    if (Array.isArray(key) || (key !== undefined && !IDEMPOTENCY_KEY.test(key))) {
      throw new AirlockError('invalid_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters');
    }
    const waitSec = preferredWait(request.headers['prefer']);
    const wanted = { spec: input, client: request.signal, waitMs: waitSec * 1000 };
    const { made, replayed } =
      key === undefined ? { made: service.create(wanted), replayed: false } : service.createOnce(key, wanted);
    const session = await made;
    const headers = {
      Location: `/v1/sessions/${session.id}`,
      ...(waitSec > 0 ? { 'Preference-Applied': `wait=${waitSec}` } : {}),
      ...(replayed ? { 'Idempotent-Replayed': 'true' } : {}),
    };
    return new Reply(summary(session), { headers });
  },
});

const listSessions = defineOperation({
  name: 'sessions.list',
  method: 'GET',
  path: '/v1/sessions',
  summary: 'List the open sessions',
  tag: 'sessions',
  scope: 'service',
  input: Type.Object({}),
  result: Type.Object({ sessions: Type.Array(SessionSummary) }),
  async run({ service }) {
    return { sessions: service.list().map(summary) };
  },
});

const getSession = defineOperation({
  name: 'sessions.get',
  method: 'GET',
  path: '/v1/sessions/{id}',
  summary: 'Look at a session: tabs, memory, processes, network counters, policy',
  tag: 'sessions',
  scope: 'observer',
  input: Type.Object({}),
  result: SessionDetail,
  async run({ session }) {
    const { browser } = session;
    const { egress } = browser.floor;
    const usage = await browser.usage();
    return {
      ...summary(session),
      browser: browser.product,
      sandbox: usage.sandbox,
      strictNetwork: usage.strictNetwork,
      tabs: session.tabs.list().map((tab) => ({ id: tab.id, url: tab.url })),
      laneDepth: session.laneDepth,
      processes: usage.processes,
      memoryBytes: usage.memoryBytes,
      floor: { ...browser.floor.counters },
      policy: browser.policyView,
      ...(egress === undefined ? {} : { egress: egress.redacted }),
    };
  },
});

const patchSession = defineOperation({
  name: 'sessions.patch',
  method: 'PATCH',
  path: '/v1/sessions/{id}',
  summary: 'Change the limits or the labels of a session',
  tag: 'sessions',
  scope: 'observer',
  input: Type.Object({
    ttlSec: Type.Optional(Type.Integer({ minimum: 1, description: 'counted from the creation' })),
    idleSec: Type.Optional(Type.Integer({ minimum: 1 })),
    labels: Type.Optional(Labels),
  }),
  result: SessionSummary,
  async run({ service, session }, { labels, ttlSec, idleSec }) {
    const limits = {
      ...(ttlSec === undefined ? {} : { ttlSec }),
      ...(idleSec === undefined ? {} : { idleSec }),
    };
    checkLimits(limits, service.options);
    session.setLimits(limits);
    if (labels !== undefined) session.labels = labels;
    return summary(session);
  },
});

const deleteSession = defineOperation({
  name: 'sessions.delete',
  method: 'DELETE',
  path: '/v1/sessions/{id}',
  summary: 'Close a session; the receipt says what was ended and proves that nothing is left',
  description:
    'A second call gives the same receipt. A session that ended on its own is 410 with its receipt.',
  tag: 'sessions',
  scope: 'service',
  input: Type.Object({ id: Type.String() }),
  result: Receipt,
  errors: ['session_not_found', 'session_gone'],
  async run({ service }, { id }) {
    return service.close(id);
  },
});

const deleteSessions = defineOperation({
  name: 'sessions.delete-all',
  method: 'DELETE',
  path: '/v1/sessions',
  summary: 'Close all sessions',
  tag: 'sessions',
  scope: 'service',
  input: Type.Object({}),
  result: Type.Object({ receipts: Type.Array(Receipt) }),
  async run({ service }) {
    return { receipts: await service.closeAll('deleted') };
  },
});

export const sessionOperations = [
  createSession,
  listSessions,
  getSession,
  patchSession,
  deleteSession,
  deleteSessions,
];
