import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Floor } from '../../src/policy/floor.ts';
import { parsePolicy } from '../../src/policy/policy.ts';
import { Resolver } from '../../src/policy/resolver.ts';
import { SelfRegistry } from '../../src/policy/self.ts';
import { TestFloor } from '../support/floor.ts';
import { greeting, RawClient, requestBytes, requestIPv4, socksConnect } from '../support/socks-client.ts';
import { closedPort, TcpServer } from '../support/tcp-server.ts';

const hello = Buffer.from('hello');

describe('what is allowed', () => {
  test('is connected, and bytes go both ways', async () => {
    await using server = await TcpServer.start();
    await using all = await TestFloor.open({ policy: { allow: [`127.0.0.1:${server.port}`] } });
    const { client, reply } = await socksConnect(all.floor, '127.0.0.1', server.port);
    using _ = client;
    expect(reply).toBe(0);
    client.send(hello);
    expect(await client.take(5)).toEqual(hello);
    expect(all.floor.counters).toEqual({ connections: 1, active: 1, bytesIn: 5, bytesOut: 5, denied: 0 });
    expect(all.floor.log.query()).toMatchObject([
      { stage: 'address', verdict: 'allow', target: `127.0.0.1:${server.port}`, address: '127.0.0.1' },
    ]);
  });

  test('is connected for a request in bytes, and for localhost by name', async () => {
    await using server = await TcpServer.start();
    const allow = [`127.0.0.1:${server.port}`, `localhost:${server.port}`];
    await using all = await TestFloor.open({ policy: { allow } });
    using client = await RawClient.open(all.floor);
    client.send(greeting, requestIPv4('127.0.0.1', server.port));
    expect((await client.take(12))[3]).toBe(0);
    const named = await socksConnect(all.floor, 'localhost.', server.port);
    named.client.socket.destroy();
    expect(named.reply).toBe(0);
    expect(all.dns.questions).toEqual([]);
  });

  test('gets what the client sent before it was answered', async () => {
    await using server = await TcpServer.start();
    await using all = await TestFloor.open({ policy: { allow: [`127.0.0.1:${server.port}`] } });
    using client = await RawClient.open(all.floor);
    client.send(greeting, requestBytes('127.0.0.1', server.port), hello);
    expect((await client.take(12))[3]).toBe(0);
    expect(await client.take(5)).toEqual(hello);
  });

  test('is connected byte by byte as well', async () => {
    await using server = await TcpServer.start();
    await using all = await TestFloor.open({ policy: { allow: [`127.0.0.1:${server.port}`] } });
    using client = await RawClient.open(all.floor);
    client.socket.setNoDelay(true);
    for (const byte of Buffer.concat([greeting, requestBytes('127.0.0.1', server.port)])) {
      client.send(Uint8Array.of(byte));
      await new Promise(setImmediate);
    }
    expect((await client.take(12))[3]).toBe(0);
  });

  test('answers 5 for a port where nobody listens', async () => {
    const port = await closedPort();
    await using all = await TestFloor.open({ policy: { allow: [`127.0.0.1:${port}`] } });
    const { client, reply } = await socksConnect(all.floor, '127.0.0.1', port);
    using _ = client;
    expect(reply).toBe(5);
    expect(await client.rest()).toHaveLength(0);
  });

  test('answers 4 for a name that does not exist', async () => {
    await using all = await TestFloor.open();
    const { client, reply } = await socksConnect(all.floor, 'none.example', 443);
    client.socket.destroy();
    expect(reply).toBe(4);
  });

  test('answers 4 for a name whose servers hang, and the floor goes on', async () => {
    await using server = await TcpServer.start();
    const policy = { allow: [`127.0.0.1:${server.port}`] };
    await using all = await TestFloor.open({ policy, dns: () => 'silence', resolver: { timeoutMs: 300 } });
    const hanging = Array.from({ length: 50 }, (_, i) => socksConnect(all.floor, `h${i}.example`, 443));
    const { client, reply } = await socksConnect(all.floor, '127.0.0.1', server.port);
    client.socket.destroy();
    expect(reply).toBe(0);
    for (const answer of await Promise.all(hanging)) {
      answer.client.socket.destroy();
      expect(answer.reply).toBe(4);
    }
  });
});

describe('what is not SOCKS5 CONNECT', () => {
  test.each([
    ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')],
    ['an HTTP CONNECT', Buffer.from('CONNECT a.example:443 HTTP/1.1\r\n\r\n')],
    ['a TLS ClientHello', Buffer.from('16030100a5010000a10303', 'hex')],
    ['SOCKS4', Uint8Array.of(4, 1, 0, 80, 127, 0, 0, 1, 0)],
  ])('gets not a byte: %s', async (_name, bytes) => {
    await using all = await TestFloor.open();
    using client = await RawClient.open(all.floor);
    client.send(bytes);
    expect(await client.rest()).toHaveLength(0);
    expect(all.floor.log.query()).toEqual([]);
  });

  test('BIND and UDP ASSOCIATE are answered 7, other address types 8', async () => {
    await using all = await TestFloor.open();
    for (const [bytes, code] of [
      [requestBytes('a.example', 80, 2), 7],
      [requestBytes('a.example', 80, 3), 7],
      [Uint8Array.of(5, 1, 0, 9, 0, 0, 0, 0), 8],
    ] as const) {
      using client = await RawClient.open(all.floor);
      client.send(greeting, bytes);
      expect(await client.rest()).toEqual(Buffer.from([5, 0, 5, code, 0, 1, 0, 0, 0, 0, 0, 0]));
    }
  });

  test('a name that is none is denied, and written down legibly', async () => {
    await using all = await TestFloor.open();
    const { client, reply } = await socksConnect(all.floor, '127.0.0.1%00.test', 80);
    client.socket.destroy();
    expect(reply).toBe(2);
    expect(all.floor.log.query()).toMatchObject([
      { stage: 'host', reason: 'invalid-host', target: '127.0.0.1%00.test' },
    ]);
    expect(all.dns.questions).toEqual([]);
  });

  test('a handshake that does not end is ended', async () => {
    await using all = await TestFloor.open({ caps: { handshakeMs: 100 } });
    using silent = await RawClient.open(all.floor);
    using slow = await RawClient.open(all.floor);
    slow.send(greeting, requestBytes('a.example', 80).subarray(0, 6));
    expect(await silent.rest()).toHaveLength(0);
    expect(await slow.rest()).toEqual(Buffer.from([5, 0]));
  });

  test('a handshake that is too long is cut off', async () => {
    await using all = await TestFloor.open();
    using client = await RawClient.open(all.floor);
    client.send(
      Uint8Array.of(5, 255),
      new Uint8Array(255),
      Uint8Array.of(5, 1, 0, 3, 255),
      new Uint8Array(1000),
    );
    expect(await client.rest()).toEqual(Buffer.from([5, 0, 5, 1, 0, 1, 0, 0, 0, 0, 0, 0]));
  });

  test('a client that ends in the middle leaves nothing behind', async () => {
    await using all = await TestFloor.open();
    using client = await RawClient.open(all.floor);
    client.send(greeting);
    await client.take(2);
    client.socket.end();
    await client.rest();
    expect(all.floor.counters.active).toBe(0);
  });
});

describe('the listener', () => {
  test('has an address of loopback and a port, which no session may reach', async () => {
    const self = new SelfRegistry();
    await using one = await TestFloor.open({ self, policy: { allow: ['loopback', 'localhost:1-65535'] } });
    await using two = await TestFloor.open({ self });
    expect(isIPv4(one.floor.address) && one.floor.address.startsWith('127.')).toBe(true);
    for (const { floor } of [one, two]) {
      for (const host of [floor.address, '127.0.0.1', 'localhost', '::1', '0.0.0.0', '::ffff:127.0.0.1']) {
        const { client, reply } = await socksConnect(one.floor, host, floor.port);
        client.socket.destroy();
        expect({ host, reply }).toEqual({ host, reply: 2 });
      }
    }
    expect(two.floor.counters.connections).toBe(0);
  });

  test('has a port below those that the system gives to who asks for any', async () => {
    await using one = await TestFloor.open({});
    const { port } = one.floor;
    const [lowest = '32768'] = (
      await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => '')
    ).split(/\s/);
    if (Number(lowest) > 22_000) expect(port).toBeLessThan(Number(lowest));
    expect(port).toBeGreaterThanOrEqual(20_000);
  });

  test('takes the address that it is given', async () => {
    await using all = await TestFloor.open({ address: '127.0.0.1' });
    expect(all.floor.address).toBe('127.0.0.1');
  });

  test('an address that is not ours is an error', async () => {
    const self = new SelfRegistry();
    const opening = Floor.open({
      policy: parsePolicy({}),
      self,
      resolver: new Resolver({ servers: ['127.0.0.1'] }),
      address: '192.0.2.1',
    });
    await expect(opening).rejects.toMatchObject({ code: 'floor_down' });
  });

  test('closing ends all connections, frees the port, and says how many there were', async () => {
    await using server = await TcpServer.start();
    await using all = await TestFloor.open({ policy: { allow: [`127.0.0.1:${server.port}`] } });
    const { client } = await socksConnect(all.floor, '127.0.0.1', server.port);
    using idle = await RawClient.open(all.floor);
    idle.send(greeting);
    await idle.take(2);
    const { port } = all.floor;
    expect(await all.floor.close()).toEqual({ connectionsClosed: 2 });
    await client.rest();
    expect(client.broken).toBe(true);
    expect(all.floor.counters.active).toBe(0);
    expect(all.self.isSelf('127.0.0.1', port)).toBe(false);
    await expect(RawClient.open(all.floor)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await all.floor.close()).toEqual({ connectionsClosed: 2 });
  });

  test('says so when it goes down, and resets what was open', async () => {
    await using server = await TcpServer.start();
    await using all = await TestFloor.open({ policy: { allow: [`127.0.0.1:${server.port}`] } });
    const { client } = await socksConnect(all.floor, '127.0.0.1', server.port);
    const down: string[] = [];
    all.floor.onDown((error) => down.push(error.message));
    all.floor.onDown(() => down.push('removed'))();
    all.floor.fail(new Error('broken'));
    await client.rest();
    expect(client.broken).toBe(true);
    expect(down).toEqual(['broken']);
    await all.floor.close();
    expect(down).toEqual(['broken']);
    await expect(RawClient.open(all.floor)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('closing is not going down', async () => {
    await using all = await TestFloor.open();
    const down: Error[] = [];
    all.floor.onDown((error) => down.push(error));
    await all.floor.close();
    expect(down).toEqual([]);
  });
});

describe('the canary', () => {
  test('is seen by the floor, goes nowhere, and stays out of the log', async () => {
    await using all = await TestFloor.open();
    const seen = all.floor.expectHost('Nonce.invalid', AbortSignal.timeout(30_000));
    const { client, reply } = await socksConnect(all.floor, 'nonce.invalid', 80);
    client.socket.destroy();
    await seen;
    expect(reply).toBe(4);
    all.floor.openToUser();
    const again = await socksConnect(all.floor, 'nonce.invalid', 80);
    again.client.socket.destroy();
    expect(again.reply).toBe(4);
    expect(all.floor.log.query()).toEqual([]);
    expect(all.dns.questions).toEqual([]);
  });

  test('another host is not it', async () => {
    await using all = await TestFloor.open({ policy: { mode: 'allowlist' } });
    const stop = new AbortController();
    const seen = all.floor.expectHost('nonce.invalid', stop.signal);
    const { client } = await socksConnect(all.floor, 'x.nonce.invalid', 80);
    client.socket.destroy();
    stop.abort();
    await expect(seen).rejects.toMatchObject({ code: 'cancelled' });
    expect(all.floor.log.query()).toHaveLength(1);
    all.floor.openToUser();
    expect(all.floor.log.query()).toEqual([]);
    expect(all.floor.counters.denied).toBe(0);
  });

  test('a closed floor sees nothing any more', async () => {
    await using all = await TestFloor.open();
    const seen = expect(
      all.floor.expectHost('nonce.invalid', AbortSignal.timeout(30_000)),
    ).rejects.toMatchObject({ code: 'floor_down' });
    await all.floor.close();
    await seen;
    await expect(all.floor.expectHost('b.invalid', AbortSignal.timeout(1000))).rejects.toMatchObject({
      code: 'floor_down',
    });
  });
});

describe('our own connections', () => {
  test('go by the same rules', async () => {
    await using server = await TcpServer.start();
    await using all = await TestFloor.open({ policy: { allow: [`127.0.0.1:${server.port}`] } });
    const { signal } = new AbortController();
    const socket = await all.floor.connect('127.0.0.1', server.port, signal);
    socket.end('hello');
    const [chunk] = await once(socket.resume(), 'data');
    expect(chunk).toEqual(hello);
    await expect(all.floor.connect('localhost', server.port, signal)).rejects.toMatchObject({
      code: 'policy_denied',
      extra: { decision: { stage: 'host', verdict: 'deny', target: `localhost:${server.port}` } },
    });
    await expect(all.floor.connect('none.example', 80, signal)).rejects.toMatchObject({
      code: 'navigation_failed',
      extra: { netError: 'not_found' },
    });
    expect(all.floor.log.counters).toMatchObject({ allowed: 1, denied: 1 });
  });

  test('end when they are cancelled and when the floor closes', async () => {
    await using all = await TestFloor.open({ dns: () => 'silence' });
    const stop = new AbortController();
    const cancelled = all.floor.connect('a.example', 80, stop.signal);
    stop.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
    const open = expect(
      all.floor.connect('b.example', 80, new AbortController().signal),
    ).rejects.toMatchObject({ code: 'floor_down' });
    await all.floor.close();
    await open;
    await expect(all.floor.connect('c.example', 80, stop.signal)).rejects.toMatchObject({
      code: 'floor_down',
    });
  });
});
