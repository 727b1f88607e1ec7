import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, processesWith } from '../support/processes.ts';
import { TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

test('a session is made, listed, shown, changed and closed with a receipt that holds outside', async () => {
  const created = await service.post('/v1/sessions', { labels: { who: 'me' }, ttlSec: 600, idleSec: 60 });
  expect(created.status).toBe(201);
  const path = `/v1/sessions/${created.body.id}`;
  expect(created.headers.get('location')).toBe(path);
  expect(created.body).toMatchObject({
    id: expect.stringMatching(/^[a-z2-7]{26}$/),
    state: 'ready',
    engine: 'headless-shell',
    profileMode: 'ephemeral',
    labels: { who: 'me' },
  });
  expect(Date.parse(created.body.expiresAt) - Date.parse(created.body.createdAt)).toBe(600_000);
  const workspace = join(service.root, 'r', `airlock-chrome-${created.body.id}`);
  expect((await processesWith(workspace)).length).toBeGreaterThan(0);

  const listed = await service.get('/v1/sessions');
  expect(listed.body.sessions.map((session: { id: string }) => session.id)).toContain(created.body.id);
  const shown = await service.get(path);
  expect(shown.body).toMatchObject({ tabs: [{ id: 't1', url: 'about:blank' }], laneDepth: 0 });
  expect(shown.body.processes).toBeGreaterThan(1);
  expect(shown.body.memoryBytes).toBeGreaterThan(10_000_000);

  const patched = await service.call('PATCH', path, { body: { labels: { who: 'you' }, ttlSec: 300 } });
  expect(patched.body.labels).toEqual({ who: 'you' });
  expect(Date.parse(patched.body.expiresAt) - Date.parse(patched.body.createdAt)).toBe(300_000);

  const closed = await service.delete(path);
  expect(closed.status).toBe(200);
  expect(closed.body).toMatchObject({
    sessionId: created.body.id,
    reason: 'deleted',
    processes: { survivors: 0 },
    disk: { survivors: 0 },
    zero: true,
  });
  expect(closed.body.processes.seen).toBeGreaterThan(1);
  expect(await processesWith(workspace)).toEqual([]);
  expect(await readdir(join(service.root, 'r'))).not.toContain(`airlock-chrome-${created.body.id}`);

  expect((await service.delete(path)).body).toEqual(closed.body);
  const after = await service.get(path);
  expect(after.status).toBe(410);
  expect(after.body).toMatchObject({ code: 'session_gone', reason: 'deleted', receipt: closed.body });
});

test('no Chrome of a session listens on TCP: it is driven over a pipe', async () => {
  const path = await service.session();
  const id = path.split('/').at(-1) ?? '';
  const lines = await processesWith(id);
  const flags = lines.flatMap((line) => line.args.split(' '));
  expect(flags).toContain('--remote-debugging-pipe');
  expect(flags.filter((flag) => flag.startsWith('--remote-debugging-port'))).toEqual([]);
  await service.delete(path);
});

test('a session ends by itself at its time limit and answers 410 with the receipt', async () => {
  const path = await service.session({ ttlSec: 1 });
  const deadline = Date.now() + 30_000;
  let answer = await service.get(path);
  while (answer.status !== 410 || !answer.body.receipt) {
    if (Date.now() > deadline) throw new Error(`still ${answer.status}`);
    answer = await service.get(path);
  }
  expect(answer.body).toMatchObject({ reason: 'ttl', receipt: { zero: true } });
  expect((await service.delete(path)).status).toBe(410);
});

test('an unknown session is 404 on every route that names one', async () => {
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/tabs'],
    ['GET', '/policy'],
  ] as const) {
    const answer = await service.call(method, `/v1/sessions/nosuchsession${path}`);
    expect([answer.status, answer.body.code]).toEqual([404, 'session_not_found']);
  }
});

test('the same Idempotency-Key gives the same session', async () => {
  const headers = { 'idempotency-key': 'once' };
  const [first, second] = await Promise.all([
    service.post('/v1/sessions', {}, { headers }),
    service.post('/v1/sessions', {}, { headers }),
  ]);
  expect(second.body.id).toBe(first.body.id);
  await service.delete(`/v1/sessions/${first.body.id}`);
});

test('over the limit of sessions a create is refused with Retry-After', async () => {
  await using small = await TestService.start(['--max-sessions', '1']);
  await small.session();
  const refused = await small.post('/v1/sessions');
  expect([refused.status, refused.body.code]).toEqual([503, 'capacity']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await small.get('/readyz', { anonymous: true })).status).toBe(503);
});

test('who repeats a request with the same key has the session, also when the first caller has hung up', async () => {
  await using cold = await TestService.start(['--pool', '0']);
  const headers = { 'idempotency-key': 'retry-1' };
  const first = new AbortController();
  const lost = cold.post('/v1/sessions', {}, { headers, signal: first.signal }).catch(() => 'hung up');
  await eventually(
    async () => (await readdir(join(cold.root, 'r'))).filter((name) => name.startsWith('airlock-chrome-')),
    (workspaces) => workspaces.length > 0,
  );
  const second = cold.post('/v1/sessions', {}, { headers });
  // Its request is there when a later one on another connection has been answered.
  await cold.get('/livez');
  first.abort();
  const answer = await second;
  expect([answer.status, answer.body.state]).toEqual([201, 'ready']);
  await lost;
});
