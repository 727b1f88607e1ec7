import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ProcessIndex } from '../../../src/residual/process-index.ts';
import { whyNoOwnNetwork } from '../../../src/sessions/own-network.ts';
import { eventually, processesWith } from '../../support/processes.ts';
import { engines, installed } from '../../support/real-chrome.ts';
import { TestService } from '../../support/service.ts';
import { WebServer } from '../../support/web-server.ts';

const run = promisify(execFile);
const impossible = await whyNoOwnNetwork();
if (impossible !== undefined) console.warn(`Skipped: network namespaces cannot be made here: ${impossible}`);
const root = process.getuid?.() === 0;

const site = await WebServer.start((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<title>there</title>');
});
afterAll(() => site[Symbol.asyncDispose]());

/** The processes of a session's Chrome, its main one first. */
async function chromesOf(session: string): Promise<number[]> {
  // In a long runtime directory only the end of the id is in the name of the workspace.
  const named = (await processesWith(session.slice(-8))).map(({ pid }) => pid);
  const index = await ProcessIndex.read();
  return [...new Set(named.flatMap((pid) => [pid, ...index.descendants(pid).map((entry) => entry.pid)]))];
}

describe.skipIf(impossible !== undefined)('with --strict-network', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start(['--strict-network', '--allow', `localhost:${site.port}`]);
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  describe.for(engines.map((engine) => ({ engine, path: installed(engine) })))(
    '$engine',
    ({ engine, path }) => {
      test.skipIf(path === undefined)(
        'Chrome has a network of its own with nothing but loopback and its floor, and leaves nothing',
        async () => {
          const session = await service.session({ engine });
          const opened = await service.post(`${session}/navigate`, { url: site.url() });
          expect(opened.body, opened.text).toMatchObject({ status: 200, title: 'there' });
          // Its own sandbox is as it is elsewhere: on, but for root.
          expect((await service.get(session)).body).toMatchObject({ strictNetwork: true, sandbox: !root });

          const pids = await chromesOf(session);
          expect(pids.length).toBeGreaterThan(1);
          const outside = await readlink('/proc/self/ns/net');
          const networks = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/ns/net`)));
          expect(networks).not.toContain(outside);
          const [pid = 0] = pids;
          const devices = (await readFile(`/proc/${pid}/net/dev`, 'utf8')).match(/^\s*[\w-]+(?=:)/gm);
          expect(devices?.map((name) => name.trim())).toEqual(['lo']);

          const closed = await service.delete(session);
          expect(closed.body).toMatchObject({ zero: true, processes: { survivors: 0 } });
          expect(await chromesOf(session)).toEqual([]);
        },
      );

      test.skipIf(path === undefined)('no process of it can go back to the network outside', async () => {
        const session = await service.session({ engine });
        const [pid = 0] = await chromesOf(session);
        const status = await readFile(`/proc/${pid}/status`, 'utf8');
        // Joining a namespace takes CAP_SYS_ADMIN over it; what is not in the bounding set never comes back.
        expect(
          status.match(/^Cap(?:Eff|Prm|Amb|Bnd):\s+(\w+)$/gm)?.map((line) => line.split(/\s+/)[1]),
        ).toEqual(Array.from({ length: 4 }, () => '0'.repeat(16)));
        await service.delete(session);
      });
    },
  );

  test.skipIf(!root)('from where Chrome is, what listens on this machine is not there', async () => {
    const session = await service.session();
    const [pid] = await chromesOf(session);
    const connect = `require('node:net').connect(${site.port}, '127.0.0.1').on('connect', () => process.exit(7)).on('error', (e) => { console.log(e.code); })`;
    const { stdout } = await run('nsenter', [`--net=/proc/${pid}/ns/net`, process.execPath, '-e', connect]);
    expect(stdout.trim()).toBe('ECONNREFUSED');
    // The same from here does connect.
    await expect(run(process.execPath, ['-e', connect])).rejects.toMatchObject({ code: 7 });
    await service.delete(session);
  });

  test('when the service is killed, its Chromes end by themselves, those that are being started too', async () => {
    const doomed = await TestService.start(['--strict-network', '--pool', '2']);
    await doomed.session();
    const starting = doomed.session().catch(() => undefined);
    // Everything of it has the path of its runtime directory on the command line, the shell that becomes Chrome as well.
    const all = () => processesWith(join(doomed.root, 'r'));
    expect((await all()).length).toBeGreaterThan(1);
    await doomed.stop('SIGKILL');
    await starting;
    await eventually(all, (left) => left.length === 0, 20_000);
    await doomed[Symbol.asyncDispose]();
  });

  test('the doctor says that it is on', async () => {
    const { body } = await service.get('/v1/doctor?launch=1');
    expect(body.checks).toContainEqual(
      expect.objectContaining({
        name: 'strict network',
        status: 'pass',
        found: expect.stringMatching(/^on/),
      }),
    );
    expect(body.checks).toContainEqual(expect.objectContaining({ name: 'launch', status: 'pass' }));
  });
});

test('without --strict-network sessions say that they have none, and the doctor whether they could', async () => {
  await using service = await TestService.start(['--pool', '0']);
  const session = await service.session();
  expect((await service.get(session)).body.strictNetwork).toBe(false);
  const { body } = await service.get('/v1/doctor');
  const found =
    impossible === undefined ? 'off; it can be had here' : `off; it cannot be had here: ${impossible}`;
  expect(body.checks).toContainEqual({ name: 'strict network', status: 'pass', found });
});

test('where namespaces cannot be made the service does not start, and says why', async () => {
  // A search path with everything that a start needs, and no unshare.
  const bin = await mkdtemp(join(tmpdir(), 'a-'));
  await symlink('/bin/sh', join(bin, 'sh'));
  const started = TestService.start(['--strict-network'], { env: { PATH: bin } });
  await expect(started).rejects.toThrow(/ended with 2: .*--strict-network cannot work here: .*unshare/s);
  await rm(bin, { recursive: true });
});

test.each(['dns.example', '1.1.1.1:0', '1.1.1.1:70000', '::1%lo', '1.1.1', '[::1', ''])(
  '--dns %s: not a name server, so no start',
  async (server) => {
    await expect(TestService.start(['--dns', server])).rejects.toThrow(/ended with 2: .*--dns/s);
  },
);
