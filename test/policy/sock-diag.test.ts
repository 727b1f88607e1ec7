import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { connect, createServer } from 'node:net';
import { endianness } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { askKernel } from '../../src/policy/netlink.ts';
import { canFindSockets, findSocket, readAnswer, requestFor } from '../../src/policy/sock-diag.ts';
import { peerOf, type SocketEnds } from '../../src/policy/socket-ends.ts';
import { tableInodes } from '../../src/policy/socket-tables.ts';
import { ownConnection } from '../support/own-connection.ts';

const onLinux = process.platform === 'linux';
/** A machine that has all this and refuses the question fails the tests. */
const hasFfi = onLinux && ['x64', 'arm64'].includes(process.arch) && isBuiltin('node:ffi');

const hasIpv6 = existsSync('/proc/net/if_inet6');

/** Out of the table, and as a number. */
async function tabled(ends: SocketEnds): Promise<number> {
  return Number((await tableInodes(new Set([ends]))).get(ends));
}

function peerEnds(accepted: Parameters<typeof peerOf>[0]): SocketEnds {
  const ends = peerOf(accepted);
  if (ends === undefined) throw new Error('not an IPv4 connection');
  return ends;
}

describe.skipIf(!hasFfi)('one socket, asked of the kernel', () => {
  // That nothing is there is believed of a kernel that has found something before.
  beforeAll(async () => {
    await using it = await ownConnection('127.0.0.1', '127.0.0.1');
    expect(findSocket(peerEnds(it.accepted))).toBeTypeOf('number');
  });

  test.each(
    [
      { dial: '127.0.0.1', listen: '127.0.0.1', what: 'IPv4' },
      { dial: '::ffff:127.0.0.1', listen: '127.0.0.1', what: 'IPv6 that uses IPv4' },
      { dial: '127.0.0.1', listen: '::ffff:127.0.0.1', what: 'IPv4, accepted by IPv6' },
    ].filter(({ dial, listen }) => hasIpv6 || !`${dial}${listen}`.includes(':')),
  )('has the inode that the table has: $what', async ({ dial, listen }) => {
    await using it = await ownConnection(listen, dial);
    const ends = peerEnds(it.accepted);
    const found = findSocket(ends);
    expect(found).toBe(await tabled(ends));
    expect(found).toBeGreaterThan(0);
    const other = findSocket({ local: ends.remote, remote: ends.local });
    expect(other).toBeTypeOf('number');
    expect(other).not.toBe(found);
  });

  test('is none where there never was one', async () => {
    await using it = await ownConnection('127.0.0.1', '127.0.0.1');
    const { local, remote } = peerEnds(it.accepted);
    expect(findSocket({ local: { ...local, port: 1 }, remote })).toBe('none');
    expect(findSocket({ local, remote: { ...remote, port: 1 } })).toBe('none');
    expect(findSocket({ local: { ...local, address: [127, 0, 0, 2] }, remote })).toBe('none');
    expect(findSocket({ local, remote: { ...remote, address: [127, 0, 0, 2] } })).toBe('none');
  });

  test.each(['127.0.0.1', '0.0.0.0'])('is not the listener of that port on %s', async (host) => {
    const server = createServer().listen(0, host);
    await once(server, 'listening');
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const local = { address: [127, 0, 0, 1], port };
    expect(findSocket({ local, remote: { address: [127, 0, 0, 1], port: 1 } })).toBe('none');
    // Unless it is the listener itself that is asked for.
    const any = { address: [0, 0, 0, 0], port: 0 };
    const itself = { ...local, address: host.split('.').map(Number) };
    expect(findSocket({ local: itself, remote: any })).toBeTypeOf('number');
    server.close();
    await once(server, 'close');
  });

  test('is none once it is closed', async () => {
    const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    for (const end of ['end', 'resetAndDestroy'] as const) {
      const client = connect({ port, host: '127.0.0.1' });
      const [[accepted]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
      accepted.on('error', () => undefined);
      const ends = peerEnds(accepted);
      expect(findSocket(ends)).toBeTypeOf('number');
      const gone = [client, accepted].map((socket) => new Promise((done) => socket.once('close', done)));
      // After `end` the kernel keeps it in TIME_WAIT, after a reset not at all.
      client.resume();
      client[end]();
      await Promise.all(gone);
      expect(findSocket(ends)).toBe('none');
    }
    server.close();
    await once(server, 'close');
  });

  test('can be had, as the doctor says', async () => {
    expect(await canFindSockets()).toBe(true);
  });

  test('a thousand questions leave no descriptor behind', async () => {
    await using it = await ownConnection('127.0.0.1', '127.0.0.1');
    const ends = peerEnds(it.accepted);
    const nowhere = { ...ends, local: { ...ends.local, port: 1 } };
    const before = readdirSync('/proc/self/fd').length;
    for (let n = 0; n < 500; n += 1) {
      expect(findSocket(ends)).toBeTypeOf('number');
      expect(findSocket(nowhere)).toBe('none');
    }
    expect(readdirSync('/proc/self/fd')).toHaveLength(before);
  });
});

describe.skipIf(!hasFfi)('an answer of the kernel', () => {
  /** The kernel's own bytes, and what they answer. */
  async function answered(dial: string): Promise<{ bytes: Uint8Array; ends: SocketEnds; inode: number }> {
    await using it = await ownConnection('127.0.0.1', dial);
    const ends = peerEnds(it.accepted);
    const buffer = new Uint8Array(4096);
    const length = askKernel(4, requestFor(ends, 7), buffer);
    return { bytes: buffer.slice(0, length), ends, inode: await tabled(ends) };
  }

  test.each(hasIpv6 ? ['127.0.0.1', '::ffff:127.0.0.1'] : ['127.0.0.1'])(
    'is believed for exactly what was asked: %s',
    async (dial) => {
      const { bytes, ends, inode } = await answered(dial);
      const { local, remote } = ends;
      const changed = (at: number, ...to: number[]): Uint8Array => {
        const copy = bytes.slice();
        copy.set(to, at);
        return copy;
      };
      expect(readAnswer(bytes, ends, 7)).toBe(inode);
      // An answer to another question.
      expect(readAnswer(bytes, ends, 8)).toBe('unknown');
      // Each of the four coordinates, and each byte of them: struct inet_diag_sockid begins at 20.
      const addresses = dial === '127.0.0.1' ? 4 : 16;
      const places = [20, 21, 22, 23];
      for (let n = 0; n < addresses; n += 1) places.push(24 + n, 40 + n);
      for (const at of places) {
        expect(readAnswer(changed(at, (bytes[at] ?? 0) ^ 1), ends, 7), `byte ${at}`).toBe('none');
      }
      expect(readAnswer(bytes, { local: remote, remote: local }, 7)).toBe('none');
      // Of another family, in TIME_WAIT, without an owner.
      expect(readAnswer(changed(16, 1), ends, 7)).toBe('none');
      expect(readAnswer(changed(17, 6), ends, 7)).toBe('none');
      expect(readAnswer(changed(84, 0, 0, 0, 0), ends, 7)).toBe('none');
      // Of another type, or cut off.
      expect(readAnswer(changed(4, 3, 0), ends, 7)).toBe('unknown');
      for (const length of [0, 8, 20, 87, bytes.length - 1]) {
        expect(readAnswer(bytes.subarray(0, length), ends, 7), `${length} bytes`).toBe('unknown');
      }
    },
  );

  test.each([
    { errno: 2, name: 'ENOENT', answer: 'none' },
    { errno: 1, name: 'EPERM', answer: 'unknown' },
    { errno: 0, name: 'no error', answer: 'unknown' },
  ])('that is an error: $name', async ({ errno, answer }) => {
    const { bytes, ends } = await answered('127.0.0.1');
    const view = new DataView(bytes.buffer);
    const little = endianness() === 'LE';
    view.setUint16(4, 2, little);
    view.setInt32(16, -errno, little);
    expect(readAnswer(bytes, ends, 7)).toBe(answer);
  });
});

/** Asks for a connection of its own by `findSocket`, and whose it is by `PeerCheck`; prints both. */
const program = `
const { once } = await import('node:events');
const { connect, createServer } = await import('node:net');
const [{ canFindSockets, findSocket }, { peerOf }, { PeerCheck }] = await Promise.all(process.argv.slice(1).map((url) => import(url)));
const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const accepting = once(server, 'connection');
const client = connect(server.address().port, '127.0.0.1');
const [accepted] = await accepting;
const nowhere = findSocket({ local: { address: [127, 0, 0, 1], port: 1 }, remote: { address: [127, 0, 0, 1], port: 2 } });
const verdict = await new PeerCheck(async () => new Set([process.pid])).check(accepted);
console.log(nowhere, typeof findSocket(peerOf(accepted)), verdict, await canFindSockets());
process.emitWarning('still heard', 'ExperimentalWarning');
client.destroy();
accepted.destroy();
server.close();
`;

async function inAnotherNode(flags: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  const modules = ['sock-diag', 'socket-ends', 'peer'].map(
    (name) => new URL(`../../src/policy/${name}.ts`, import.meta.url).href,
  );
  const args = [...flags, '--input-type=module', '-e', program, '--', ...modules];
  // Not the environment of the test runner, which has flags in it.
  return await promisify(execFile)(process.execPath, args, {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: {},
  });
}

describe.skipIf(!hasFfi)('a Node', () => {
  test('that has ffi asks the kernel, and says nothing about it', async () => {
    const { stdout, stderr } = await inAnotherNode([]);
    expect(stdout).toBe('unknown number own true\n');
    expect(stderr).not.toContain('FFI');
    expect(stderr).toContain('ExperimentalWarning: still heard');
  });

  test.each([
    { flags: ['--no-experimental-ffi'], why: 'has no ffi' },
    { flags: ['--permission', '--allow-fs-read=*', '--allow-net'], why: 'may not use ffi' },
  ])('that $why reads the tables', async ({ flags }) => {
    const { stdout, stderr } = await inAnotherNode(flags);
    expect(stdout).toBe('unknown string own false\n');
    expect(stderr).not.toContain('FFI');
  });
});
