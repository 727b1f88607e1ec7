/**
 * A session that begins without rules about URLs runs without interception. One that gets such rules later, or is given to
 * a caller with them, must have it for all that runs by then.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/processes.ts';
import { engines, installed } from '../../support/real-chrome.ts';
import { TestService } from '../../support/service.ts';
import type { WebServer } from '../../support/web-server.ts';
import { html, startSite } from './site.ts';

/** Asks for a path that will be denied and for one that stays allowed, again and again, from its own kind of place. */
const asking = (from: string) =>
  `(async () => { for (;;) { for (const path of ['/secret', '/open']) await fetch(path + '?${from}').catch(() => 0);
    await new Promise((resolve) => setTimeout(resolve, 50)); } })();`;
const script = (code: string) => `<script>${code}</script>`;
const worker = (code: string) => `/worker.js?code=${encodeURIComponent(code)}`;
const shared = `new SharedWorker(${JSON.stringify(worker(asking('shared')))}).port.start();`;

const NESTED = `new Worker(${JSON.stringify(worker(asking('nested')))}, { name: 'nested' });`;
const IN_PAGES = ['page', 'frame', 'framed-worker', 'other-site', 'worker', 'nested'];
const LASTING = ['shared', 'service'];

/** Lets the answers go that are waited for. */
const held: (() => void)[] = [];
const site: WebServer = await startSite({
  '/': (request, response) => {
    const other = `http://127.0.0.1:${request.socket.localPort}/other-site`;
    html(
      response,
      `<iframe src=/frame></iframe><iframe src="${other}"></iframe>${script(`${asking('page')} ${shared}
      new Worker(${JSON.stringify(worker(asking('worker') + NESTED))});
      navigator.serviceWorker.register(${JSON.stringify(worker(`onmessage = () => 0; ${asking('service')}`))});`)}`,
    );
  },
  '/frame': `${script(asking('frame'))}`,
  '/other-site': script(
    `${asking('other-site')} new Worker(${JSON.stringify(worker(asking('framed-worker')))});`,
  ),
  '/back': script(`onpageshow = () => fetch('/secret?back').catch(() => 0).then(() => fetch('/open?back'))`),
  // Answers when the test says so, and leads on.
  '/slow': (request, response) => {
    const to = `http://127.0.0.1:${request.socket.localPort}/secret?slow`;
    held.push(() => response.writeHead(307, { location: to, 'access-control-allow-origin': '*' }).end());
  },
  '/kept': (_request, response) => html(response, 'kept', { 'cache-control': 'max-age=1000' }),
  '/to-user': (request, response) => {
    response.writeHead(302, { location: `http://user:word@${request.headers.host}/secret?redirected` }).end();
  },
});
const DENY = ['localhost', '127.0.0.1'].map((host) => ({ host: `${host}:${site.port}`, path: '/secret' }));

let service: TestService;
beforeAll(async () => {
  service = await TestService.start([
    '--allow',
    `localhost:${site.port}`,
    '--allow',
    `127.0.0.1:${site.port}`,
  ]);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

/** Who asked for a path since the server forgot, each as often as it did. */
function askedFor(path: string): string[] {
  return site.requests.flatMap((line) => line.split(`${path}?`)[1] ?? []);
}

/** Resolves when each of `names` has asked for `path` three times from now on. */
async function untilAsked(path: string, names: readonly string[]): Promise<void> {
  site.clear();
  site.clear();
  const missing = async () => names.filter((name) => askedFor(path).filter((one) => one === name).length < 3);
  await eventually(missing, (left) => left.length === 0, 30_000);
}

/** @returns how many connections were cut */
async function deny(session: string): Promise<number> {
  const answer = await service.call('PUT', `${session}/policy`, { body: { policy: { deny: DENY } } });
  expect(answer.status).toBe(200);
  return answer.body.connectionsClosed;
}

describe.for(engines.map((engine) => ({ engine, path: installed(engine) })))(
  '$engine',
  { timeout: 90_000 },
  ({ engine, path }) => {
    test.skipIf(path === undefined)('a path is closed to everything that runs, at once', async () => {
      const session = await service.session({ engine });
      await service.post(`${session}/navigate`, { url: site.url('/') });
      await untilAsked('/secret', [...IN_PAGES, ...LASTING]);
      await deny(session);
      // What was under way when the rule came has arrived when each has come back.
      await untilAsked('/open', IN_PAGES);
      await untilAsked('/open', IN_PAGES);
      expect(askedFor('/secret')).toEqual([]);

      // Shared and service workers have ended. Pages that want them start them again, under the new rules.
      expect(askedFor('/open').filter((name) => LASTING.includes(name))).toEqual([]);
      const expression = `${shared} navigator.serviceWorker.getRegistration().then((one) => one.active.postMessage(1))`;
      expect((await service.post(`${session}/eval`, { expression })).status).toBe(200);
      await untilAsked('/open', [...IN_PAGES, ...LASTING]);
      expect(askedFor('/secret')).toEqual([]);
      await service.delete(session);
    });

    test.skipIf(path === undefined)('a request that is under way is not led on to it', async () => {
      site.clear();
      held.length = 0;
      const session = await service.session({ engine });
      await service.post(`${session}/navigate`, { url: site.url('/page') });
      const expression = `globalThis.slow = fetch('/slow').then((r) => r.text(), () => 'failed'), 0`;
      await service.post(`${session}/eval`, { expression });
      await eventually(
        async () => held.length,
        (count) => count === 1,
      );
      expect(await deny(session)).toBeGreaterThan(0);
      held[0]?.();
      expect((await service.post(`${session}/eval`, { expression: 'slow' })).body.value).toBe('failed');
      expect(askedFor('/secret')).toEqual([]);
      await service.delete(session);
    });

    test.skipIf(path === undefined).each([0, 10, 20, 30, 60])(
      'popups and frames that are made %s ms before or while the rule comes have it, or are gone',
      async (ms) => {
        const session = await service.session({ engine });
        await service.post(`${session}/navigate`, { url: site.url('/page') });
        const code = asking('new').replaceAll('fetch(path', `fetch('${site.url('')}' + path`);
        const popup = `{ const w = open('about:blank'); const s = w.document.createElement('script');
          s.textContent = ${JSON.stringify(code)}; w.document.body.append(s); }`;
        const frame = `{ const f = document.createElement('iframe'); document.body.append(f); f.contentWindow.eval(${JSON.stringify(code)}); }`;
        const expression = `${asking('page')}
          for (let i = 0; i < 4; i += 1) setTimeout(() => { ${popup} ${frame} }, i * 10); 0`;
        await service.post(`${session}/eval`, { expression });
        // Nothing to wait for: it is the moment that differs.
        await new Promise((resolve) => setTimeout(resolve, ms));
        await deny(session);
        await untilAsked('/open', ['page']);
        await untilAsked('/open', ['page']);
        expect(askedFor('/secret')).toEqual([]);
        await service.delete(session);
      },
    );

    test.skipIf(path === undefined)(
      'what a host that is denied has left in the cache is not shown',
      async () => {
        const session = await service.session({ engine });
        await service.post(`${session}/navigate`, { url: site.url('/kept') });
        await service.post(`${session}/navigate`, { url: site.url('/page', '127.0.0.1') });
        const link = `document.body.innerHTML = '<a href="${site.url('/kept')}">go</a>'`;
        await service.post(`${session}/eval`, { expression: link });
        site.clear();
        const body = { policy: { deny: [`localhost:${site.port}`] } };
        expect((await service.call('PUT', `${session}/policy`, { body })).status).toBe(200);
        const kept = `fetch('${site.url('/kept')}', { mode: 'no-cors' }).then(() => 'came', () => 'did not')`;
        expect((await service.post(`${session}/eval`, { expression: kept })).body.value).toBe('did not');
        const clicked = await service.post(`${session}/click`, { target: { text: 'go' } });
        expect(clicked.body).toMatchObject({ code: 'policy_denied', decision: { reason: 'rule' } });
        // Of the other host, which may be asked, full Chrome wants an icon.
        expect(site.requests.filter((line) => line.includes(' localhost:'))).toEqual([]);
        await service.delete(session);
      },
    );

    test.skipIf(path === undefined)('nor by a session that had no tab when the rule came', async () => {
      const session = await service.session({ engine });
      await service.post(`${session}/navigate`, { url: site.url('/kept') });
      expect((await service.delete(`${session}/tabs/t1`)).status).toBe(200);
      site.clear();
      const body = { policy: { deny: [`localhost:${site.port}`] } };
      expect((await service.call('PUT', `${session}/policy`, { body })).status).toBe(200);
      expect((await service.post(`${session}/tabs`)).status).toBe(201);
      const expression = `fetch('${site.url('/kept')}', { mode: 'no-cors' }).then(() => 'came', () => 'did not')`;
      expect((await service.post(`${session}/eval`, { expression })).body.value).toBe('did not');
      expect(site.requests).toEqual([]);
      await service.delete(session);
    });

    test.skipIf(path === undefined)('a page that comes back from the history has the new rules', async () => {
      site.clear();
      const session = await service.session({ engine });
      await service.post(`${session}/navigate`, { url: site.url('/back') });
      await eventually(
        async () => askedFor('/open'),
        (names) => names.length === 1,
      );
      await service.post(`${session}/navigate`, { url: site.url('/elsewhere', '127.0.0.1') });
      await deny(session);
      expect((await service.post(`${session}/back`)).status).toBe(200);
      await eventually(
        async () => askedFor('/open'),
        (names) => names.length === 2,
      );
      expect(askedFor('/secret')).toEqual(['back']);
      await service.delete(session);
    });

    test.skipIf(path === undefined).each([true, false])(
      'rules of the first day hold on the page that a browser starts with; from the pool: %s',
      async (pooled) => {
        site.clear();
        const own = pooled ? {} : { storageState: { cookies: [], origins: [] } };
        const session = await service.session({ engine, policy: { deny: DENY }, ...own });
        const ask = (to: string) =>
          `fetch('${site.url(to)}', { mode: 'no-cors' }).then(() => 'came', () => 'did not')`;
        const expression = `Promise.all([${ask('/secret?first')}, ${ask('/open?first')}])`;
        const { body } = await service.post(`${session}/eval`, { expression });
        expect(body.value).toEqual(['did not', 'came']);
        expect([askedFor('/secret'), askedFor('/open')]).toEqual([[], ['first']]);
        await service.delete(session);
      },
    );
  },
);

describe.skipIf(installed('headless-shell') === undefined)('without interception', () => {
  test('each hop is judged by its full URL: a user name in a redirect or a link is refused', async () => {
    site.clear();
    const session = await service.session();
    const redirected = await service.post(`${session}/navigate`, { url: site.url('/to-user') });
    expect([redirected.body.code, redirected.body.decision?.reason]).toEqual(['policy_denied', 'userinfo']);
    await service.post(`${session}/navigate`, { url: site.url('/page') });
    const opened = `document.body.innerHTML = '<a target=_blank href="http://user:word@localhost:${site.port}/secret?new">new</a>'`;
    await service.post(`${session}/eval`, { expression: opened });
    const popup = await service.post(`${session}/click`, { target: { text: 'new' } });
    expect([popup.body.code, popup.body.decision?.reason]).toEqual(['policy_denied', 'userinfo']);
    expect(popup.text).not.toContain('word@');
    expect((await service.get(`${session}/policy/decisions`)).text).not.toContain('word@');
    const link = `document.body.innerHTML = '<a href="http://user:word@localhost:${site.port}/secret?linked">go</a>'`;
    await service.post(`${session}/eval`, { expression: link });
    const clicked = await service.post(`${session}/click`, { target: { text: 'go' } });
    expect([clicked.body.code, clicked.body.decision?.reason]).toEqual(['policy_denied', 'userinfo']);
    expect((await service.get(`${session}/tabs`)).body.tabs[0].url).toBe(site.url('/page'));
    await service.delete(session);
  });

  test('documents are in the log with their whole address and their tab', async () => {
    const session = await service.session();
    await service.post(`${session}/navigate`, { url: site.url('/page?whole=1') });
    const { body } = await service.get(`${session}/policy/decisions`);
    const mine = body.decisions.filter(({ stage }: { stage: string }) => stage === 'url');
    expect(mine).toMatchObject([
      { target: site.url('/page?whole=1'), verdict: 'allow', tab: 't1', count: 1 },
    ]);
    await service.delete(session);
  });
});
