import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PageServer } from '../support/page-harness.ts';
import { type Answer, TestService } from '../support/service.ts';

let pages: PageServer;
let service: TestService;
let path: string;
beforeAll(async () => {
  pages = await PageServer.open({ '/': '<title>Page</title><button>Save</button><input type="file">' });
  service = await TestService.start([
    ...['--pool', '0', '--ttl', '30m', '--idle', '5m', '--max-sessions', '4'],
    ...['--allow', `127.0.0.1:${pages.port}`, '--deny', 'denied.example'],
    // No name is asked about outside.
    ...['--dns', '127.0.0.1:9'],
  ]);
  path = await service.session();
  await service.post(`${path}/navigate`, { url: pages.url('/') });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await pages[Symbol.asyncDispose]();
});

async function openSessions(): Promise<number> {
  return (await service.get('/v1/sessions')).body.sessions.length;
}

test.each([
  [{ timezone: 'Mars/Base' }, '/timezone', /Mars\/Base/],
  [{ locale: 'abc-def-ghi' }, '/locale', /BCP 47/],
  [{ extraHeaders: { 'X A': '1' } }, '/extraHeaders/X A', /RFC 9110/],
  [{ extraHeaders: { Host: 'x' } }, '/extraHeaders/Host', /browser sets itself/],
  [{ extraHeaders: { 'X-A': 'a\nb' } }, '/extraHeaders/X-A', /control character/],
  [{ initScripts: ['1', 'let = ;'] }, '/initScripts/1', /Unexpected|let/],
  [{ ttlSec: 1801 }, '/ttlSec', /<= 1800/],
  [{ idleSec: 301 }, '/idleSec', /<= 300/],
  [{ storageState: {} }, '/storageState', /cookies nor origins/],
  [{ colorScheme: 'drak' }, '/colorScheme', /"light", "dark"; did you mean "dark"/],
  [{ labels: { ['n'.repeat(65)]: 'v' } }, `/labels/${'n'.repeat(65)}`, /64/],
])('a session with %j is refused before anything is started', async (body, pointer, says) => {
  const answer = await service.post('/v1/sessions', body);
  expect([answer.status, answer.body.code, answer.body.pointer]).toEqual([422, 'invalid_request', pointer]);
  expect(answer.body.detail).toMatch(says);
  expect(await openSessions()).toBe(1);
});

test('what a session may set is what its pages have', async () => {
  const other = await service.session({
    timezone: 'america/sao_paulo',
    locale: 'en_GB',
    extraHeaders: { 'X-A': 'a\tb', Authorization: 'Basic eDp5' },
    ttlSec: 1800,
    idleSec: 300,
  });
  await service.post(`${other}/navigate`, { url: pages.url('/') });
  const expression =
    'const { locale, timeZone } = new Intl.DateTimeFormat().resolvedOptions(); [locale, timeZone]';
  const answer = await service.post(`${other}/eval`, { expression });
  expect(answer.body.value).toEqual(['en-GB', 'America/Sao_Paulo']);
  const over = await service.call('PATCH', other, { body: { ttlSec: 7200 } });
  expect([over.status, over.body.pointer]).toEqual([422, '/ttlSec']);
  expect(over.body.detail).toContain('1800');
  const idle = await service.call('PATCH', other, { body: { idleSec: 301, labels: { a: 'b' } } });
  expect([idle.status, idle.body.pointer]).toEqual([422, '/idleSec']);
  expect((await service.get(other)).body.labels).toEqual({});
  expect((await service.delete(other)).body.zero).toBe(true);
});

test.each([
  ['navigate', { url: 'about:blank', waitUntil: 'loaded' }, '/waitUntil', /"commit".*did you mean "load"/],
  ['click', { target: 'button', button: 'lft' }, '/button', /"left", "right", "middle"/],
  ['click', { target: 'button', modifiers: ['Ctrl'] }, '/modifiers/0', /"Control"/],
  ['click', { target: { rol: 'button' } }, '/target/rol', /did you mean role/],
  ['click', { target: 5 }, '/target', /a string or an object/],
  ['click', { target: 'button', snapshot: 'yes' }, '/snapshot', /a boolean or "diff"/],
  ['scroll', { to: 'end' }, '/to', /"top", "bottom"/],
  ['dialog', { action: 'ok' }, '/action', /"accept", "dismiss"/],
  ['mouse', { action: 'press', x: 1, y: 1 }, '/action', /"move", "down"/],
  ['eval', { expression: '1', world: 'page' }, '/world', /"main", "isolated"/],
  [
    'cookies',
    { cookies: [{ name: 'a', value: 'b', sameSite: 'lax' }] },
    '/cookies/0/sameSite',
    /did you mean "Lax"/,
  ],
  ['batch', { steps: [{ op: 'batch', steps: [] }] }, '/steps/0/op', /batch cannot be a step/],
  ['batch', { steps: [{ op: 'click', target: 5 }] }, '/steps/0/target', /a string or an object/],
])('%s with %j tells what fits', async (operation, body, pointer, says) => {
  const answer = await service.post(`${path}/${operation}`, body);
  expect([answer.status, answer.body.code, answer.body.pointer]).toEqual([422, 'invalid_request', pointer]);
  expect(answer.body.detail).toMatch(says);
});

test.each([[[]], [null], ['text'], [7]])('the body %j is no object', async (body) => {
  const answer = await service.post(`${path}/click`, body);
  expect([answer.status, answer.body.code]).toEqual([422, 'invalid_request']);
  expect(answer.body.detail).toBe('The body must be a JSON object');
});

test('screenshot and snapshot refuse what excludes each other, and list what there is', async () => {
  const format = await service.get(`${path}/screenshot?format=gif`);
  expect([format.status, format.body.pointer]).toEqual([422, '/format']);
  expect(format.body.detail).toContain('"png", "jpeg", "webp"');
  const both = await service.get(`${path}/snapshot?selector=button&ref=e1`);
  expect([both.status, both.body.code]).toEqual([422, 'invalid_request']);
});

test('an operation that does not exist has one that comes close', async () => {
  const answer = await service.get('/v1/capabilities?name=clik');
  expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
  expect(answer.body.detail).toContain('did you mean click');
});

test('a state without members is refused and changes nothing; empty lists empty it', async () => {
  await service.post(`${path}/cookies`, { cookies: [{ name: 'kept', value: '1' }] });
  const refused = await service.call('PUT', `${path}/state`, { body: {} });
  expect([refused.status, refused.body.code]).toEqual([422, 'invalid_request']);
  expect((await service.get(`${path}/cookies`)).body.cookies).toHaveLength(1);
  const emptied = await service.call('PUT', `${path}/state`, { body: { cookies: [], origins: [] } });
  expect(emptied.status).toBe(200);
  expect((await service.get(`${path}/cookies`)).body.cookies).toEqual([]);
});

describe('a suggestion is about its cause', () => {
  test.each([
    ['localhost:7503', /http:\/\/localhost/],
    ['file:///etc/passwd', /Only http and https/],
    ['javascript:1', /Only http and https/],
    ['http://169.254.169.254/', /no setting opens the metadata/],
    ['http://user:pass@127.0.0.1/', /Leave the user and password out/],
    ['http://denied.example/', /deny rule/],
    ['http://127.0.0.1:8099/', /--allow HOST:PORT/],
  ])('%s', async (url, says) => {
    const answer = await service.post(`${path}/navigate`, { url });
    expect([answer.status, answer.body.code]).toEqual([403, 'policy_denied']);
    expect(answer.body.suggestion).toMatch(says);
    if (!String(says).includes('--allow')) expect(answer.body.suggestion).not.toContain('--allow');
  });

  test('the service itself', async () => {
    const answer = await service.post(`${path}/navigate`, { url: `${service.baseUrl}/livez` });
    expect(answer.body.decision.reason).toBe('self');
    expect(answer.body.suggestion).toContain('no setting lets a page reach this service');
  });

  test('in Portuguese', async () => {
    const answer = await service.call('POST', `${path}/navigate`, {
      body: { url: 'localhost:7503' },
      headers: { 'accept-language': 'pt-BR' },
    });
    expect(answer.body.suggestion).toContain('Só endereços http e https');
  });

  test('targets, with and without candidates', async () => {
    const near = await service.post(`${path}/click`, {
      target: { role: 'button', name: 'Sav it' },
      timeoutMs: 1500,
    });
    expect(near.body.code).toBe('target_not_found');
    expect(near.body.candidates.length).toBeGreaterThan(0);
    expect(near.body.suggestion).toContain('`candidates`');
    const none: Answer[] = [
      await service.get(`${path}/snapshot?selector=%23nope`),
      await service.post(`${path}/click`, { target: 'e99999' }),
    ];
    for (const answer of none) {
      expect(answer.body.code).toBe('target_not_found');
      expect(answer.body.suggestion).not.toContain('candidates');
    }
  });

  test('files and forms', async () => {
    const form = await service.post(`${path}/files`, {});
    expect([form.status, form.body.code]).toEqual([415, 'unsupported_media_type']);
    expect(form.body.suggestion).toContain('multipart/form-data');
    const file = await service.get(`${path}/files/nosuch`);
    expect(file.body.suggestion).toContain('GET files');
    const heap = await service.get(`${path}/heap/snapshots/nosuch`);
    expect([heap.status, heap.body.code]).toEqual([404, 'artifact_not_found']);
    expect(heap.body.suggestion).toContain('POST heap/snapshots');
  });

  test('no tab at all, and a tab that is not there', async () => {
    const unknown = await service.post(`${path}/eval`, { expression: '1', tab: 't99' });
    expect(unknown.body.suggestion).toContain('GET tabs');
    const other = await service.session();
    expect((await service.delete(`${other}/tabs/t1`)).status).toBe(200);
    const none = await service.post(`${other}/navigate`, { url: pages.url('/') });
    expect([none.status, none.body.code]).toEqual([404, 'tab_not_found']);
    expect(none.body.suggestion).toContain('POST tabs');
    expect((await service.delete(other)).body.zero).toBe(true);
  });

  test('the page of a code has them all', async () => {
    const page = await service.get('/problems/policy_denied');
    expect(page.text).toContain('Only http and https addresses');
    expect(page.text).toContain('--allow HOST:PORT');
  });
});

test('a window without a display says what to change', async () => {
  await using bare = await TestService.start(['--pool', '0'], {
    env: { DISPLAY: undefined, WAYLAND_DISPLAY: undefined },
  });
  const answer = await bare.post('/v1/sessions', { headless: false });
  expect([answer.status, answer.body.code]).toEqual([503, 'browser_unavailable']);
  expect(answer.body.suggestion).toMatch(/Leave `headless` out/);
});

test('an Idempotency-Key is for one body, and a repeat is marked', async () => {
  const headers = { 'idempotency-key': 'order-1' };
  const ask = (body: unknown) => service.call('POST', '/v1/sessions', { body, headers });
  const first = await ask({ labels: { a: '1', b: '2' } });
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null]);
  const again = await ask({ labels: { b: '2', a: '1' } });
  expect([again.status, again.body.id]).toEqual([201, first.body.id]);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  const other = await ask({ labels: { a: '1' } });
  expect([other.status, other.body.code, other.body.retryable]).toEqual([
    422,
    'idempotency_key_reused',
    false,
  ]);
  expect(await openSessions()).toBe(2);
  expect((await service.delete(`/v1/sessions/${first.body.id}`)).body.zero).toBe(true);
});

test('the served OpenAPI document is about the address that it came from, and has the headers', async () => {
  const { body } = await service.get('/openapi.json');
  expect(body.servers).toEqual([{ url: '/' }]);
  const parameters: { name: string; in: string }[] = body.paths['/v1/sessions'].post.parameters;
  expect(parameters.map((one) => `${one.in} ${one.name}`).sort()).toEqual([
    'header Idempotency-Key',
    'header Prefer',
  ]);
});

test('a port that browsers refuse is told as such', async () => {
  const answer = await service.post(`${path}/navigate`, { url: 'http://example.com:25/' });
  expect(answer.body).toMatchObject({ code: 'policy_denied', decision: { reason: 'port' } });
  expect(answer.body.suggestion).toContain('browsers refuse this one');
});
