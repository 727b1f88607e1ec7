import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Egress } from '../../src/policy/egress.ts';
import { TestFloor, type TestFloorOptions } from '../support/floor.ts';
import { EgressProxy, type ProxyOptions } from '../support/proxies.ts';
import { socksConnect } from '../support/socks-client.ts';
import { closedPort, TcpServer } from '../support/tcp-server.ts';

const credentials = { user: 'alice', password: 'p@ss:wörd/%' };
const encoded = `alice:${encodeURIComponent(credentials.password)}`;

const kinds = [
  ['socks5', (options: ProxyOptions) => EgressProxy.socks5(options)],
  ['http', (options: ProxyOptions) => EgressProxy.http(options)],
] as const;

describe('an egress proxy given as a URL', () => {
  test.each([
    ['socks5://proxy.example', 'socks5', 'proxy.example', 1080, 'socks5://proxy.example:1080'],
    ['http://proxy.example', 'http', 'proxy.example', 8080, 'http://proxy.example:8080'],
    ['http://proxy.example:80/', 'http', 'proxy.example', 80, 'http://proxy.example:80'],
    ['http://a:80@proxy.example', 'http', 'proxy.example', 8080, 'http://***@proxy.example:8080'],
    ['http://[2001:db8::80]', 'http', '2001:db8::80', 8080, 'http://[2001:db8::80]:8080'],
    ['socks5://[2001:db8::1]:9', 'socks5', '2001:db8::1', 9, 'socks5://[2001:db8::1]:9'],
    [`socks5://${encoded}@10.0.0.1:1`, 'socks5', '10.0.0.1', 1, 'socks5://***@10.0.0.1:1'],
    ['http://alice@proxy.example:3128', 'http', 'proxy.example', 3128, 'http://***@proxy.example:3128'],
  ])('%s is understood', (text, kind, host, port, redacted) => {
    expect(Egress.parse(text, 'service')).toMatchObject({ kind, host, port, redacted, owner: 'service' });
  });

  test.each([
    '',
    'proxy.example:1080',
    'https://proxy.example',
    'socks4://proxy.example',
    'socks5h://proxy.example',
    'socks5://',
    'socks5://proxy.example:0',
    'socks5://proxy.example/path',
    'http://proxy.example/?x=1',
    'http://proxy.example/#x',
    'socks5://secret:%ff%@proxy.example',
    `socks5://secret:${'x'.repeat(256)}@proxy.example`,
  ])('%s is refused, without repeating it', (text) => {
    expect(() => Egress.parse(text, 'session')).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: expect.not.stringContaining('secret') }),
    );
  });

  test('does not show its credentials to any printer', () => {
    const egress = Egress.parse(`http://${encoded}@proxy.example`, 'session');
    for (const text of [
      inspect(egress, { depth: 9, showHidden: true }),
      JSON.stringify({ egress }),
      `${egress}`,
    ]) {
      expect(text).not.toMatch(/alice|p@ss|p%40ss/);
    }
  });
});

describe.each(kinds)('going out through %s', (kind, start) => {
  async function stage(proxyOptions: ProxyOptions = {}, login = '', options: TestFloorOptions = {}) {
    const server = await TcpServer.start();
    const proxy = await start(proxyOptions);
    const egress = Egress.parse(`${kind}://${login}127.0.0.1:${proxy.port}`, 'service');
    const policy = {
      allow: [
        `127.0.0.1:${server.port}`,
        { host: 'dev.example', ports: [server.port], resolvesTo: ['127.0.0.0/8'] },
      ],
    };
    const dns = ({ type }: { type: string }) =>
      type === 'A' ? { addresses: ['127.0.0.1'] } : ('nxdomain' as const);
    const all = await TestFloor.open({ policy, egress, dns, ...options });
    return {
      server,
      proxy,
      all,
      async [Symbol.asyncDispose](): Promise<void> {
        for (const one of [all, proxy, server]) await one[Symbol.asyncDispose]();
      },
    };
  }

  test('the proxy is asked for the address, not for the name', async () => {
    await using it = await stage();
    const { client, reply } = await socksConnect(it.all.floor, 'dev.example', it.server.port);
    using _ = client;
    expect(reply).toBe(0);
    client.send(Buffer.from('hello'));
    expect((await client.take(5)).toString()).toBe('hello');
    expect(it.proxy.targets).toEqual([{ host: '127.0.0.1', port: it.server.port, byName: false }]);
    expect(it.all.floor.log.query()).toMatchObject([
      { target: `dev.example:${it.server.port}`, verdict: 'allow' },
    ]);
  });

  test('what is denied does not get as far as the proxy', async () => {
    await using it = await stage();
    const { client, reply } = await socksConnect(it.all.floor, '10.0.0.1', 80);
    client.socket.destroy();
    expect(reply).toBe(2);
    expect(it.proxy.targets).toEqual([]);
  });

  test('credentials are sent, and wrong ones are a failure that does not show them', async () => {
    await using good = await stage({ credentials }, `${encoded}@`);
    const first = await socksConnect(good.all.floor, '127.0.0.1', good.server.port);
    first.client.socket.destroy();
    expect(first.reply).toBe(0);

    await using bad = await stage({ credentials }, 'alice:wrong-one@');
    const second = await socksConnect(bad.all.floor, '127.0.0.1', bad.server.port);
    second.client.socket.destroy();
    expect(second.reply).toBe(1);
    expect(bad.server.accepted).toBe(0);
    const { signal } = new AbortController();
    const error: unknown = await bad.all.floor.connect('127.0.0.1', bad.server.port, signal).catch((e) => e);
    expect(error).toMatchObject({ code: 'navigation_failed' });
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('wrong-one');
  });

  test('bytes that come with the answer are the first of the tunnel', async () => {
    await using it = await stage({ early: 'banner' });
    const { client, reply } = await socksConnect(it.all.floor, '127.0.0.1', it.server.port);
    using _ = client;
    expect(reply).toBe(0);
    expect((await client.take(6)).toString()).toBe('banner');
    client.send(Buffer.from('hello'));
    expect((await client.take(5)).toString()).toBe('hello');
  });

  test('a large body passes unchanged', async () => {
    await using it = await stage();
    const { client } = await socksConnect(it.all.floor, '127.0.0.1', it.server.port);
    using _ = client;
    const sent = Buffer.alloc(3_000_000, 'abcdefg');
    client.socket.end(sent);
    expect((await client.rest()).equals(sent)).toBe(true);
  });

  test('a proxy that is not there is a failure, not a refusal by the destination', async () => {
    await using server = await TcpServer.start();
    const egress = Egress.parse(`${kind}://127.0.0.1:${await closedPort()}`, 'service');
    await using all = await TestFloor.open({ egress, policy: { allow: [`127.0.0.1:${server.port}`] } });
    const { client, reply } = await socksConnect(all.floor, '127.0.0.1', server.port);
    client.socket.destroy();
    expect(reply).toBe(1);
    expect(server.accepted).toBe(0);
  });

  test('a proxy that never answers is a timeout', async () => {
    await using it = await stage({ mute: true }, '', { caps: { dialMs: 200 } });
    const { client, reply } = await socksConnect(it.all.floor, '127.0.0.1', it.server.port);
    client.socket.destroy();
    expect(reply).toBe(4);
  });

  test('the proxy itself is judged when a session chose it', async () => {
    await using server = await TcpServer.start();
    await using proxy = await start({});
    const egress = Egress.parse(`${kind}://127.0.0.1:${proxy.port}`, 'session');
    const allow = [`127.0.0.1:${server.port}`];
    await using closed = await TestFloor.open({ egress, policy: { allow } });
    const denied = await socksConnect(closed.floor, '127.0.0.1', server.port);
    denied.client.socket.destroy();
    expect(denied.reply).toBe(2);
    expect(closed.floor.log.query({ verdict: 'deny' })).toMatchObject([
      { target: `127.0.0.1:${proxy.port}` },
    ]);

    await using open = await TestFloor.open({
      egress,
      policy: { allow: [...allow, `127.0.0.1:${proxy.port}`] },
    });
    const allowed = await socksConnect(open.floor, '127.0.0.1', server.port);
    allowed.client.socket.destroy();
    expect(allowed.reply).toBe(0);
  });
});

test.each([
  ['socks5', 3, 3],
  ['socks5', 4, 4],
  ['socks5', 5, 5],
  ['socks5', 6, 4],
  ['socks5', 1, 1],
  ['socks5', 2, 1],
  ['http', 403, 1],
  ['http', 502, 4],
  ['http', 504, 4],
] as const)('%s answering %i is passed on as %i', async (kind, refuseWith, code) => {
  await using server = await TcpServer.start();
  await using proxy = await EgressProxy[kind]({ refuseWith });
  const egress = Egress.parse(`${kind}://127.0.0.1:${proxy.port}`, 'service');
  await using all = await TestFloor.open({ egress, policy: { allow: [`127.0.0.1:${server.port}`] } });
  const { client, reply } = await socksConnect(all.floor, '127.0.0.1', server.port);
  client.socket.destroy();
  expect({ reply, asked: proxy.targets.length }).toEqual({ reply: code, asked: 1 });
});
