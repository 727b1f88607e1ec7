/** What no rule opens: the service's own port, the floors, and a debugging port, which no Chrome of a session has. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ProcessIndex } from '../../../src/residual/process-index.ts';
import { processesWith } from '../../support/processes.ts';
import { engines, installed } from '../../support/real-chrome.ts';
import { TestService } from '../../support/service.ts';
import { WebServer } from '../../support/web-server.ts';

const site = await WebServer.start();
let service: TestService;
beforeAll(async () => {
  // Everything on this machine is opened, by its addresses and by its names.
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const addresses = own.filter(({ family, internal }) => family === 'IPv4' && !internal);
  service = await TestService.start([
    ...['--pool', '0', '--allow', 'loopback'],
    ...addresses.flatMap(({ address }) => ['--allow', address]),
  ]);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

const tail = (session: string) => session.slice(-8);

/** `address:port` of a session's floor, from the command line of its Chrome. */
async function floorOf(session: string): Promise<string> {
  const lines = await processesWith(tail(session));
  const found = lines.map(({ args }) => /--proxy-server=socks5:\/\/([\d.]+:\d+)/.exec(args)?.[1]);
  return found.find((place) => place !== undefined) ?? '';
}

describe.for(engines.map((engine) => ({ engine, path: installed(engine) })))(
  '$engine',
  ({ engine, path }) => {
    test.skipIf(path === undefined)(
      'the own ports of the service are unreachable, however they are spelt',
      async () => {
        const other = await service.session();
        const session = await service.session({ engine });
        const [floor, otherFloor] = [await floorOf(session), await floorOf(other)];
        const api = new URL(service.baseUrl).port;
        const ports = [api, ...[floor, otherFloor].map((place) => place.split(':')[1] ?? '')];
        const machine = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
        const hosts = [
          ...['127.0.0.1', 'localhost', 'x.localhost', '[::1]', '127.9.9.9'],
          ...machine
            .filter(({ family, internal }) => family === 'IPv4' && !internal)
            .map(({ address }) => address),
        ];
        const places = [
          floor,
          otherFloor,
          ...hosts.flatMap((host) => ports.map((port) => `${host}:${port}`)),
        ];
        const urls = places.map((place) => `http://${place}/livez`);
        const expression = `Promise.all(${JSON.stringify(urls)}.map((url) => fetch(url, { mode: 'no-cors' }).then(() => url, () => '')))`;
        const { body } = await service.post(`${session}/eval`, { expression });
        expect(body.value.filter((url: string) => url !== '')).toEqual([]);
        for (const url of urls) {
          const opened = await service.post(`${session}/navigate`, { url });
          expect([url, opened.body.decision?.reason]).toEqual([url, 'self']);
        }
        const log = await service.get(`${session}/policy/decisions?verdict=deny&limit=2000`);
        expect(new Set(log.body.decisions.map(({ reason }: { reason: string }) => reason))).toEqual(
          new Set(['self']),
        );
        // The rest of the machine is open.
        expect(
          (await service.post(`${session}/navigate`, { url: site.url('/', '127.0.0.1') })).body.status,
        ).toBe(200);
        await service.delete(session);
        await service.delete(other);
      },
    );

    test.skipIf(path === undefined || process.platform !== 'linux')(
      'no process of a session listens anywhere',
      async () => {
        const session = await service.session({ engine });
        await service.post(`${session}/navigate`, { url: site.url() });
        const named = (await processesWith(tail(session))).map(({ pid }) => pid);
        const index = await ProcessIndex.read();
        const tree = new Set(
          named.flatMap((pid) => [pid, ...index.descendants(pid).map((entry) => entry.pid)]),
        );
        expect(tree.size).toBeGreaterThan(2);
        const listening = await listeningInodes();
        expect(listening.size).toBeGreaterThan(0);
        for (const pid of tree) {
          const held = (await socketsOf(pid)).filter((inode) => listening.has(inode));
          expect([pid, held]).toEqual([pid, []]);
        }
        expect((await socketsOf(service.pid)).filter((inode) => listening.has(inode))).not.toEqual([]);
        await service.delete(session);
      },
    );
  },
);

/** Inodes of the TCP sockets of this machine that listen (state 0A in /proc/net/tcp). */
async function listeningInodes(): Promise<Set<string>> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  );
  const lines = tables.flatMap((table) => table.split('\n')).map((line) => line.trim().split(/\s+/));
  return new Set(lines.filter(([, , , state]) => state === '0A').map((line) => line[9] ?? ''));
}

async function socketsOf(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
}
