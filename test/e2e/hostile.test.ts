import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PageServer } from '../support/page-harness.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { installed } from '../support/real-chrome.ts';
import { TestService } from '../support/service.ts';

let pages: PageServer;
let service: TestService;
beforeAll(async () => {
  pages = await PageServer.open({
    '/f/page': '<title>Page</title><button onclick="n=1">Go</button>',
    '/f/worker.js': (_, response) => void response.setHeader('content-type', 'text/javascript').end(''),
    '/churn':
      '<input id=i><script>setInterval(() => { const i = document.getElementById("i"); i.replaceWith(i.cloneNode(true)); }, 5)</script>',
    '/long':
      '<title>Long</title><button onclick="a=document.createElement(`a`);a.download=`f`;a.href=`data:text/plain,`+`y`.repeat(1.9e6);a.click()">Save</button>',
  });
  service = await TestService.start(['--pool', '0', '--allow', `localhost:${pages.port}`]);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await pages[Symbol.asyncDispose]();
});

const opened = async (page: string, spec: Record<string, unknown> = {}) => {
  const path = await service.session(spec);
  const answer = await service.post(`${path}/navigate`, { url: pages.url(page, 'localhost') });
  expect(answer.status).toBe(200);
  return path;
};

/** Each sends a method and a path of the page's choice; none may pass a rule about paths. */
const ATTEMPTS = [
  'navigator.credentials.get({ identity: { providers: [{ configURL: origin + "/secret/idp", clientId: "1" }] } })',
  'new PaymentRequest([{ supportedMethods: origin + "/secret/pay" }], { total: { label: "x", amount: { currency: "EUR", value: "1" } } }).canMakePayment()',
  'navigator.serviceWorker.register("/f/worker.js").then(() => navigator.serviceWorker.ready).then((reg) => reg.backgroundFetch.fetch("b", [new Request("/secret/x", { method: "POST" })]))',
  'fetch("/secret/fetch", { method: "POST" })',
];

test.each(['headless-shell', 'chrome'] as const)(
  'rules about paths hold for every interface of %s that sends requests',
  async (engine) => {
    if (installed(engine) === undefined) return;
    const host = { host: 'localhost', ports: [pages.port], path: '/f/*', methods: ['GET'] };
    const path = await opened('/f/page', { engine, policy: { mode: 'allowlist', allow: [host] } });
    for (const attempt of ATTEMPTS) {
      const { body } = await service.post(`${path}/eval`, {
        expression: `Promise.resolve().then(() => ${attempt}).then(() => 'done', (error) => 'refused')`,
        timeoutMs: 5000,
      });
      expect([attempt, body.value]).toEqual([attempt, 'refused']);
    }
    await service.delete(path);
    expect(
      pages.requests.filter((line) => line.includes('/secret/') || line.includes('/.well-known/')),
    ).toEqual([]);
  },
);

test('a page that replaces a field all the time gets typed answers', async () => {
  const path = await opened('/churn');
  for (let i = 0; i < 8; i += 1) {
    const { status, body } = await service.post(`${path}/fill`, {
      target: '#i',
      value: `v${i}`,
      timeoutMs: 3000,
    });
    if (status !== 200)
      expect(['stale_ref', 'not_verified', 'target_not_found', 'not_interactable']).toContain(body.code);
  }
  await service.delete(path);
});

test('an address of megabytes is told short, wherever it is told', async () => {
  const path = await opened('/long');
  await service.post(`${path}/click`, { target: 'button' });
  const listed = await eventually(
    () => service.get(`${path}/downloads`),
    ({ body }) => body.downloads.length === 1,
  );
  expect(listed.text.length).toBeLessThan(6000);
  const closed = service.get(`${path}/events`);
  await service.delete(path);
  const told = (await closed).text;
  expect(told).toContain('event: download');
  expect(told.length).toBeLessThan(30_000);
});

test('a Chrome that is stopped: what is about tabs and the policy ends at its limit, and the close is clean', async () => {
  const path = await opened('/f/page');
  const id = path.split('/').at(-1) ?? '';
  const browser = (await processesWith(id)).find(
    ({ args }) => args.includes('--remote-debugging-pipe') && !args.includes('--type='),
  );
  if (!browser) throw new Error('no browser');
  process.kill(browser.pid, 'SIGSTOP');
  const answers = await Promise.all([
    service.post(`${path}/tabs`),
    service.get(`${path}/tabs`),
    service.post(`${path}/tabs/t1/activate`),
    service.call('PUT', `${path}/policy`, { body: { policy: { deny: ['example.com'] } } }),
  ]);
  expect(answers.map(({ body }) => body.code)).toEqual(answers.map(() => 'timeout'));
  expect((await service.delete(path)).body.zero).toBe(true);
});

test('what is no HTTP, and a URL that cannot be read, are problems too', async () => {
  const { hostname, port } = new URL(service.baseUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write('GARBAGE\r\n\r\n');
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
    code: 'malformed_body',
    status: 400,
  });
  const bad = await service.get('/v1/%ff%fe');
  expect(bad.headers.get('content-type')).toContain('application/problem+json');
  expect(bad.body.requestId).toBeTruthy();
});

test('a request id is taken over when it is one', async () => {
  const id = async (given: string) =>
    (await service.get('/v1/version', { headers: { 'x-request-id': given } })).headers.get('x-request-id');
  expect(await id('req-1:a/b=c')).toBe('req-1:a/b=c');
  expect(await id('<script>')).not.toBe('<script>');
  const made = await Promise.all([id('x'.repeat(500)), id('')]);
  for (const one of made) expect(one).toMatch(/^[\w-]{8}-\d+$/);
  expect(new Set(made).size).toBe(2);
});

test('a start that finds its port in use leaves nothing in the runtime directory', async () => {
  const before = await readdir(join(service.root, 'r'));
  const { port } = new URL(service.baseUrl);
  await expect(TestService.start(['--port', port], { root: service.root })).rejects.toThrow(/ended with 2/);
  expect(await readdir(join(service.root, 'r'))).toEqual(before);
});
