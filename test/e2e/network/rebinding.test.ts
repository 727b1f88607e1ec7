import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DnsServer } from '../../support/dns-server.ts';
import { EgressProxy } from '../../support/proxies.ts';
import { TestService } from '../../support/service.ts';
import { anything, WebServer } from '../../support/web-server.ts';

/** By name; each question for a name's IPv4 addresses takes the next answer, and the last one stays. */
const script = new Map<string, string[][]>();
const dns = await DnsServer.start(({ name, type }) => {
  const answers = script.get(name);
  if (answers === undefined) return 'nxdomain';
  const addresses = (type === 'A' && answers.length > 1 ? answers.shift() : answers[0]) ?? [];
  // A time to live of nothing: every connection asks again, as an attacker would have it.
  return { addresses, ttlSec: 0 };
});
/** The addresses of this machine on which something was asked for: 127.0.0.1 is opened to a name, 127.0.0.2 is not. */
const reached: string[] = [];
const server = await WebServer.start((request, response) => {
  reached.push(request.socket.localAddress?.replace('::ffff:', '') ?? '');
  anything(request, response);
});
const proxy = await EgressProxy.socks5({ refuseWith: 5 });
let service: TestService;
beforeAll(async () => {
  const file = join(tmpdir(), `rebinding-${process.pid}.json`);
  const allow = [
    { host: '*.app.example', ports: [server.port], resolvesTo: ['127.0.0.1'] },
    { host: `127.0.0.1:${proxy.port}` },
  ];
  await writeFile(file, JSON.stringify({ allow }));
  service = await TestService.start(['--dns', dns.address, '--policy', file]);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  for (const part of [dns, server, proxy]) await part[Symbol.asyncDispose]();
});
beforeEach(() => {
  server.clear();
  reached.length = 0;
  proxy.targets.length = 0;
});

const at = (host: string) => `http://${host}:${server.port}/`;

async function reasons(session: string, host: string): Promise<string[]> {
  const { body } = await service.get(`${session}/policy/decisions?verdict=deny`);
  const mine = body.decisions.filter(({ target }: { target: string }) => target === `${host}:${server.port}`);
  return mine.map(({ reason }: { reason: string }) => reason);
}

test('a name that is public first and loopback then: the second connection is refused', async () => {
  const host = 'flip.evil.example';
  script.set(host, [['93.184.215.14'], ['127.0.0.1']]);
  // Out through a proxy that only writes down what it is asked for: nothing of this goes to the internet.
  const session = await service.session({ egress: `socks5://127.0.0.1:${proxy.port}` });
  const first = await service.post(`${session}/navigate`, { url: at(host) });
  expect(first.body.code).toMatch(/navigation_failed|policy_denied/);
  const second = await service.post(`${session}/navigate`, { url: at(host) });
  expect(second.body).toMatchObject({ code: 'policy_denied', decision: { reason: 'loopback' } });
  expect(new Set(proxy.targets.map((target) => target.host))).toEqual(new Set(['93.184.215.14']));
  expect(await reasons(session, host)).toEqual(['loopback']);
  expect(server.connections).toBe(0);
  await service.delete(session);
});

test('a name that is opened for one address and moves to another one: a page that is loaded cannot follow', async () => {
  const host = 'one.app.example';
  script.set(host, [['127.0.0.1'], ['127.0.0.2']]);
  const session = await service.session();
  expect((await service.post(`${session}/navigate`, { url: at(host) })).body.status).toBe(200);
  const expression = `Promise.all([1, 2, 3].map((n) => fetch('/again' + n).then((r) => r.status, () => 'failed')))`;
  const { body } = await service.post(`${session}/eval`, { expression });
  expect(body.value).toEqual(['failed', 'failed', 'failed']);
  expect(new Set(reached)).toEqual(new Set(['127.0.0.1']));
  expect(await reasons(session, host)).toEqual(['loopback']);
  await service.delete(session);
});

test.each([
  [['127.0.0.1', '127.0.0.2']],
  [['127.0.0.2', '127.0.0.1']],
  [['127.0.0.1', '10.0.0.1']],
  [['127.0.0.1', '::1']],
])('a name with a good and a bad address, %j: neither is dialled', async (addresses) => {
  const host = `mixed-${addresses.join('-').replaceAll(/[.:]/g, '')}.app.example`;
  script.set(host, [addresses]);
  const session = await service.session();
  const opened = await service.post(`${session}/navigate`, { url: at(host) });
  expect(opened.body).toMatchObject({ code: 'policy_denied', decision: { reason: 'dns-rebinding' } });
  expect(server.connections).toBe(0);
  // The good one alone does load.
  script.set(host, [['127.0.0.1']]);
  expect((await service.post(`${session}/navigate`, { url: at(host) })).body.status).toBe(200);
  await service.delete(session);
});

test('--dns is asked, and only it: a name that it does not know has no address', async () => {
  const session = await service.session();
  const opened = await service.post(`${session}/navigate`, { url: 'http://unknown.evil.example/' });
  expect(opened.body).toMatchObject({ code: 'navigation_failed' });
  expect(dns.count('unknown.evil.example')).toBeGreaterThan(0);
  await service.delete(session);
});
