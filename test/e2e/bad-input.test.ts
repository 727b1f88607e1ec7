import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PageServer } from '../support/page-harness.ts';
import { TestService } from '../support/service.ts';

let pages: PageServer;
let silent: Server;
let silentPort: number;
let service: TestService;
let path: string;
beforeAll(async () => {
  pages = await PageServer.open({ '/': '<title>Page</title><button>Go</button>' });
  // Accepts and says nothing: a page that never loads.
  silent = createServer();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  silentPort = typeof address === 'object' && address ? address.port : 0;
  service = await TestService.start([
    '--pool',
    '0',
    '--allow',
    `127.0.0.1:${pages.port}`,
    '--allow',
    `127.0.0.1:${silentPort}`,
  ]);
  path = await service.session();
  await service.post(`${path}/navigate`, { url: pages.url('/') });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  silent.close();
  await pages[Symbol.asyncDispose]();
});

/** The service answers, and the session takes the next request. */
async function expectServing(): Promise<void> {
  expect((await service.get('/livez')).status).toBe(200);
  expect((await service.post(`${path}/eval`, { expression: '1+1' })).body.value).toBe(2);
}

test.each([
  ['an unknown field', 'POST', '/v1/sessions', { engin: 'chrome' }, '/engin', /did you mean engine/],
  [
    'a nested unknown field',
    'POST',
    '/v1/sessions',
    { viewport: { width: 1, height: 1, dpr: 2 } },
    '/viewport/dpr',
    /unknown/,
  ],
  ['a wrong type', 'POST', '/v1/sessions', { ttlSec: '60' }, '/ttlSec', /integer/],
  ['a value out of range', 'POST', '/v1/sessions', { ttlSec: 0 }, '/ttlSec', />= 1/],
  [
    'a value that is none of the allowed',
    'POST',
    '/v1/sessions',
    { engine: 'firefox' },
    '/engine',
    /headless-shell/,
  ],
  [
    'options of Chrome, which are nobody’s business',
    'POST',
    '/v1/sessions',
    { args: ['--no-proxy-server'] },
    '/args',
    /unknown/,
  ],
])('%s is 422 with the pointer', async (_name, method, route, body, pointer, says) => {
  const answer = await service.call(method, route, { body });
  expect([answer.status, answer.body.code, answer.body.pointer]).toEqual([422, 'invalid_request', pointer]);
  expect(answer.body.detail).toMatch(says);
  expect((await service.get('/v1/sessions')).body.sessions).toHaveLength(1);
});

test('a missing member, an unknown query member and a body that is no object are 422', async () => {
  const missing = await service.post(`${path}/navigate`, {});
  expect([missing.status, missing.body.pointer]).toEqual([422, '/url']);
  const query = await service.get(`${path}/snapshot?interactiv=1`);
  expect([query.status, query.body.pointer]).toEqual([422, '/interactiv']);
  const list = await service.call('POST', `${path}/navigate`, { body: ['http://x'] });
  expect([list.status, list.body.code]).toEqual([422, 'invalid_request']);
  await expectServing();
});

test.each([
  ['{"url":', 400, 'malformed_body'],
  ['nonsense', 400, 'malformed_body'],
  ['{"__proto__":{"polluted":1}}', 400, 'malformed_body'],
])('the body %s is refused', async (text, status, code) => {
  const response = await fetch(`${service.baseUrl}${path}/navigate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body: text,
  });
  const problem = (await response.json()) as { code: string; requestId: string };
  expect([response.status, problem.code]).toEqual([status, code]);
  expect(response.headers.get('content-type')).toContain('application/problem+json');
  expect(response.headers.get('x-request-id')).toBe(problem.requestId);
});

test('a body over the limit is 413, as curl sees it', async () => {
  const file = join(service.root, 'large.json');
  await writeFile(file, JSON.stringify({ expression: 'x'.repeat(5 * 1024 * 1024) }));
  const { stdout } = await promisify(execFile)('curl', [
    '-sS',
    '-w',
    '\n%{http_code}',
    '-H',
    `Authorization: Bearer ${service.token}`,
    '-H',
    'Content-Type: application/json',
    '--data-binary',
    `@${file}`,
    `${service.baseUrl}${path}/eval`,
  ]);
  const [body = '', status] = stdout.split('\n');
  expect([status, JSON.parse(body).code]).toEqual(['413', 'too_large']);
  await expectServing();
});

test('an unknown route is 404, also with a path that climbs', async () => {
  for (const route of ['/v1/nosuch', '/v1/sessions/../../etc/passwd', `${path}/nosuch`]) {
    expect((await service.get(route)).status).toBe(404);
  }
});

test('a method that a path does not answer to is 405, with those that it does', async () => {
  for (const [method, route, allow] of [
    ['PUT', '/v1/sessions', 'DELETE, GET, POST'],
    ['GET', `${path}/click`, 'POST'],
    ['POST', `${path}/snapshot`, 'GET'],
  ] as const) {
    const answer = await service.call(method, route);
    expect([answer.status, answer.body.code]).toEqual([405, 'method_not_allowed']);
    expect(answer.headers.get('allow')).toBe(allow);
    expect(answer.body.allow.join(', ')).toBe(allow);
  }
  expect((await service.call('PUT', '/v1/sessions', { anonymous: true })).status).toBe(401);
});

test('a request id of the caller comes back; suggestions follow Accept-Language', async () => {
  const answer = await service.get('/v1/sessions/nosuch', {
    headers: { 'x-request-id': 'mine-1', 'accept-language': 'pt-BR,pt;q=0.9,en;q=0.5' },
  });
  expect(answer.body).toMatchObject({ requestId: 'mine-1', code: 'session_not_found', retryable: false });
  expect(answer.body.suggestion).toContain('Crie uma');
  expect(answer.body.title).toBe('There is no such session');
});

test.each([
  ['a ref that never was given', { target: 'e99999' }, 'target_not_found'],
  ['a selector that cannot be parsed', { target: 'div[' }, 'invalid_target'],
  ['an XPath that cannot be parsed', { target: { xpath: '//[' } }, 'invalid_target'],
  ['nothing that matches', { target: '#nothing', timeoutMs: 800 }, 'target_not_found'],
])('%s is a typed problem', async (_name, body, code) => {
  const answer = await service.post(`${path}/click`, body);
  expect(answer.body.code).toBe(code);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  await expectServing();
});

test('a tab that is not open is 404', async () => {
  const answer = await service.post(`${path}/eval`, { expression: '1', tab: 't99' });
  expect([answer.status, answer.body.code]).toEqual([404, 'tab_not_found']);
});

test.each([
  ['not a url', 422, 'invalid_request'],
  ['', 422, 'invalid_request'],
  ['file:///etc/passwd', 403, 'policy_denied'],
  ['FILE:///etc/passwd', 403, 'policy_denied'],
  [' view-source:file:///etc/passwd', 403, 'policy_denied'],
  ['chrome://version', 403, 'policy_denied'],
  ['javascript:document.title="owned"', 403, 'policy_denied'],
  ['data:text/html,<h1>x', 403, 'policy_denied'],
  ['http://169.254.169.254/latest/meta-data/', 403, 'policy_denied'],
  ['http://127.0.0.1:9/', 403, 'policy_denied'],
  ['http://[::1]/', 403, 'policy_denied'],
  ['http://user@127.0.0.1/', 403, 'policy_denied'],
])('navigate to %j is refused before Chrome sees it', async (url, status, code) => {
  const answer = await service.post(`${path}/navigate`, { url });
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect((await service.post(`${path}/eval`, { expression: 'document.title' })).body.value).toBe('Page');
});

test('a page that never loads ends at its deadline, and the session goes on', async () => {
  const answer = await service.post(`${path}/navigate`, {
    url: `http://127.0.0.1:${silentPort}/`,
    timeoutMs: 1500,
  });
  expect([answer.status, answer.body.code, answer.body.retryable]).toEqual([504, 'timeout', true]);
  expect(answer.body.diagnosis.tab).toBe('t1');
  expect((await service.post(`${path}/navigate`, { url: pages.url('/') })).body.status).toBe(200);
  await expectServing();
});

test.each(['while (true) {}', 'new Promise(() => {})', 'for (;;) await 0'])(
  'eval of %j, which never ends, ends at its deadline, and the session goes on',
  async (expression) => {
    const answer = await service.post(`${path}/eval`, { expression, timeoutMs: 1200 });
    expect([answer.status, answer.body.code]).toEqual([504, 'timeout']);
    await service.post(`${path}/navigate`, { url: pages.url('/') });
    await expectServing();
  },
);

test('an exception of the script is 422 with its name and message', async () => {
  const answer = await service.post(`${path}/eval`, { expression: 'null.x' });
  expect([answer.status, answer.body.code]).toEqual([422, 'evaluation_error']);
  expect(answer.body.exception.name).toBe('TypeError');
});

test('a policy with an entry that cannot be used is 422 naming it', async () => {
  const answer = await service.post('/v1/sessions', { policy: { allow: ['http://user@host'] } });
  expect([answer.status, answer.body.code]).toEqual([422, 'invalid_policy']);
  expect(answer.body.entry).toBe('http://user@host');
});

test('more than 64 waiting operations are refused with Retry-After, and the rest are answered', async () => {
  const slow = service.post(`${path}/eval`, { expression: 'new Promise((r) => setTimeout(r, 1500))' });
  const rest = await Promise.all(
    Array.from({ length: 70 }, () => service.post(`${path}/eval`, { expression: '1', timeoutMs: 60_000 })),
  );
  await slow;
  const full = rest.filter((answer) => answer.status === 429);
  expect(full.length).toBeGreaterThan(0);
  expect(full[0]?.body.code).toBe('lane_full');
  expect(full[0]?.headers.get('retry-after')).toBe('1');
  expect(rest.filter((answer) => answer.status === 200).length).toBeGreaterThanOrEqual(64);
});

test('after all that, one session is open and nothing else is on disk', async () => {
  const left = (await readdir(join(service.root, 'r'))).filter((name) => name.startsWith('airlock-chrome-'));
  expect(left).toHaveLength(1);
  expect((await service.delete(path)).body.zero).toBe(true);
});
