import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PolicyInput } from '../../src/policy/policy.ts';
import type { DnsHandler } from '../support/dns-server.ts';
import { TestFloor } from '../support/floor.ts';
import { socksConnect } from '../support/socks-client.ts';
import { TcpServer } from '../support/tcp-server.ts';

async function replyFor(all: TestFloor, host: string, port: number): Promise<number | undefined> {
  const { client, reply } = await socksConnect(all.floor, host, port);
  client.socket.destroy();
  return reply;
}

/** A rule by which `name` may be this machine, for the names that a test lets through. */
function mayBeLoopback(host: string, port: number) {
  return { host, ports: [port], resolvesTo: ['127.0.0.0/8'] };
}

describe('a name that rebinds', () => {
  test('is asked for once in each connect, and connected to what was judged', async () => {
    await using server = await TcpServer.start();
    // 127.0.0.1 when it is judged; were it asked for again, it would be somewhere else.
    let asked = 0;
    const dns: DnsHandler = ({ type }) => {
      if (type !== 'A') return 'nxdomain';
      asked += 1;
      return { addresses: [asked % 2 === 1 ? '127.0.0.1' : '127.0.0.2'] };
    };
    await using all = await TestFloor.open({
      dns,
      policy: { allow: [mayBeLoopback('dev.example', server.port)] },
    });
    expect(await replyFor(all, 'dev.example', server.port)).toBe(0);
    expect(all.dns.count('dev.example')).toBe(1);
    expect(server.accepted).toBe(1);
    expect(all.floor.log.query()).toMatchObject([{ address: '127.0.0.1', verdict: 'allow' }]);

    // The next connect is a new question with a new answer, where nobody listens.
    expect(await replyFor(all, 'dev.example', server.port)).toBe(5);
    expect(all.dns.count('dev.example')).toBe(2);
    expect(server.accepted).toBe(1);
  });

  test('to where it may not be is denied, and nothing is dialled', async () => {
    await using server = await TcpServer.start();
    const answers = ['127.0.0.1', '0.0.0.0'];
    const dns: DnsHandler = ({ type }) => (type === 'A' ? { addresses: answers.splice(0, 1) } : 'nxdomain');
    await using all = await TestFloor.open({
      dns,
      policy: { allow: [mayBeLoopback('evil.example', server.port)] },
    });
    expect(await replyFor(all, 'evil.example', server.port)).toBe(0);
    expect(await replyFor(all, 'evil.example', server.port)).toBe(2);
    expect(all.dns.count('evil.example')).toBe(2);
    expect(server.accepted).toBe(1);
    expect(all.floor.log.query().at(-1)).toMatchObject({
      stage: 'address',
      verdict: 'deny',
      address: '0.0.0.0',
    });
  });

  test('is denied though its address is open as a literal', async () => {
    await using server = await TcpServer.start();
    const dns: DnsHandler = ({ type }) => (type === 'A' ? { addresses: ['127.0.0.1'] } : 'nxdomain');
    await using all = await TestFloor.open({
      dns,
      policy: { allow: [`127.0.0.1:${server.port}`, 'loopback'] },
    });
    expect(await replyFor(all, 'evil.example', server.port)).toBe(2);
    expect(server.accepted).toBe(0);
    expect(all.floor.log.query()).toMatchObject([
      { stage: 'address', reason: 'loopback', address: '127.0.0.1' },
    ]);
  });
});

describe('a name with several addresses', () => {
  test('is denied for one bad address, wherever it stands', async () => {
    await using server = await TcpServer.start();
    const good = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
    const bad = fc.constantFrom(
      '10.0.0.1',
      '169.254.169.254',
      '0.0.0.0',
      '::1',
      '::ffff:a9fe:a9fe',
      'fd00::1',
    );
    await fc.assert(
      fc.asyncProperty(bad, fc.nat(3), async (address, place) => {
        const addresses = good.toSpliced(place, 0, address);
        const dns: DnsHandler = () => ({ addresses });
        await using all = await TestFloor.open({
          dns,
          policy: { allow: [mayBeLoopback('mixed.example', server.port)] },
        });
        expect(await replyFor(all, 'mixed.example', server.port)).toBe(2);
        expect(all.floor.log.query()).toMatchObject([{ stage: 'address', verdict: 'deny' }]);
      }),
      { numRuns: 30 },
    );
    expect(server.accepted).toBe(0);
  });

  test('is connected to the one that answers', async () => {
    await using server = await TcpServer.start();
    const dns: DnsHandler = ({ type }) =>
      type === 'A' ? { addresses: ['127.0.0.9', '127.0.0.8', '127.0.0.1'] } : 'nxdomain';
    const policy = { allow: [mayBeLoopback('dev.example', server.port)] };
    await using all = await TestFloor.open({ dns, policy });
    expect(await replyFor(all, 'dev.example', server.port)).toBe(0);
    expect(server.accepted).toBe(1);
  });
});

describe('a name that is denied', () => {
  const denied: Array<[why: string, host: string, policy: PolicyInput, port?: number]> = [
    ['by a rule', 'ads.example', { deny: ['*.example', 'ads.example'] }],
    ['by the mode', 'data.attacker.example', { mode: 'allowlist', allow: ['good.example'] }],
    ['as a metadata service', 'metadata.google.internal', {}],
    ['as a name of this network', 'printer', {}],
    ['as a name of this network, by its end', 'nas.local', {}],
    ['by its port', 'a.example', {}, 25],
  ];
  test.each(denied)('%s is never asked for', async (_name, host, policy, port = 443) => {
    await using all = await TestFloor.open({ policy, dns: () => ({ addresses: ['203.0.113.1'] }) });
    expect(await replyFor(all, host, port)).toBe(2);
    expect(all.dns.questions).toEqual([]);
    expect(all.floor.log.query()).toMatchObject([{ stage: 'host', verdict: 'deny', count: 1 }]);
  });

  test('tells nothing about what is behind it: open and closed ports look the same', async () => {
    await using server = await TcpServer.start();
    await using all = await TestFloor.open();
    const answers = [];
    for (const port of [server.port, server.port === 1024 ? 1025 : 1024]) {
      const { client, reply } = await socksConnect(all.floor, '127.0.0.1', port);
      answers.push({ reply, rest: (await client.rest()).length, broken: client.broken });
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toEqual({ reply: 2, rest: 0, broken: false });
    expect(server.accepted).toBe(0);
  });

  test('five tries of Chrome are one line with a count', async () => {
    await using all = await TestFloor.open();
    for (let i = 0; i < 5; i++) await replyFor(all, '127.0.0.1', 80);
    expect(all.floor.log.query()).toMatchObject([{ target: '127.0.0.1:80', reason: 'loopback', count: 5 }]);
    expect(all.floor.counters.denied).toBe(5);
  });

  test('loose spellings of an address are judged as the address, without DNS', async () => {
    await using server = await TcpServer.start();
    await using all = await TestFloor.open();
    for (const host of ['0x7f.1', '127.1', '2130706433', '0177.0.0.1', '::ffff:127.0.0.1', '0', '::']) {
      expect({ host, reply: await replyFor(all, host, server.port) }).toEqual({ host, reply: 2 });
    }
    expect(all.dns.questions).toEqual([]);
    expect(server.accepted).toBe(0);
  });
});
