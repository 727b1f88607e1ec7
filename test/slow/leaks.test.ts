/**
 * A page that tries every way out, watched at the wire: nothing leaves, in both engines, with --strict-network and
 * without. Each has a control: the same Chrome and the same page without the flags of the lockdown, and there it leaks.
 */
import { writeFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import puppeteer from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine } from '../../src/sessions/find-chrome.ts';
import { PipeTransport } from '../../src/sessions/pipe-transport.ts';
import { attemptAll, attemptPaths, attempts, attemptsPages } from '../e2e/network/attempts.ts';
import { startSite } from '../e2e/network/site.ts';
import { eventually } from '../support/processes.ts';
import { engines, installed, startChrome } from '../support/real-chrome.ts';
import { TestService } from '../support/service.ts';
import type { WebServer } from '../support/web-server.ts';
import { inLab, Lab } from './lab.ts';
import { moreAttempts } from './more-attempts.ts';

const own = new Set(moreAttempts.map(({ name }) => name));
const list = [...attempts.filter(({ name }) => !own.has(name)), ...moreAttempts];
const withoutClick = list.filter(({ click }) => !click);
/** What comes late has no event to wait for. Chrome's own retries come within a second or two. */
const LATE_MS = 3000;
const modes = [
  { title: 'in normal mode', flags: [] },
  { title: 'with --strict-network', flags: ['--strict-network'] },
];
/** What Chrome is told so that it stays behind its floor; the control is told none of it. */
const LOCKDOWN =
  /^--(proxy-|host-resolver-rules|disable-quic|(force-)?webrtc-ip|disable-features|no-pings|disable-background-networking)/;

/** Written into about:blank. */
const html = attemptsPages('http://NAME.leak.example/x', list)['/attempts'] ?? '';

describe.skipIf(!inLab)('on a wire that carries all that leaves', () => {
  let lab: Lab;
  /** By name: a denied one causes no DNS query. By addresses of both families, which need none. */
  let byName: WebServer;
  let byFour: WebServer;
  let bySix: WebServer;
  beforeAll(async () => {
    lab = await Lab.start();
    byName = await startSite(attemptsPages('http://NAME.leak.example/x', list));
    byFour = await startSite(attemptsPages('http://203.0.113.7/NAME', list));
    bySix = await startSite(attemptsPages('http://[2001:db8:f::7]/NAME', list));
  });
  afterAll(async () => {
    for (const site of [byName, byFour, bySix]) await site?.[Symbol.asyncDispose]();
    await lab?.[Symbol.asyncDispose]();
  });

  describe.for(engines.map((engine) => ({ engine, path: installed(engine) })))('$engine', (one) => {
    const { engine, path } = one;

    test.skipIf(path === undefined)('control: without the lockdown the page does leak', async () => {
      await lab.quiet();
      lab.seen.length = 0;
      const urls = attemptPaths(list).map((at) => byName.url(at));
      await leak(engine, path ?? '', { urls });
      const missing = async () => leaks(engine).filter((line) => !lab.seen.includes(line));
      await eventually(missing, (lines) => lines.length === 0, 30_000);
    });

    test.skipIf(path === undefined)('control: so does one that is written into about:blank', async () => {
      await lab.quiet();
      lab.seen.length = 0;
      await leak(engine, path ?? '', { html });
      const missing = async () =>
        ['udp 3478', 'tcp 3478', 'dns fetch.leak.example'].filter((line) => !lab.seen.includes(line));
      await eventually(missing, (lines) => lines.length === 0, 30_000);
    });

    test.skipIf(path === undefined)(
      'in its own network not even a Chrome without lockdown leaks',
      async () => {
        const before = await lab.quiet();
        lab.seen.length = 0;
        // Nobody serves what listens there.
        await leak(engine, path ?? '', { html }, (listener) => listener.close());
        await delay(LATE_MS);
        expect(lab.seen).toEqual([]);
        expect((await lab.packets()) - before).toBe(0);
      },
    );

    test.skipIf(path === undefined).for(modes)('nothing leaves $title', async ({ flags }) => {
      const allow = [byName, byFour, bySix].map(({ port }) => `localhost:${port}`);
      await using service = await TestService.start([
        ...['--pool', '0', ...flags],
        ...allow.flatMap((entry) => ['--allow', entry]),
      ]);
      const before = await lab.quiet();
      lab.seen.length = 0;
      const session = await service.session({ engine, policy: { mode: 'allowlist', allow } });
      await attemptAll(service, session, byName, list);
      // Each was really made: it is in the log.
      const missing = () => missingIn(service, session, engine);
      await eventually(missing, (names) => names.length === 0, 30_000);
      for (const site of [byFour, bySix]) {
        await attemptAll(service, session, site, withoutClick);
        await delay(LATE_MS);
      }
      expect((await service.delete(session)).body).toMatchObject({ zero: true });
      expect(lab.seen).toEqual([]);
      expect((await lab.packets()) - before).toBe(0);
    });
  });

  test.each(modes)('what is allowed does go over the wire, and only that, $title', async ({ flags }) => {
    const file = join(tmpdir(), `policy-${process.pid}.json`);
    const entry = {
      host: 'ok.leak.example',
      ports: [80],
      resolvesTo: ['203.0.113.0/24', '2001:db8:f::/48'],
    };
    await writeFile(file, JSON.stringify({ mode: 'allowlist', allow: [entry] }));
    await using service = await TestService.start(['--pool', '0', '--policy', file, ...flags]);
    await lab.quiet();
    lab.seen.length = 0;
    const session = await service.session();
    const opened = await service.post(`${session}/navigate`, { url: 'http://ok.leak.example/' });
    expect(opened.body, opened.text).toMatchObject({ status: 200, title: 'far' });
    expect((await service.delete(session)).body).toMatchObject({ zero: true });
    expect(new Set(lab.seen)).toEqual(new Set(['dns ok.leak.example', 'tcp 80 ok']));
  });
});

const sent = (engine: Engine, of: typeof list): string[] =>
  of.flatMap(({ name, sends }) => (sends === undefined || sends === engine ? [name] : []));

/** Attempts by name that the log of a session does not have. WebRTC and the like never come to the floor. */
async function missingIn(service: TestService, session: string, engine: Engine): Promise<string[]> {
  const { body } = await service.get(`${session}/policy/decisions?verdict=deny&limit=2000`);
  const targets: string[] = body.decisions.map(({ target }: { target: string }) => target);
  const seen = new Set(targets.map((target) => target.replace(/^\w+:\/\//, '').split('.')[0]));
  const first = attempts.filter(({ name }) => !own.has(name));
  return sent(engine, first).filter((name) => !seen.has(name));
}

/** What the far side has to see of the control: DNS, TCP, and UDP of STUN, TURN and QUIC. */
function leaks(engine: Engine): string[] {
  const names = sent(engine, list).map((name) => `dns ${name}.leak.example`);
  return [...names, 'udp 3478', 'udp 4433', 'tcp 3478', 'tcp 5349', 'tcp 443', 'tcp 80 fetch'];
}

/** Opens pages in a Chrome without lockdown, and clicks their buttons. */
async function leak(
  engine: Engine,
  path: string,
  { urls = [], html: text }: { urls?: readonly string[]; html?: string },
  adopt?: (listener: Server) => void,
): Promise<void> {
  const place = { host: '127.0.0.1', port: 9 };
  const unlocked = (flags: string[]) => flags.filter((flag) => !LOCKDOWN.test(flag));
  const own = adopt && { place, adopt };
  const chrome = await startChrome(engine, path, { address: place.host, port: place.port }, unlocked, own);
  const transport = new PipeTransport(chrome.pipeWrite, chrome.pipeRead);
  const browser = await puppeteer.connect({ transport, defaultViewport: null });
  for (const url of [...urls, ...(text === undefined ? [] : ['about:blank'])]) {
    const page = await browser.newPage();
    await page.goto(url);
    if (text !== undefined) await page.setContent(text);
    const cdp = await page.createCDPSession();
    await cdp.send('Runtime.evaluate', { expression: 'go.click()', userGesture: true });
  }
}
