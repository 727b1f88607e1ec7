import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PageServer } from '../support/page-harness.ts';
import { TestService } from '../support/service.ts';

let pages: PageServer;
let service: TestService;
let deadPort: number;
beforeAll(async () => {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  deadPort = typeof address === 'object' && address ? address.port : 0;
  listener.close();
  pages = await PageServer.open({
    '/': '<title>Page</title>',
    '/links': `<title>Links</title><a href="http://10.0.0.1/">Private</a><a href="http://localhost:${deadPort}/">Dead</a>
      <a href="/none">None</a><button onclick="location = 'http://10.0.0.1/x'">Later</button>`,
  });
  service = await TestService.start([
    ...['--max-sessions', '2', '--allow', `localhost:${pages.port}`, '--allow', `localhost:${deadPort}`],
    ...['--allow', '*.example.invalid'],
  ]);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await pages[Symbol.asyncDispose]();
});

test('an option that Chrome does not take is an answer at once, and holds no place', async () => {
  for (const spec of [{ timezone: 'Mars/Base' }, { engine: 'chrome', timezone: 'Mars/Base' }]) {
    const answer = await service.post('/v1/sessions', spec);
    expect([answer.status, answer.body.code]).toEqual([422, 'invalid_request']);
  }
  expect((await service.get('/v1/sessions')).body.sessions).toEqual([]);
  for (const path of [await service.session(), await service.session()]) await service.delete(path);
});

test('a position that is given is told to the page that asks for it', async () => {
  const path = await service.session({ geolocation: { latitude: 1.5, longitude: 2.5 } });
  await service.post(`${path}/navigate`, { url: pages.url('/', 'localhost') });
  const { body } = await service.post(`${path}/eval`, {
    expression:
      'new Promise((ok, no) => navigator.geolocation.getCurrentPosition(({ coords: { latitude, longitude } }) => ok([latitude, longitude]), ({ message }) => no(new Error(message))))',
  });
  expect(body).toMatchObject({ value: [1.5, 2.5] });
  await service.delete(path);
});

test('a page that an action led to and that does not come is an error, with what stopped it', async () => {
  const path = await service.session();
  const clicked = async (name: string) => {
    const url = pages.url('/links', 'localhost');
    expect((await service.post(`${path}/navigate`, { url })).status).toBe(200);
    return service.post(`${path}/click`, { target: { text: name } });
  };
  for (const name of ['Private', 'Later']) {
    const denied = await clicked(name);
    expect([denied.status, denied.body.code]).toEqual([403, 'policy_denied']);
    expect(denied.body).toMatchObject({ retryable: false, decision: { verdict: 'deny', reason: 'private' } });
  }
  const dead = await clicked('Dead');
  expect([dead.status, dead.body.code]).toEqual([502, 'navigation_failed']);
  expect(dead.body).toMatchObject({ netError: 'net::ERR_CONNECTION_REFUSED', retryable: false });
  // An answer with an error status is a page that came.
  expect((await clicked('None')).body).toMatchObject({ ok: true, navigated: true });
  await service.delete(path);
});

test('why a connection failed is told by its own name, not by that of the proxy', async () => {
  const path = await service.session();
  const go = (url: string) => service.post(`${path}/navigate`, { url });
  expect((await go(`http://localhost:${deadPort}/`)).body).toMatchObject({
    code: 'navigation_failed',
    netError: 'net::ERR_CONNECTION_REFUSED',
    retryable: true,
  });
  const unknown = await go('http://no-such-name.example.invalid/');
  expect(unknown.body.code).toBe('navigation_failed');
  expect(unknown.body.netError).toMatch(/^net::ERR_(?:NAME_NOT_RESOLVED|DNS_SERVER_FAILED|DNS_TIMED_OUT)$/);
  await service.delete(path);
  const proxied = await service.session({ egress: `socks5://localhost:${deadPort}` });
  const behind = await service.post(`${proxied}/navigate`, { url: pages.url('/', 'localhost') });
  expect(behind.body).toMatchObject({ netError: 'net::ERR_PROXY_CONNECTION_FAILED' });
  await service.delete(proxied);
});

test('a WebSocket address can be checked', async () => {
  const check = async (url: string) => (await service.post('/v1/policy/check', { url })).body;
  expect(await check('wss://example.com/')).toMatchObject({ verdict: 'allow' });
  expect(await check('ws://127.0.0.1:8123/')).toMatchObject({ verdict: 'deny', reason: 'loopback' });
  expect(await check(`ws://localhost:${pages.port}/`)).toMatchObject({ verdict: 'allow' });
});
