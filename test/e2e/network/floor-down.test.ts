/** A floor that ends under a live session. In this process, so that the floor of a session can be made to end. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import pino from 'pino';
import puppeteer from 'puppeteer-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Floor } from '../../../src/policy/floor.ts';
import { parsePolicy } from '../../../src/policy/policy.ts';
import { Resolver } from '../../../src/policy/resolver.ts';
import { SelfRegistry } from '../../../src/policy/self.ts';
import { RuntimeDir } from '../../../src/residual/runtime-dir.ts';
import { buildServer } from '../../../src/server.ts';
import { whyNoOwnNetwork } from '../../../src/sessions/own-network.ts';
import { PipeTransport } from '../../../src/sessions/pipe-transport.ts';
import { Service } from '../../../src/sessions/service.ts';
import { eventually } from '../../support/processes.ts';
import { engines, installed, startChrome } from '../../support/real-chrome.ts';
import { WebServer } from '../../support/web-server.ts';

const installs = engines.map((engine) => ({ engine, path: installed(engine) }));
const impossible = await whyNoOwnNetwork();

const TOKEN = 'token-of-this-test';

/** Answers everything but /never. */
async function startSite(): Promise<WebServer> {
  const site = await WebServer.start((request, response) => {
    if (request.url === '/never') return;
    response.writeHead(200, { 'content-type': 'text/html', connection: 'close' }).end('<title>there</title>');
  });
  onTestFinished(() => site[Symbol.asyncDispose]());
  return site;
}

/** A whole service without a port of its own; its routes are called directly. */
async function startService(allow: string[], strictNetwork: boolean) {
  const root = await mkdtemp(join(tmpdir(), 'a-'));
  const runtimeDir = await RuntimeDir.open(join(root, 'r'));
  const service = new Service({
    version: '0',
    stateDir: root,
    dataDir: join(root, 'data'),
    runtimeDir,
    self: new SelfRegistry(),
    policy: parsePolicy({ allow }),
    engine: 'headless-shell',
    chrome: undefined,
    noSandbox: process.getuid?.() === 0,
    strictNetwork,
    dns: [],
    pool: 0,
    maxSessions: 2,
    node: undefined,
    ttlSec: 600,
    idleSec: 600,
    diskQuotaBytes: 1024 ** 3,
    onFault: () => undefined,
    onSwept: () => undefined,
  });
  const access = { token: TOKEN, hostNames: [] };
  const app = await buildServer({ service, logger: pino({ level: 'silent' }), access, version: '0' });
  onTestFinished(async () => {
    await service.stop(0, AbortSignal.abort());
    await app.close();
    await service.sweeper[Symbol.asyncDispose]();
    await runtimeDir[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  });
  return { service, app };
}

describe.for(installs)('$engine', ({ engine, path }) => {
  test.skipIf(path === undefined).for([{ strict: false }, { strict: true }])(
    'the session ends with its floor, and says so (strict network: $strict)',
    async ({ strict }, { skip }) => {
      if (strict && impossible !== undefined) skip(`no network namespaces: ${impossible}`);
      const site = await startSite();
      const { service, app } = await startService([`localhost:${site.port}`], strict);
      const session = await service.create({ spec: { engine }, client: new AbortController().signal });
      const base = `/v1/sessions/${session.id}`;
      const headers = { authorization: `Bearer ${TOKEN}` };
      const get = (url: string) => app.inject({ method: 'GET', url, headers });
      const post = (route: string, payload: object) =>
        app.inject({ method: 'POST', url: base + route, payload, headers });
      expect((await post('/navigate', { url: site.url() })).json()).toMatchObject({ status: 200 });
      // A page that goes on asking, and an operation that waits for it.
      const ask = `setInterval(() => fetch('/again').catch(() => 0), 20); 0`;
      expect((await post('/eval', { expression: ask })).statusCode).toBe(200);
      const events = get(`${base}/events`);
      const waiting = post('/navigate', { url: site.url('/never') });
      await eventually(
        async () => site.requests,
        (requests) => requests.some((line) => line.endsWith('/never')),
      );

      const closed = new Promise((resolve) => session.once('closed', resolve));
      session.browser.floor.fail(new Error('the port was taken away'));
      // What was connected before is still to be counted, in the turns of the loop that follow.
      for (let turn = 0; turn < 3; turn += 1) await setImmediate();
      const connections = site.connections;
      expect((await waiting).json()).toMatchObject({ code: 'session_gone', reason: 'floor_down' });
      await closed;
      const shown = await get(base);
      expect(shown.json()).toMatchObject({ status: 410, reason: 'floor_down', receipt: { zero: true } });
      const told = (await events).body;
      expect(told).toMatch(/event: closing\n.*floor_down/);
      expect(told).toMatch(/event: closed\n.*floor_down/);
      expect(site.connections).toBe(connections);
    },
  );

  test.skipIf(path === undefined)('a Chrome that has lost its floor loads nothing, by no way', async () => {
    const site = await startSite();
    const self = new SelfRegistry();
    const policy = parsePolicy({ allow: [`localhost:${site.port}`, `127.0.0.1:${site.port}`] });
    const floor = await Floor.open({ policy, self, resolver: new Resolver() });
    onTestFinished(async () => void (await floor.close()));
    const chrome = await startChrome(engine, path ?? '', floor);
    const transport = new PipeTransport(chrome.pipeWrite, chrome.pipeRead);
    const browser = await puppeteer.connect({ transport, defaultViewport: null });
    const [page] = await browser.pages();
    if (page === undefined) throw new Error('no page');
    await page.goto(site.url());
    const tries = [site.url('/a'), site.url('/b', '127.0.0.1'), `http://[::1]:${site.port}/c`];
    const attempt = async () => {
      const script = `Promise.all(${JSON.stringify(tries)}.flatMap((url) => [
        fetch(url, { mode: 'no-cors' }).then(() => url, () => 'failed'),
        new Promise((done) => { const i = new Image(); i.onerror = () => done('failed'); i.onload = () => done(url); i.src = url + '.png'; }),
        new Promise((done) => { const w = new WebSocket(url.replace('http', 'ws')); w.onerror = () => done('failed'); w.onopen = () => done(url); }),
      ]))`;
      return (await page.evaluate(script)) as string[];
    };
    expect(new Set(await attempt())).toContain(tries[0]);
    const connections = site.connections;
    await floor.close();
    expect(new Set(await attempt())).toEqual(new Set(['failed']));
    await expect(page.goto(site.url('/d'))).rejects.toThrow(/ERR_/);
    expect(site.connections).toBe(connections);
  });
});
