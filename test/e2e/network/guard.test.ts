import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestService } from '../../support/service.ts';
import { WebServer } from '../../support/web-server.ts';

interface Question {
  readonly host: string;
  readonly port: number;
  readonly url?: string;
  readonly session?: string;
}

/** Asked about everything; says no to /no, and nothing that can be read about /mute. */
const questions: Question[] = [];
const guard = await WebServer.start((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  request.on('end', () => {
    const question: Question = JSON.parse(body);
    questions.push(question);
    if (question.url?.endsWith('/mute') === true) response.writeHead(500).end();
    else
      response.end(JSON.stringify({ allow: question.url?.endsWith('/no') !== true, reason: 'house rule' }));
  });
});
const site = await WebServer.start();
let service: TestService;
beforeAll(async () => {
  service = await TestService.start([
    ...['--allow', `localhost:${site.port}`, '--allow', `127.0.0.1:${guard.port}`],
  ]);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await guard[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

test("a session's own guard is asked about what the rules allow, and told which session asks", async () => {
  const policy = { guard: { url: `http://127.0.0.1:${guard.port}/judge?key=hidden-word`, timeoutMs: 5000 } };
  const created = await service.post('/v1/sessions', { policy });
  expect(created.status, created.text).toBe(201);
  const session = `/v1/sessions/${created.body.id}`;
  const yes = await service.post(`${session}/navigate`, { url: site.url('/yes') });
  expect(yes.body).toMatchObject({ status: 200 });
  expect(questions).toContainEqual(
    expect.objectContaining({ url: site.url('/yes'), host: 'localhost', session: created.body.id }),
  );
  site.clear();
  for (const [path, rule] of [['/no', 'house rule'], ['/mute']]) {
    const denied = await service.post(`${session}/navigate`, { url: site.url(path) });
    expect(denied.body, denied.text).toMatchObject({ code: 'policy_denied', decision: { reason: 'guard' } });
    if (rule !== undefined) expect(denied.body.decision.rule).toBe(rule);
  }
  expect(site.requests).toEqual([]);
  const before = questions.length;
  const ruled = await service.post(`${session}/navigate`, { url: 'http://10.0.0.1/' });
  expect(ruled.body).toMatchObject({ code: 'policy_denied', decision: { reason: 'private' } });
  expect(questions.length).toBe(before);
  expect((await service.get(`${session}/policy`)).text).not.toContain('hidden-word');
  await service.delete(session);
});

test('a guard that the policy denies lets nothing through', async () => {
  const session = await service.session({ policy: { guard: { url: 'http://10.0.0.1/judge' } } });
  site.clear();
  const opened = await service.post(`${session}/navigate`, { url: site.url('/') });
  expect(opened.body).toMatchObject({ code: 'policy_denied', decision: { reason: 'guard' } });
  expect(site.connections).toBe(0);
  await service.delete(session);
});

test('a guard that cannot be used is refused with its pointer', async () => {
  const created = await service.post('/v1/sessions', { policy: { guard: { url: 'ftp://x/' } } });
  expect(created.body).toMatchObject({ status: 422, code: 'invalid_policy' });
  expect(created.text).toContain('/guard/url');
});
