import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { parsePolicy } from '../../src/policy/policy.ts';
import { TestFloor, type TestFloorOptions } from '../support/floor.ts';
import { RawClient, socksConnect } from '../support/socks-client.ts';
import { echo, TcpServer } from '../support/tcp-server.ts';

/** A server, a floor that lets it through, and clients that are connected to it. */
async function stage(onConnection: (socket: Socket) => void = echo, options: TestFloorOptions = {}) {
  const server = await TcpServer.start(onConnection);
  const policy = { allow: [`127.0.0.1:${server.port}`] };
  const all = await TestFloor.open({ policy, ...options });
  return {
    server,
    floor: all.floor,
    async client(): Promise<RawClient> {
      const { client, reply } = await socksConnect(all.floor, '127.0.0.1', server.port);
      expect(reply).toBe(0);
      return client;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await all[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const megabyte = Buffer.alloc(1024 * 1024, 'x');

describe('a tunnel', () => {
  test('carries a large body unchanged, both ways', async () => {
    await using all = await stage();
    using client = await all.client();
    const sent = Buffer.from(Uint32Array.from({ length: 1_000_000 }, (_, i) => i * 2_654_435_761).buffer);
    client.socket.end(sent);
    const received = await client.rest();
    expect(received.equals(sent)).toBe(true);
    expect(all.floor.counters).toMatchObject({ bytesIn: sent.length, bytesOut: sent.length });
  });

  test('256 at one time all work, and the next is turned away', async () => {
    await using all = await stage();
    const clients = await Promise.all(Array.from({ length: 256 }, () => all.client()));
    expect(all.floor.counters.active).toBe(256);
    using late = await RawClient.open(all.floor);
    expect(await late.rest()).toHaveLength(0);
    for (const [i, client] of clients.entries()) client.send(Buffer.from(`client ${i}`.padEnd(16)));
    for (const [i, client] of clients.entries()) {
      expect((await client.take(16)).toString().trim()).toBe(`client ${i}`);
      client.socket.destroy();
    }
    while (all.floor.counters.active > 0) await new Promise(setImmediate);
    (await all.client()).socket.destroy();
  });

  test('a client that does not read holds a bounded amount', async () => {
    let sent = 0;
    const pour = (socket: Socket): void => {
      const more = (): void => {
        while (socket.write(megabyte)) sent += megabyte.length;
        sent += megabyte.length;
      };
      socket.on('drain', more);
      more();
    };
    await using all = await stage(pour);
    const clients = await Promise.all(Array.from({ length: 8 }, () => all.client()));
    for (const { socket } of clients) socket.pause();
    // It has stopped when nothing moves for a hundred turns; the kernel's own buffers are some megabytes each.
    for (let still = 0, before = -1; still < 100; before = all.floor.counters.bytesIn) {
      still = all.floor.counters.bytesIn === before ? still + 1 : 0;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(all.floor.counters.bytesIn).toBeLessThan(8 * 16 * 1024 * 1024);
    expect(sent).toBeGreaterThan(0);
    for (const client of clients) client.socket.destroy();
  });

  test('a server that does not read holds back the client', async () => {
    await using all = await stage((socket) => socket.pause());
    using client = await all.client();
    let accepted = 0;
    const push = (): boolean => client.socket.write(megabyte, () => (accepted += megabyte.length));
    for (let i = 0; i < 64; i++) push();
    for (let still = 0, before = -1; still < 100; before = accepted) {
      still = accepted === before ? still + 1 : 0;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(accepted).toBeLessThan(64 * megabyte.length);
    expect(all.floor.counters.bytesOut).toBeLessThan(32 * megabyte.length);
  });
});

test('a session that has used up its bytes is cut off and gets no more', async () => {
  await using all = await stage((socket) => socket.resume().write(megabyte), { caps: { bytes: 1_000_000 } });
  using client = await all.client();
  await client.rest();
  expect(client.broken).toBe(true);
  const { client: next, reply } = await socksConnect(all.floor, '127.0.0.1', all.server.port);
  next.socket.destroy();
  expect(reply).toBe(2);
  expect(all.floor.log.query({ verdict: 'deny' })).toMatchObject([
    { rule: 'at most 1000000 bytes for a session' },
  ]);
});

describe('a tunnel whose sides end', () => {
  test('a client that has said all still gets the answer', async () => {
    await using all = await stage((socket) => {
      socket.resume().once('end', () => socket.end('answer'));
    });
    using client = await all.client();
    client.socket.end('question');
    expect((await client.rest()).toString()).toBe('answer');
  });

  test('a server that has said all still gets the question', async () => {
    const got = Promise.withResolvers<string>();
    await using all = await stage((socket) => {
      socket.end('greeting');
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      socket.once('end', () => got.resolve(text));
    });
    using client = await all.client();
    expect((await client.rest()).toString()).toBe('greeting');
    client.socket.end('late question');
    expect(await got.promise).toBe('late question');
  });

  test('both ended, nothing is left', async () => {
    await using all = await stage();
    using client = await all.client();
    client.socket.end('x');
    await client.rest();
    while (all.floor.counters.active > 0 || all.server.open > 0) await new Promise(setImmediate);
  });

  test('a reset of the server is a reset for the client: half a body is not a whole one', async () => {
    await using all = await stage((socket) => {
      socket.once('data', () => socket.write('half', () => socket.resetAndDestroy()));
    });
    using client = await all.client();
    client.send(Buffer.from('x'));
    await client.rest();
    expect(client.broken).toBe(true);
  });

  test('a reset of the client is a reset for the server', async () => {
    const broken = Promise.withResolvers<string>();
    await using all = await stage((socket) => {
      socket.resume().once('error', (error) => broken.resolve(error.message));
    });
    using client = await all.client();
    client.socket.resetAndDestroy();
    expect(await broken.promise).toContain('ECONNRESET');
  });

  test('a silent tunnel is ended after its limit, a half-open one too', async () => {
    await using all = await stage((socket) => socket.resume(), { caps: { idleMs: 100 } });
    using silent = await all.client();
    using half = await all.client();
    half.socket.end();
    await Promise.all([silent.rest(), half.rest()]);
    expect([silent.broken, half.broken]).toEqual([true, true]);
    while (all.floor.counters.active > 0) await new Promise(setImmediate);
  });

  test('a client that goes away while it is connected leaves nothing', async () => {
    await using all = await stage(undefined, { dns: () => 'silence' });
    using client = await RawClient.open(all.floor);
    client.send(Uint8Array.of(5, 1, 0, 5, 1, 0, 3, 9), Buffer.from('a.example'), Uint8Array.of(0, 80));
    await client.take(2);
    client.socket.resetAndDestroy();
    while (all.floor.counters.active > 0) await new Promise(setImmediate);
  });
});

describe('a policy that narrows', () => {
  test('resets what no longer passes and leaves the rest', async () => {
    await using one = await TcpServer.start();
    await using two = await TcpServer.start();
    const policy = { allow: [`127.0.0.1:${one.port}`, `127.0.0.1:${two.port}`] };
    await using all = await TestFloor.open({ policy });
    const first = (await socksConnect(all.floor, '127.0.0.1', one.port)).client;
    const second = (await socksConnect(all.floor, '127.0.0.1', two.port)).client;
    const ours = await all.floor.connect('127.0.0.1', one.port, new AbortController().signal);
    const ended = once(ours, 'close');

    const narrower = parsePolicy({ allow: [`127.0.0.1:${two.port}`] });
    expect(all.floor.setPolicy(narrower)).toEqual({ connectionsClosed: 2 });
    expect(all.floor.policy).toBe(narrower);
    await first.rest();
    await ended;
    expect(first.broken).toBe(true);
    second.send(Buffer.from('still'));
    expect((await second.take(5)).toString()).toBe('still');
    second.socket.destroy();
    const again = await socksConnect(all.floor, '127.0.0.1', one.port);
    again.client.socket.destroy();
    expect(again.reply).toBe(2);
    expect(all.floor.log.query({ verdict: 'deny' })).toMatchObject([{ count: 3 }]);
  });

  test('stops what was being connected when it came', async () => {
    await using server = await TcpServer.start();
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    await using all = await TestFloor.open({
      policy: { allow: [{ host: 'dev.example', ports: [server.port], resolvesTo: ['127.0.0.1/32'] }] },
      dns: async ({ type }) => {
        asked.resolve();
        await gate.promise;
        return type === 'A' ? { addresses: ['127.0.0.1'] } : 'nxdomain';
      },
    });
    const connecting = socksConnect(all.floor, 'dev.example', server.port);
    await asked.promise;
    all.floor.setPolicy(parsePolicy({ mode: 'allowlist' }));
    gate.resolve();
    const { client, reply } = await connecting;
    client.socket.destroy();
    expect(reply).toBe(2);
  });
});
