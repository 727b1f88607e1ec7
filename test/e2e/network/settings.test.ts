/**
 * Settings that lead traffic elsewhere: proxies, PAC scripts and encrypted DNS in a profile that stays, and an extension.
 * Each leads to a canary in a Chrome without the lockdown, or it would prove nothing, and nowhere in a session.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PipeTransport } from '../../../src/sessions/pipe-transport.ts';
import { eventually } from '../../support/processes.ts';
import { installed, startChrome } from '../../support/real-chrome.ts';
import { TestService } from '../../support/service.ts';
import { recordSocks } from '../../support/socks-recorder.ts';
import { WebServer } from '../../support/web-server.ts';
import { startSite } from './site.ts';

const canary = await WebServer.start();
const site = await startSite();
let service: TestService;
beforeAll(async () => {
  service = await TestService.start(['--pool', '0', '--allow', `localhost:${site.port}`]);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  for (const server of [canary, site]) await server[Symbol.asyncDispose]();
});

const at = `127.0.0.1:${canary.port}`;
const pac = `data:application/x-ns-proxy-autoconfig,${encodeURIComponent(`function FindProxyForURL() { return "PROXY ${at}" }`)}`;

interface Setting {
  readonly name: string;
  /** File of the profile, and what is in it. */
  readonly file: string;
  readonly value: unknown;
  /** What a page has to ask for so that it shows. */
  readonly url: string;
}

const PREFERENCES = join('Default', 'Preferences');
const settings: readonly Setting[] = [
  {
    name: 'a proxy',
    file: PREFERENCES,
    value: { proxy: { mode: 'fixed_servers', server: at } },
    url: 'http://canary.example/',
  },
  {
    name: 'a PAC script',
    file: PREFERENCES,
    value: { proxy: { mode: 'pac_script', pac_url: pac } },
    url: 'http://canary.example/',
  },
  {
    name: 'a PAC script on a server',
    file: PREFERENCES,
    value: { proxy: { mode: 'pac_script', pac_url: `http://${at}/proxy.pac` } },
    url: 'http://canary.example/',
  },
  { name: 'no proxy', file: PREFERENCES, value: { proxy: { mode: 'direct' } }, url: `http://${at}/` },
  {
    name: 'DNS over HTTPS',
    file: 'Local State',
    value: { dns_over_https: { mode: 'secure', templates: `https://${at}/dns-query{?dns}` } },
    url: 'http://canary.example/',
  },
];

const PROFILE = '--user-data-dir=';
const LOCKDOWN = ['--proxy-server=', '--proxy-bypass-list=', '--host-resolver-rules=', '--disable-features='];

function put(profile: string, { file, value }: Setting): void {
  mkdirSync(join(profile, 'Default'), { recursive: true, mode: 0o700 });
  writeFileSync(join(profile, file), JSON.stringify(value));
}

/** A page of a Chrome with the service's flags, changed by `edit`. */
async function openPage(path: string, edit: (flags: string[]) => string[]) {
  const chrome = await startChrome('chrome', path, await recordSocks(), edit);
  const transport = new PipeTransport(chrome.pipeWrite, chrome.pipeRead);
  const browser = await puppeteer.connect({ transport, defaultViewport: null });
  onTestFinished(() => transport.close());
  return browser.newPage();
}

function directory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'set-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  return dir;
}

const path = installed('chrome');

describe.skipIf(path === undefined).each(settings)('$name in the profile', (setting) => {
  test('leads to the canary in a Chrome without the lockdown', async () => {
    canary.clear();
    const page = await openPage(path ?? '', (flags) => {
      const profile = flags.find((flag) => flag.startsWith(PROFILE))?.slice(PROFILE.length);
      if (profile === undefined) throw new Error('no profile among the flags');
      put(profile, setting);
      return flags.filter((flag) => !LOCKDOWN.some((name) => flag.startsWith(name)));
    });
    await page.goto(setting.url).catch(() => undefined);
    await eventually(
      async () => canary.connections,
      (count) => count > 0,
    );
  });

  test('leads nowhere in a session', async () => {
    const name = setting.name.replaceAll(' ', '-');
    put(join(service.root, 'data', 'airlock', 'profiles', name), setting);
    canary.clear();
    const session = await service.session({ engine: 'chrome', profile: name });
    const asked = [setting.url, `http://${at}/`, site.url('/')].map(
      (url) => `fetch(${JSON.stringify(url)}, { mode: 'no-cors' }).then(() => 'came', () => 'did not')`,
    );
    const expression = `Promise.all([${asked.join()}])`;
    const { body } = await service.post(`${session}/eval`, { expression });
    expect(body.value).toEqual(['did not', 'did not', 'came']);
    const navigated = await service.post(`${session}/navigate`, { url: setting.url });
    expect(navigated.status).not.toBe(200);
    expect(canary.connections).toBe(0);
    const { decisions } = (await service.get(`${session}/policy/decisions?verdict=deny`)).body;
    expect(decisions.map(({ target }: { target: string }) => target)).toContain(at);
    await service.delete(session);
  });
});

describe.skipIf(path === undefined)('an extension that sets a proxy', () => {
  const extension = () => {
    const dir = directory();
    const manifest = {
      manifest_version: 3,
      name: 'away',
      version: '1',
      permissions: ['proxy'],
      background: { service_worker: 'away.js' },
    };
    writeFileSync(join(dir, 'manifest.json'), JSON.stringify(manifest));
    const proxy = { scheme: 'http', host: '127.0.0.1', port: canary.port };
    const value = JSON.stringify({ mode: 'fixed_servers', rules: { singleProxy: proxy } });
    writeFileSync(join(dir, 'away.js'), `chrome.proxy.settings.set({ value: ${value}, scope: 'regular' })`);
    return dir;
  };
  const load = (flags: string[]) => [
    `--load-extension=${extension()}`,
    ...flags.map((flag) =>
      flag.startsWith('--disable-features=') ? `${flag},DisableLoadExtensionCommandLineSwitch` : flag,
    ),
  ];
  /** Asks until the canary hears of it, or as often as that takes where it does. */
  async function ask(flags: (flags: string[]) => string[], times: number): Promise<number> {
    canary.clear();
    const page = await openPage(path ?? '', flags);
    for (let n = 0; n < times && canary.connections === 0; n++) {
      await page.goto(`http://canary${n}.example/`).catch(() => undefined);
    }
    return canary.connections;
  }

  test('beats the flag of the floor where extensions are on, and is not there where they are off', async () => {
    const allowed = (flags: string[]) => load(flags).filter((flag) => flag !== '--disable-extensions');
    expect(await ask(allowed, 100)).toBeGreaterThan(0);
    expect(await ask(load, 100)).toBe(0);
  });
});
