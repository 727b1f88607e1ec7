/** One caller of the soak: it opens sessions, works in them, and lets each die in another way. */
import { setTimeout as delay } from 'node:timers/promises';
import { browserOf, signalBrowser } from '../test/support/outside.ts';
import type { Airlock } from './airlock.ts';
import type { Bench } from './bench.ts';
import { check } from './json-client.ts';

export interface Caller {
  readonly bench: Bench;
  readonly service: Airlock;
  /** Ends the loop after the session that is open. */
  readonly until: AbortSignal;
  /** Told of every death. */
  readonly died: (how: string) => void;
}

const ENDED_LIMIT_MS = 60_000;

type Death = (caller: Caller) => Promise<void>;

const deaths: Readonly<Record<string, Death>> = {
  async deleted(caller) {
    const session = await caller.service.session();
    await work(caller, session);
    await caller.service.close(session);
  },

  async 'Chrome SIGKILL'(caller) {
    const session = await caller.service.session();
    await work(caller, session);
    process.kill(await browserOf(caller.service.pid, session), 'SIGKILL');
    await ended(caller, session, 'crashed');
  },

  async 'renderer SIGKILL'(caller) {
    const session = await caller.service.session();
    await work(caller, session);
    await signalBrowser(caller.service.pid, session, 'SIGKILL', '--type=renderer');
    await caller.service.close(session);
  },

  async ttl(caller) {
    const session = await caller.service.session({ ttlSec: 2 });
    await ended(caller, session, 'ttl');
  },

  async idle(caller) {
    const session = await caller.service.session({ idleSec: 1 });
    await ended(caller, session, 'idle');
  },

  async 'hang-up during an operation'(caller) {
    const session = await caller.service.session();
    await work(caller, session);
    const { baseUrl, token } = caller.service.process;
    const slow = { expression: 'new Promise(() => {})', timeoutMs: 60_000 };
    await hangUp(`${baseUrl}${session}/eval`, token, slow, 300);
    check((await caller.service.value(session, '1+1')) === 2, 'after a hang-up the session does not work');
    await caller.service.close(session);
  },

  async 'hang-up during create'(caller) {
    const { baseUrl, token } = caller.service.process;
    const label = `hang-up ${crypto.randomUUID()}`;
    // A profile is not taken from the pool, which would answer before anybody can hang up.
    await hangUp(`${baseUrl}/v1/sessions`, token, { profile: 'soak', labels: { label } }, 20);
    // On a quick machine the answer may be there first.
    const open = (await caller.service.get('/v1/sessions')).at('sessions') as {
      id: string;
      labels: { label?: string };
    }[];
    for (const { id, labels } of open)
      if (labels.label === label) await caller.service.close(`/v1/sessions/${id}`);
  },
};

/** Sessions one after the other, each way to die in turn, until the signal. */
export async function call(caller: Caller, offset: number): Promise<void> {
  const ways = Object.entries(deaths);
  for (let turn = offset; !caller.until.aborted; turn++) {
    const [how, death] = ways[turn % ways.length] ?? [];
    if (how === undefined || death === undefined) return;
    await death(caller);
    caller.died(how);
  }
}

/** What a session is used for. */
async function work({ bench, service }: Caller, session: string): Promise<void> {
  const { url } = bench.fixture;
  for (const path of ['/many', '/table?rows=200', '/button']) await service.navigate(session, url + path);
  const seen = (await service.get(`${session}/snapshot`)).expect(200).text('text');
  check(seen.includes('Add one'), 'a snapshot lacks its button');
  (await service.post(`${session}/click`, { target: '#b' })).expect(200).is('ok', true);
  check((await service.value(session, 'clicks')) === 1, 'a click did not count');
  (await service.get(`${session}/screenshot`)).expect(200);
  (await service.post(`${session}/navigate`, { url: 'http://192.0.2.1/' })).expect(403);
}

/** Until a session has ended by itself, for this reason, with nothing left of it. */
async function ended({ service }: Caller, session: string, reason: string): Promise<void> {
  const start = Date.now();
  for (;;) {
    const list = (await service.get('/v1/sessions')).expect(200);
    if (!JSON.stringify(list.body).includes(session)) break;
    check(Date.now() - start < ENDED_LIMIT_MS, `${session} does not end by ${reason}`);
    await delay(100);
  }
  const gone = (await service.get(session)).expect(410).is('reason', reason);
  check(gone.at('receipt.zero') === true, `${session} left something: ${JSON.stringify(gone.body)}`);
}

/** Sends a request and goes away. An answer that came before is as well. */
async function hangUp(url: string, token: string, body: unknown, afterMs: number): Promise<void> {
  const request = {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(afterMs),
  };
  try {
    await (await fetch(url, request)).text();
  } catch (error) {
    if (!(error instanceof Error && error.name === 'TimeoutError')) throw error;
  }
}
