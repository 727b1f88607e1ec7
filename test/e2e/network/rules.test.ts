/**
 * The corpus of the policy, through a real Chrome. Where the policy says yes the floor goes out through a proxy that
 * writes down what it is asked for and connects to nothing, so that no row can reach the internet; where it says no,
 * neither that proxy nor a canary on loopback may hear of it.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { corpusFiles, rowsOf, unescaped } from '../../policy/corpus.ts';
import { DnsServer } from '../../support/dns-server.ts';
import { processesWith } from '../../support/processes.ts';
import { EgressProxy } from '../../support/proxies.ts';
import { engines, installed } from '../../support/real-chrome.ts';
import { TestService } from '../../support/service.ts';
import { WebServer } from '../../support/web-server.ts';

interface Row {
  /** As it is handed to the page. */
  readonly raw: string;
  readonly verdict: string;
  readonly cls: string;
  readonly dns: readonly string[];
  /** `host:port` as the log of the floor has it; undefined where it is no URL with a host. */
  readonly target: string | undefined;
}

/** What a resolver of ours can be made to answer: an address with a zone has no form in DNS. */
const answerable = (row: Row): boolean => row.dns.every((address) => !address.includes('%'));

function rowOf(raw: string, verdict: string, cls: string, dns: readonly string[]): Row {
  const url = URL.parse(raw);
  const http = url?.protocol === 'http:' || url?.protocol === 'https:';
  const port = url?.port || (url?.protocol === 'https:' ? '443' : '80');
  const host = url?.hostname.replace(/\.$/, '') ?? '';
  return { raw, verdict, cls, dns, target: http && host !== '' ? `${host}:${port}` : undefined };
}

const [corpus = '', allowCorpus = ''] = [corpusFiles('policy.tsv')[0], corpusFiles('policy-allow.tsv')[0]];
const rows: readonly Row[] = rowsOf(corpus)
  .filter(([, , , note = '']) => note.startsWith('kind=url'))
  .map(([body = '', verdict = '', cls = '', note = '']) =>
    rowOf(unescaped(body), verdict, cls, /dns=([^;\s]*)/.exec(note)?.[1]?.split('|') ?? []),
  )
  .filter(answerable);

/** Answers of the rows that are under test now, by name. */
const answers = new Map<string, readonly string[]>();
const dns = await DnsServer.start(({ name }) => {
  const addresses = answers.get(name);
  if (addresses === undefined) return 'nxdomain';
  if (addresses.includes('TIMEOUT')) return 'silence';
  return { addresses: addresses.map(groupsOnly) };
});
/** Connects to nothing: 2 is "not allowed by ruleset". */
const proxy = await EgressProxy.socks5({ refuseWith: 2 });
const canary = await WebServer.start();
const proxyEntry = `127.0.0.1:${proxy.port}`;
const egress = `socks5://${proxyEntry}`;

afterAll(async () => {
  for (const part of [dns, proxy, canary]) await part[Symbol.asyncDispose]();
});

/** The hexadecimal form of an IPv6 address with a dotted tail. */
function groupsOnly(address: string): string {
  return address.includes(':') ? new URL(`http://[${address}]/`).hostname.slice(1, -1) : address;
}

function nameOf(row: Row): string {
  return (row.target ?? '').replace(/:\d+$/, '');
}

/** Has a page ask for each of `urls`; the answers are how each ended. */
async function fetchAll(service: TestService, session: string, urls: readonly string[]): Promise<string[]> {
  const ended: string[] = [];
  for (let at = 0; at < urls.length; at += 40) {
    const some = JSON.stringify(urls.slice(at, at + 40));
    const expression = `Promise.all(${some}.map((url) => fetch(url, { mode: 'no-cors' }).then(() => 'loaded', (e) => e.name)))`;
    const { body, text } = await service.post(`${session}/eval`, { expression, timeoutMs: 60_000 });
    if (!Array.isArray(body.value)) throw new Error(text);
    ended.push(...body.value);
  }
  return ended;
}

/** Reasons by target, of one verdict. */
async function decided(service: TestService, session: string, verdict: string): Promise<Map<string, string>> {
  const { body } = await service.get(`${session}/policy/decisions?verdict=${verdict}&limit=2000`);
  return new Map(
    body.decisions.map(({ target, reason }: { target: string; reason: string }) => [target, reason]),
  );
}

/** Refused by Chrome before the floor is asked, wherever the request comes from. */
const IN_CHROME = new Set(['port', 'invalid-host']);

describe('under the policy that a service has by default', () => {
  let service: TestService;
  beforeAll(async () => {
    for (const row of rows) if (row.dns.length > 0) answers.set(nameOf(row), row.dns);
    service = await TestService.start(['--pool', '0', '--dns', dns.address, '--allow', proxyEntry]);
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  test.skipIf(installed('headless-shell') === undefined)(
    'every URL that the corpus denies is refused as one to open, with the reason of the corpus',
    async () => {
      const session = await service.session({ egress });
      const wrong: unknown[] = [];
      for (const row of rows.filter(({ verdict, dns: names }) => verdict === 'deny' && names.length === 0)) {
        const { body } = await service.post(`${session}/navigate`, { url: row.raw });
        const right =
          row.cls === 'invalid-url'
            ? body.code === 'invalid_request'
            : body.code === 'policy_denied' && body.decision.reason === row.cls;
        if (!right) wrong.push([row.raw, row.cls, body.code, body.decision]);
      }
      expect(wrong).toEqual([]);
      expect(proxy.targets).toEqual([]);
      await service.delete(session);
    },
  );

  const installs = engines.map((engine) => ({ engine, path: installed(engine) }));
  test.for(installs)(
    '$engine: every URL that a page asks for ends as the corpus says',
    async (one, { skip }) => {
      if (one.path === undefined) skip();
      canary.clear();
      proxy.targets.length = 0;
      const session = await service.session({ engine: one.engine, egress });
      const asked = rows.filter(({ target }) => target !== undefined);
      const ended = await fetchAll(
        service,
        session,
        asked.map(({ raw }) => raw),
      );
      // Nothing answers, whatever the verdict: the proxy refuses what it is asked for.
      expect(new Set(ended)).toEqual(new Set(['TypeError']));

      const denied = await decided(service, session, 'deny');
      const wrong = asked
        .filter(({ verdict, cls, target = '' }) => {
          // fetch() takes no URL with user information, and no answer of a name server in time is no decision.
          if (verdict !== 'deny' || cls === 'userinfo' || cls === 'dns-failure') return false;
          const reason = denied.get(target);
          return reason === undefined ? !IN_CHROME.has(cls) : reason !== cls;
        })
        .map(({ raw, cls, target = '' }) => [raw, cls, target, denied.get(target)]);
      expect(wrong).toEqual([]);
      expect(denied.size).toBeGreaterThan(150);

      // What was let through was asked for by address: that of the URL, or those that its name has, and none else.
      const allowed = asked.filter(({ verdict }) => verdict === 'allow');
      const may = new Set(
        allowed
          .flatMap((row) => (row.dns.length > 0 ? row.dns : [nameOf(row).replace(/[[\]]/g, '')]))
          .map(groupsOnly),
      );
      const went = new Set(proxy.targets.map(({ host }) => host));
      expect(proxy.targets.filter(({ byName }) => byName)).toEqual([]);
      expect([...went].filter((host) => !may.has(host))).toEqual([]);
      expect([...may].filter((host) => !went.has(host))).toEqual([]);
      expect(went.size).toBeGreaterThan(20);
      expect(canary.connections).toBe(0);
      await service.delete(session);
    },
  );

  test.for(installs)('$engine: no spelling of this machine reaches a server on it', async (one, { skip }) => {
    if (one.path === undefined) skip();
    canary.clear();
    const local = new Set([
      'loopback',
      'unspecified',
      'v4-mapped',
      'v4-compatible',
      'dns-rebinding',
      'nat64',
      'siit',
    ]);
    const spelt = rows.filter(({ cls, target }) => local.has(cls) && target !== undefined);
    const urls = spelt.map(({ raw }) => {
      const url = new URL(raw.trim());
      url.port = String(canary.port);
      return url.href;
    });
    expect(urls.length).toBeGreaterThan(45);
    // Without a proxy to go out through: what the floor would let through would arrive.
    const session = await service.session({ engine: one.engine });
    expect(new Set(await fetchAll(service, session, urls))).toEqual(new Set(['TypeError']));
    expect(canary.connections).toBe(0);
    const direct = await fetch(`http://127.0.0.1:${canary.port}/`);
    expect([direct.status, canary.connections]).toEqual([200, 1]);
    await service.delete(session);
  });
});

describe.skipIf(installed('headless-shell') === undefined)('under rules that allow', () => {
  interface Rule {
    readonly host: string;
    readonly resolvesTo?: string[];
  }

  /** As in test/policy/corpus-allow.test.ts. */
  function policyOf(config: string): { mode: string; allow: Rule[] } {
    const allow: Rule[] = [];
    let mode = 'public';
    for (const part of config.split(';')) {
      const [kind = '', value = ''] = [part.slice(0, part.indexOf(':')), part.slice(part.indexOf(':') + 1)];
      if (kind === 'mode') mode = value;
      else if (kind === 'cidr') allow.push({ host: allow.pop()?.host ?? '', resolvesTo: [value] });
      else allow.push({ host: value });
    }
    return { mode, allow };
  }

  /** There is no debugging port that a row could name: Chrome is driven over a pipe (test/e2e/sessions.test.ts). */
  const table = rowsOf(allowCorpus).filter(([, body = '']) => !body.includes('CDP_PORT'));
  const configs = [...new Set(table.map(([config = '']) => config))];

  /** A rule of any row: the service allows all that any of its sessions may. */
  const ceiling = configs.flatMap((config) => policyOf(unescaped(config)).allow);
  let service: TestService;
  let other: string;
  beforeAll(async () => {
    service = await TestService.start(['--pool', '0']);
    const file = join(service.root, 'policy.json');
    await writeFile(file, JSON.stringify({ mode: 'public', allow: [...ceiling, { host: proxyEntry }] }));
    await service.stop();
    service = await TestService.start(['--pool', '0', '--dns', dns.address, '--policy', file], {
      root: service.root,
    });
    other = await service.session();
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  /** The port of a session's floor, from the command line of its Chrome. */
  async function floorPort(session: string): Promise<string> {
    const lines = await processesWith(session.slice(-8));
    const port = lines.map(({ args }) => /--proxy-server=socks5:\/\/[\d.]+:(\d+)/.exec(args)?.[1]);
    return port.find((found) => found !== undefined) ?? '';
  }

  test.each(configs)('%s', async (config) => {
    const policy = policyOf(unescaped(config));
    proxy.targets.length = 0;
    const session = await service.session({
      egress,
      policy: { ...policy, allow: [...policy.allow, { host: proxyEntry }] },
    });
    const ports: Record<string, string> = {
      API_PORT: new URL(service.baseUrl).port,
      OWN_PROXY_PORT: await floorPort(session),
      OTHER_SESSION_PROXY_PORT: await floorPort(other),
    };
    for (const [from, body = '', verdict = '', cls = ''] of table) {
      if (from !== config) continue;
      const [raw = '', names] = unescaped(body).split(' dns=');
      const url = raw.replace(
        /OTHER_SESSION_PROXY_PORT|OWN_PROXY_PORT|API_PORT/,
        (name) => ports[name] ?? '',
      );
      const row = rowOf(url, verdict, cls, names?.split('|') ?? []);
      answers.set(nameOf(row), row.dns);
      proxy.targets.length = 0;
      await fetchAll(service, session, [url]);
      const reason = (await decided(service, session, 'deny')).get(row.target ?? '');
      if (verdict === 'deny') {
        // A host that Chrome cannot read is not asked for.
        expect([url, row.target === undefined ? cls : reason]).toEqual([url, cls]);
        expect(proxy.targets).toEqual([]);
      } else {
        expect([url, reason]).toEqual([url, undefined]);
        const may = row.dns.length > 0 ? row.dns : [nameOf(row)];
        expect(may).toContain(proxy.targets[0]?.host);
      }
    }
    await service.delete(session);
  });
});
