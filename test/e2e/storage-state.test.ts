import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { PageServer } from '../support/page-harness.ts';
import { eventually } from '../support/processes.ts';
import { engines, installed } from '../support/real-chrome.ts';
import { TestService } from '../support/service.ts';

const WORKER = `self.addEventListener('fetch', (event) => event.respondWith(
  new Response('<script>localStorage.setItem("by", "the worker")</script>', { headers: { 'content-type': 'text/html' } })))`;

const site = await PageServer.open({
  '/': '<title>home</title>',
  '/worker':
    '<script>navigator.serviceWorker.register("/sw.js").then(() => navigator.serviceWorker.ready).then(() => { document.title = "ready" })</script>',
  '/sw.js': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(WORKER);
  },
});
const local = new URL(site.url('/')).origin;
const service = await TestService.start(['--pool', '0', '--allow', `127.0.0.1:${site.port}`]);

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

const cookie = {
  name: 'sid',
  value: 'abc',
  domain: '127.0.0.1',
  path: '/',
  expires: -1,
  httpOnly: true,
  secure: false,
  sameSite: 'Lax',
};
const partitioned = {
  name: 'p',
  value: '1',
  domain: 'widget.example',
  path: '/',
  expires: -1,
  httpOnly: false,
  secure: true,
  sameSite: 'None',
  partitionKey: 'https://shop.example',
  _crHasCrossSiteAncestor: true,
};
const byName = <T extends { name: string }>(list: T[]) =>
  [...list].sort((a, b) => a.name.localeCompare(b.name));

/** What the session has done on the network, and what is seen of it. */
async function traces(path: string) {
  const { body } = await service.get(path);
  const decisions = await service.get(`${path}/policy/decisions`);
  return {
    connections: body.floor.connections,
    denied: body.floor.denied,
    tabs: body.tabs.length,
    decisions: decisions.body,
  };
}

describe.each(engines.filter((engine) => installed(engine)))('%s', (engine) => {
  // The second has every request intercepted, those of pages of ours too.
  test.each([{}, { deny: [{ host: '10.0.0.0/8', path: '/x' }] }])(
    'a session begins with a state, has it again to give, and sends nothing for it; under %j',
    async (policy) => {
      const state = {
        cookies: [cookie, partitioned],
        origins: [
          {
            origin: local,
            localStorage: [
              { name: 'token', value: 'ü "quoted" \ud83d' },
              { name: 'length', value: 'x' },
            ],
          },
          { origin: 'https://shop.example', localStorage: [{ name: 'cart', value: '[1,2]' }] },
          // The policy denies both: what is stored is not what is sent.
          { origin: 'http://10.0.0.1:8080', localStorage: [{ name: 'a', value: '' }] },
          { origin: 'http://localhost:1', localStorage: [{ name: 'b', value: '2' }] },
        ],
      };
      const before = site.requests.length;
      const path = await service.session({ engine, policy, storageState: state });
      const fresh = await traces(await service.session({ engine, policy }));
      expect(await traces(path)).toEqual(fresh);

      const read = await service.get(`${path}/state`);
      expect(read.status).toBe(200);
      expect(read.headers.get('airlock-untrusted')).toBe('page');
      expect(byName(read.body.cookies)).toEqual(byName(state.cookies));
      expect(read.body.origins).toEqual(state.origins);
      expect(await traces(path)).toEqual(fresh);
      expect(site.requests.slice(before)).toEqual([]);

      await service.post(`${path}/navigate`, { url: site.url('/') });
      const seen = await service.post(`${path}/eval`, { expression: '[localStorage.token, history.length]' });
      expect(seen.body.value[0]).toBe('ü "quoted" \ud83d');
      expect(site.requests.slice(before).filter((request) => request !== 'GET /favicon.ico')).toEqual([
        'GET /',
      ]);
      await service.delete('/v1/sessions');
    },
  );

  test('what pages stored is in the state, of origins that are open and of those that are not', async () => {
    const path = await service.session({ engine });
    await service.post(`${path}/navigate`, { url: site.url('/') });
    await service.post(`${path}/eval`, {
      expression: 'localStorage.setItem("n", 1), document.cookie = "a=1"',
    });
    expect((await service.get(`${path}/state`)).body).toMatchObject({
      cookies: [{ name: 'a', value: '1' }],
      origins: [{ origin: local, localStorage: [{ name: 'n', value: '1' }] }],
    });
    await service.post(`${path}/navigate`, { url: 'about:blank' });
    expect((await service.get(`${path}/state`)).body.origins).toEqual([
      { origin: local, localStorage: [{ name: 'n', value: '1' }] },
    ]);
    // A state takes the place of what is there.
    const put = await service.call('PUT', `${path}/state`, { body: { cookies: [cookie] } });
    expect(put.body).toEqual({ cookies: 1, origins: [] });
    expect((await service.get(`${path}/state`)).body).toEqual({ cookies: [cookie], origins: [] });
    await service.delete(path);
  });

  test('a service worker of the origin has no say', async () => {
    const path = await service.session({ engine });
    await service.post(`${path}/navigate`, { url: site.url('/worker') });
    await service.post(`${path}/wait`, { function: 'document.title === "ready"' });
    await service.post(`${path}/eval`, { expression: 'localStorage.setItem("by", "the page")' });
    await service.post(`${path}/navigate`, { url: 'about:blank' });
    expect((await service.get(`${path}/storage/local?origin=${local}`)).body).toEqual({
      origin: local,
      items: [{ name: 'by', value: 'the page' }],
    });
    await service.delete(path);
  });

  test('storage of the page: set, read and emptied, local and session', async () => {
    const path = await service.session({ engine });
    await service.post(`${path}/navigate`, { url: site.url('/') });
    for (const area of ['local', 'session']) {
      const items = [{ name: 'k', value: 'v' }];
      const set = await service.call('PUT', `${path}/storage/${area}`, { body: { items } });
      expect(set.body).toEqual({ origin: local, items });
      const seen = await service.post(`${path}/eval`, { expression: `${area}Storage.k` });
      expect(seen.body.value).toBe('v');
      expect((await service.delete(`${path}/storage/${area}`)).body).toEqual({ origin: local, cleared: 1 });
      expect((await service.get(`${path}/storage/${area}`)).body).toEqual({ origin: local, items: [] });
    }
    const elsewhere = await service.get(`${path}/storage/session?origin=https://shop.example`);
    expect(elsewhere.body).toMatchObject({ status: 404, code: 'frame_not_found' });
    await service.delete(path);
  });

  test('the page that shows an origin is no tab, whatever opens meanwhile', async () => {
    const path = await service.session({ engine });
    const origins = Array.from({ length: 10 }, (_, at) => ({
      origin: `https://n${at}.example`,
      localStorage: [{ name: 'n', value: String(at) }],
    }));
    const opening = (async () => {
      for (let at = 0; at < 8; at += 1) await service.post(`${path}/tabs`);
    })();
    const put = await service.call('PUT', `${path}/state`, { body: { origins } });
    expect(put.body.origins).toHaveLength(10);
    await opening;
    expect((await service.get(`${path}/state`)).body.origins).toEqual(origins);
    const tabs = (await service.get(`${path}/tabs`)).body.tabs.map(({ id }: { id: string }) => id);
    expect(tabs).toEqual(Array.from({ length: 9 }, (_, at) => `t${at + 1}`));
    await service.delete(path);
  });

  test('a session that closes, and an operation that is out of time, end a visit', async () => {
    const path = await service.session({ engine });
    const origins = Array.from({ length: 200 }, (_, at) => ({
      origin: `https://n${at}.example`,
      localStorage: [],
    }));
    const late = await service.call('PUT', `${path}/state`, { body: { origins, timeoutMs: 150 } });
    expect(late.body).toMatchObject({ status: 504, code: 'timeout' });
    expect((await service.get(`${path}/storage/local?origin=https://a.example`)).body.items).toEqual([]);
    const put = service.call('PUT', `${path}/state`, { body: { origins } });
    await eventually(
      () => service.get(path),
      (answer) => answer.body.laneDepth === 1,
    );
    const receipt = await service.delete(path);
    expect(receipt.body).toMatchObject({ zero: true, processes: { survivors: 0 } });
    expect((await put).body).toMatchObject({ status: 410, code: 'session_gone' });
  });

  test('an open dialog is told, not waited for, and keeps no page of ours open', async () => {
    const path = await service.session({ engine });
    await service.post(`${path}/navigate`, { url: site.url('/') });
    await service.post(`${path}/eval`, { expression: 'setTimeout(() => alert("hello"))' });
    await eventually(
      () => service.get(`${path}/dialog`),
      (answer) => answer.status === 200 && answer.body.dialog !== null,
    );
    const state = await service.get(`${path}/state`);
    expect(state.body).toMatchObject({ status: 409, code: 'dialog_open' });
    await service.post(`${path}/dialog`, { action: 'accept' });
    expect((await service.get(`${path}/state`)).status).toBe(200);
    await service.delete(path);
  });

  test('an item that does not fit is an error, and what was there is there still', async () => {
    const path = await service.session({ engine });
    const origin = 'https://shop.example';
    await service.call('PUT', `${path}/storage/local`, {
      body: { origin, items: [{ name: 'old', value: '1' }] },
    });
    const items = [
      { name: 'small', value: '1' },
      { name: 'big', value: 'x'.repeat(6 * 1024 * 1024) },
    ];
    const put = await service.call('PUT', `${path}/storage/local`, { body: { origin, items } });
    expect(put.body).toMatchObject({
      status: 422,
      code: 'storage_rejected',
      rejected: [{ index: 1, name: 'big', why: 'QuotaExceededError' }],
    });
    expect((await service.get(`${path}/storage/local?origin=${origin}`)).body.items).toEqual([
      { name: 'old', value: '1' },
    ]);
    expect((await service.get(`${path}/state`)).body.origins).toEqual([
      { origin, localStorage: [{ name: 'old', value: '1' }] },
    ]);
    await service.delete(path);
  });

  test.each([
    ['cookie_rejected', { cookies: [{ ...cookie, sameSite: 'None' }] }],
    ['cookie_rejected', { cookies: [{ ...cookie, expires: 1 }] }],
    [
      'storage_rejected',
      { origins: [{ origin: 'https://a.example', localStorage: [{ name: 'x', value: 'x'.repeat(6e6) }] }] },
    ],
    ['invalid_request', { origins: [{ origin: 'https://a.example/path', localStorage: [] }] }],
    ['invalid_request', { origins: [{ origin: 'file:///', localStorage: [] }] }],
    ['invalid_request', { origins: [{ origin: 'https://a.example', localStorage: [], indexedDB: [] }] }],
  ])('%s: no session comes of a state that was not stored, and nothing stays', async (code, storageState) => {
    const answer = await service.post('/v1/sessions', { engine, storageState });
    expect(answer.body).toMatchObject({ status: 422, code });
    expect((await service.get('/v1/sessions')).body.sessions).toEqual([]);
    const runtime = join(service.root, 'r');
    expect(
      existsSync(runtime) && readdirSync(runtime).filter((name) => name.startsWith('airlock-chrome-')),
    ).toEqual([]);
  });
});
