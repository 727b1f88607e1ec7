import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { PeerCheck } from '../../src/policy/peer.ts';
import { findSocket, type SocketLookup } from '../../src/policy/sock-diag.ts';
import { TestFloor } from '../support/floor.ts';
import { connectFromOutside } from '../support/outsider.ts';
import { ownConnection } from '../support/own-connection.ts';
import { greeting, requestBytes, socksConnect } from '../support/socks-client.ts';
import { TcpServer } from '../support/tcp-server.ts';

const onLinux = process.platform === 'linux';
const us = async () => new Set([process.pid]);

const lookups: { readonly how: string; readonly find: SocketLookup }[] = [
  { how: 'the kernel is asked', find: findSocket },
  { how: 'the tables are read', find: () => 'unknown' },
];

describe.skipIf(!onLinux).each(lookups)('whose a connection is, when $how', ({ find }) => {
  test('ours, when a process of the tree holds the other end', async () => {
    await using it = await ownConnection('127.0.0.1', '127.0.0.1');
    expect(await new PeerCheck(us, find).check(it.accepted)).toBe('own');
  });

  test('ours as well when an IPv6 socket uses IPv4', async (context) => {
    await using it = await ownConnection('127.0.0.1', '::ffff:127.0.0.1').catch(() => {
      context.skip('this machine has no IPv6');
      throw new Error('skipped');
    });
    expect(await new PeerCheck(us, find).check(it.accepted)).toBe('own');
  });

  test('foreign, when none does, when there is none, or when the processes cannot be listed', async () => {
    await using it = await ownConnection('127.0.0.1', '127.0.0.1');
    for (const pids of [
      async () => new Set<number>(),
      async () => new Set([process.ppid]),
      async () => new Set([2 ** 30]),
      () => Promise.reject(new Error('no /proc')),
    ]) {
      expect(await new PeerCheck(pids, find).check(it.accepted)).toBe('foreign');
    }
  });

  test('ours, when a new connection has the two ends of one that is gone', async () => {
    // An address that no other test uses, or one of them may take the port between two rounds.
    const host = `127.${[1, 2, 3].map(() => randomInt(1, 255)).join('.')}`;
    const server = createServer();
    server.listen(0, host);
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    const check = new PeerCheck(us, find);
    let localPort: number | undefined;
    for (let round = 0; round < 3; round += 1) {
      const accepting = once(server, 'connection');
      const client = connect({
        port: address.port,
        host,
        localAddress: host,
        ...(localPort && { localPort }),
      });
      const [accepted]: Socket[] = await accepting;
      if (accepted === undefined) throw new Error('nothing was accepted');
      accepted.on('error', () => undefined);
      localPort ??= client.localPort;
      expect([client.localPort, await check.check(accepted)]).toEqual([localPort, 'own']);
      // Without a farewell the ends are free at once.
      const closed = new Promise((resolve) => accepted.once('close', resolve));
      client.resetAndDestroy();
      accepted.resume();
      await closed;
    }
    server.close();
  });

  test('foreign, when the other end is gone or was never there', async () => {
    await using it = await ownConnection('127.0.0.1', '127.0.0.1');
    const { localAddress, localPort, remoteAddress } = it.accepted;
    const check = new PeerCheck(us, find);
    expect(await check.check({ localAddress, localPort, remoteAddress, remotePort: 1 })).toBe('foreign');
    expect(await check.check({})).toBe('foreign');
    expect(
      await check.check({ localAddress: '::1', localPort: 1, remoteAddress: '::1', remotePort: 2 }),
    ).toBe('foreign');
  });

  test('a burst is answered together, each connection for itself', async () => {
    let listed = 0;
    const check = new PeerCheck(async () => {
      listed += 1;
      return us();
    }, find);
    await using one = await ownConnection('127.0.0.1', '127.0.0.1');
    await using two = await ownConnection('127.0.0.1', '127.0.0.1');
    const stranger = { ...endsOf(one.accepted), remotePort: 1 };
    const verdicts = await Promise.all(
      [one.accepted, stranger, two.accepted].map((ends) => check.check(ends)),
    );
    expect(verdicts).toEqual(['own', 'foreign', 'own']);
    expect(listed).toBe(1);
    // Known processes are not listed again; a peer that none of them holds is reason to.
    expect(await check.check(one.accepted)).toBe('own');
    expect(listed).toBe(1);
    const accepting = Promise.withResolvers<Socket>();
    await using server = await TcpServer.start(accepting.resolve);
    const leaving = connectFromOutside({ address: '127.0.0.1', port: server.port }, Buffer.of(1));
    const theirs = await accepting.promise;
    expect(await check.check(theirs)).toBe('foreign');
    expect(listed).toBe(2);
    theirs.destroy();
    await leaving;
  });

  test('ours, whichever descriptor it has', async () => {
    const check = new PeerCheck(us, find);
    await using open = new AsyncDisposableStack();
    const early: Socket[] = [];
    for (let n = 0; n < 12; n += 1) {
      const it = open.use(await ownConnection('127.0.0.1', '127.0.0.1'));
      expect(await check.check(it.accepted)).toBe('own');
      if (n < 6) early.push(it.client, it.accepted);
    }
    // Their descriptors are given to the next ones, far below the last.
    await Promise.all(early.map((socket) => once(socket.destroy(), 'close')));
    for (let n = 0; n < 12; n += 1) {
      const it = open.use(await ownConnection('127.0.0.1', '127.0.0.1'));
      expect(await check.check(it.accepted)).toBe('own');
    }
  });
});

describe.skipIf(!onLinux)('a floor that knows its Chrome', () => {
  test('has not a byte for another process, and connects it nowhere', async () => {
    await using server = await TcpServer.start();
    const policy = { allow: [`127.0.0.1:${server.port}`] };
    await using all = await TestFloor.open({ policy, peerPids: us });
    const request = Buffer.concat([greeting, requestBytes('127.0.0.1', server.port)]);
    expect(await connectFromOutside(all.floor, request)).toHaveLength(0);
    expect(server.accepted).toBe(0);
    expect(all.floor.log.query()).toEqual([]);

    const { client, reply } = await socksConnect(all.floor, '127.0.0.1', server.port);
    client.socket.destroy();
    expect(reply).toBe(0);
  });

  test('serves a process that has joined the tree', async () => {
    await using server = await TcpServer.start();
    const tree = new Set<number>();
    const policy = { allow: [`127.0.0.1:${server.port}`] };
    await using all = await TestFloor.open({ policy, peerPids: async () => tree });
    const request = Buffer.concat([greeting, requestBytes('127.0.0.1', server.port)]);
    const received = await connectFromOutside(all.floor, request, (pid) => tree.add(pid));
    expect(received).toEqual(Buffer.from([5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
    expect(server.accepted).toBe(1);
  });

  test('does not let a foreign process pass for the canary', async () => {
    await using all = await TestFloor.open({ peerPids: us });
    const stop = new AbortController();
    const seen = all.floor.expectHost('nonce.invalid', stop.signal);
    await connectFromOutside(all.floor, Buffer.concat([greeting, requestBytes('nonce.invalid', 80)]));
    stop.abort();
    await expect(seen).rejects.toMatchObject({ code: 'cancelled' });
  });
});

test.skipIf(onLinux)('elsewhere nothing is known', async () => {
  expect(await new PeerCheck(us).check({})).toBe('unknown');
});

function endsOf({ localAddress, localPort, remoteAddress, remotePort }: Socket) {
  return { localAddress, localPort, remoteAddress, remotePort };
}
