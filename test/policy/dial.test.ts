import { describe, expect, test } from 'vitest';
import { dial, interleave, sameAddress } from '../../src/policy/dial.ts';
import { stuckServer } from '../support/stuck-server.ts';
import { closedPort, TcpServer } from '../support/tcp-server.ts';

const { signal } = new AbortController();
const onLinux = process.platform === 'linux';

describe('dialling', () => {
  test('connects to the first that answers, and to no other', async () => {
    await using server = await TcpServer.start(() => undefined, '127.0.0.1');
    const { socket, address } = await dial(['127.0.0.5', '127.0.0.1', '127.0.0.6'], server.port, { signal });
    expect(address).toBe('127.0.0.1');
    expect(socket.remoteAddress).toBe('127.0.0.1');
    socket.destroy();
    expect(server.accepted).toBe(1);
  });

  test.runIf(onLinux)('an address that does not answer does not hold up the next', async () => {
    await using server = await TcpServer.start();
    await using _ = await stuckServer('127.0.0.7', server.port);
    const { socket, address } = await dial(['127.0.0.7', '127.0.0.1'], server.port, {
      signal,
      staggerMs: 20,
    });
    socket.destroy();
    expect(address).toBe('127.0.0.1');
  });

  test.runIf(onLinux)('ends at its limit, and when it is cancelled', async () => {
    const port = await closedPort();
    await using _ = await stuckServer('127.0.0.7', port);
    await expect(dial(['127.0.0.7'], port, { signal, timeoutMs: 50 })).rejects.toMatchObject({
      fault: 'timeout',
    });
    const stop = new AbortController();
    const dialling = dial(['127.0.0.7'], port, { signal: stop.signal });
    stop.abort();
    await expect(dialling).rejects.toMatchObject({ fault: 'cancelled' });
  });

  test('is not begun when it is cancelled before', async () => {
    await using server = await TcpServer.start();
    await expect(dial(['127.0.0.1'], server.port, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      fault: 'cancelled',
    });
    expect(server.accepted).toBe(0);
  });

  test('says that it was refused', async () => {
    const port = await closedPort();
    await expect(dial(['127.0.0.1', '127.0.0.2'], port, { signal })).rejects.toMatchObject({
      fault: 'refused',
    });
  });

  test.each([
    'localhost',
    '',
    '127.1',
    '0x7f.1',
    '127.0.0.1%lo',
    'fe80::1%lo',
    '127.0.0.1\0.example.com',
    '[::1]',
  ])('never takes %j, which is no literal', async (address) => {
    await using server = await TcpServer.start();
    await expect(dial(['127.0.0.1', address], server.port, { signal })).rejects.toMatchObject({
      fault: 'failed',
    });
    expect(server.accepted).toBe(0);
  });

  test('no address at all is a failure', async () => {
    await expect(dial([], 80, { signal })).rejects.toMatchObject({ fault: 'failed' });
  });

  test.runIf(onLinux)(
    'does not keep a connection that ended up elsewhere: 0.0.0.0 leads to loopback',
    async () => {
      await using server = await TcpServer.start();
      await expect(dial(['0.0.0.0'], server.port, { signal })).rejects.toMatchObject({ fault: 'wrong_peer' });
    },
  );

  test('a mapped address is the same address in every spelling', async () => {
    expect(sameAddress('::ffff:7f00:1', '::ffff:127.0.0.1')).toBe(true);
    expect(sameAddress('2001:DB8::0:1', '2001:db8::1')).toBe(true);
    expect(sameAddress('127.0.0.1', '::ffff:127.0.0.1')).toBe(false);
    expect(sameAddress('127.0.0.1', '127.0.0.2')).toBe(false);
    expect(sameAddress('x', 'y')).toBe(false);
  });

  test('families take turns, beginning with the first', () => {
    expect(interleave(['10.0.0.1', '10.0.0.2', '10.0.0.3', '::1', '::2'])).toEqual([
      '10.0.0.1',
      '::1',
      '10.0.0.2',
      '::2',
      '10.0.0.3',
    ]);
    expect(interleave(['::1', '10.0.0.1'])).toEqual(['::1', '10.0.0.1']);
    expect(interleave([])).toEqual([]);
  });
});
