import { execFile, spawn } from 'node:child_process';
import { chmod, copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PageServer } from '../support/page-harness.ts';
import { childTree, eventually, processesWith } from '../support/processes.ts';
import { TestService } from '../support/service.ts';

let pages: PageServer;
let service: TestService;
beforeAll(async () => {
  pages = await PageServer.open({
    '/': '<h1>Page</h1><script>setInterval(() => localStorage.setItem("k", Math.random()), 5)</script>',
    '/spin': '<button onclick="while(true);">Spin</button>',
    '/downloads':
      '<script>setInterval(() => { const a = document.createElement("a"); a.href = URL.createObjectURL(new Blob([new Uint8Array(1e5)])); a.download = "f"; a.click(); }, 10)</script>',
  });
  service = await TestService.start(['--pool', '0', '--allow', `127.0.0.1:${pages.port}`]);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await pages[Symbol.asyncDispose]();
});

function idOf(path: string): string {
  return path.split('/').at(-1) ?? '';
}

async function workspaces(of: TestService = service): Promise<string[]> {
  return (await readdir(join(of.root, 'r'))).filter((name) => name.startsWith('airlock-chrome-'));
}

/** Nothing of a session is left: seen from outside, by `ps` and by `readdir`. */
async function expectNothingOf(id: string, of: TestService = service): Promise<void> {
  expect(await processesWith(id)).toEqual([]);
  expect((await workspaces(of)).filter((name) => name.includes(id))).toEqual([]);
}

async function browserPid(path: string): Promise<number> {
  const lines = await processesWith(idOf(path));
  const main = lines.find(
    (line) => line.args.includes('--remote-debugging-pipe') && !line.args.includes('--type='),
  );
  if (!main) throw new Error('no browser');
  return main.pid;
}

/** Children of a process, as `ps` lists them. */
async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=']);
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid)
    .map(([child = 0]) => child);
}

async function open(path: string, page: string): Promise<void> {
  const answer = await service.post(`${path}/navigate`, {
    url: pages.url(page),
    waitUntil: 'domcontentloaded',
  });
  expect(answer.status).toBe(200);
}

test('SIGKILL of Chrome: what waits ends at once, the session is gone with a zero receipt, others go on', async () => {
  const [victim, other] = await Promise.all([service.session(), service.session()]);
  await open(victim, '/');
  const waiting = service.post(`${victim}/eval`, { expression: 'new Promise(() => {})', timeoutMs: 60_000 });
  await eventually(
    async () => (await service.get(victim)).body.laneDepth,
    (depth) => depth === 1,
  );
  process.kill(await browserPid(victim), 'SIGKILL');
  const ended = await waiting;
  expect([ended.status, ended.body.code]).toEqual([410, 'browser_crashed']);
  const answer = await eventually(
    () => service.get(victim),
    ({ body }) => body.receipt !== undefined,
  );
  expect(answer.status).toBe(410);
  expect(answer.body).toMatchObject({ reason: 'crashed', receipt: { zero: true } });
  await expectNothingOf(idOf(victim));
  expect((await service.post(`${other}/eval`, { expression: '1+1' })).body.value).toBe(2);
  await service.delete(other);
});

test('a crash of the renderer ends what waits; navigating again brings the tab back', async () => {
  const path = await service.session();
  await open(path, '/');
  const renderers = (await childTree(await browserPid(path))).filter((one) =>
    one.args.includes('--type=renderer'),
  );
  const waiting = service.post(`${path}/eval`, { expression: 'new Promise(() => {})', timeoutMs: 60_000 });
  await eventually(
    async () => (await service.get(path)).body.laneDepth,
    (depth) => depth === 1,
  );
  for (const { pid } of renderers) process.kill(pid, 'SIGKILL');
  expect((await waiting).body.code).toBe('page_crashed');
  expect((await service.post(`${path}/eval`, { expression: '1' })).body.code).toBe('page_crashed');
  await open(path, '/');
  expect((await service.post(`${path}/eval`, { expression: '1' })).body.value).toBe(1);
  expect((await service.delete(path)).body.zero).toBe(true);
});

test('a stopped Chrome, which hears neither Browser.close nor SIGTERM, is killed', async () => {
  const path = await service.session();
  await open(path, '/');
  process.kill(await browserPid(path), 'SIGSTOP');
  const receipt = (await service.delete(path)).body;
  expect(receipt).toMatchObject({ zero: true });
  expect(receipt.processes.killed).toBeGreaterThan(0);
  await expectNothingOf(idOf(path));
});

test('a page that spins for ever, and one that downloads while it is closed, leave nothing', async () => {
  const spinning = await service.session();
  await open(spinning, '/spin');
  const click = service.post(`${spinning}/click`, { target: 'button', timeoutMs: 20_000 });
  await eventually(
    async () => (await service.get(spinning)).body.laneDepth,
    (depth) => depth === 1,
  );
  expect((await service.delete(spinning)).body.zero).toBe(true);
  expect((await click).body.code).toBe('session_gone');
  await expectNothingOf(idOf(spinning));

  const loading = await service.session();
  await open(loading, '/downloads');
  expect((await service.delete(loading)).body.zero).toBe(true);
  await expectNothingOf(idOf(loading));
});

test('a read-only directory inside the profile does not stay', async () => {
  const path = await service.session();
  const name = (await workspaces()).find((one) => one.endsWith(idOf(path))) ?? '';
  const locked = join(service.root, 'r', name, 'profile', 'locked');
  await mkdir(join(locked, 'inner'), { recursive: true });
  await writeFile(join(locked, 'inner', 'file'), 'x');
  await chmod(locked, 0o500);
  expect((await service.delete(path)).body).toMatchObject({ zero: true, disk: { survivors: 0 } });
  await expectNothingOf(idOf(path));
});

test('a client that hangs up while its session is made leaves nothing', async () => {
  const before = await workspaces();
  const chromes = await childrenOf(service.pid);
  const controller = new AbortController();
  const call = service.post('/v1/sessions', {}, { signal: controller.signal });
  await eventually(
    () => workspaces(),
    (now) => now.length > before.length,
  );
  controller.abort();
  await expect(call).rejects.toThrow();
  await eventually(
    () => workspaces(),
    (now) => now.length === before.length,
  );
  await eventually(
    () => childrenOf(service.pid),
    (children) => children.length === chromes.length,
  );
});

test('a Chrome that dies at launch is a typed answer with its own words, and leaves nothing', async () => {
  // A real program that is no Chrome: it does not know the flags, says so, and ends.
  const program = join(service.root, 'chrome-headless-shell');
  await copyFile('/bin/ls', program);
  await using broken = await TestService.start(['--pool', '0', '--chrome', program]);
  const answer = await broken.post('/v1/sessions');
  expect([answer.status, answer.body.code]).toEqual([503, 'browser_unavailable']);
  expect(JSON.stringify(answer.body)).toMatch(/unrecognized option|invalid option/);
  expect(await workspaces(broken)).toEqual([]);
  expect((await broken.get('/livez')).status).toBe(200);
});

test('twenty sessions closed at once: every receipt is zero', async () => {
  const paths: string[] = [];
  for (let batch = 0; batch < 5; batch += 1) {
    paths.push(...(await Promise.all(Array.from({ length: 4 }, () => service.session()))));
  }
  const receipts = await Promise.all(paths.map((path) => service.delete(path)));
  expect(receipts.map(({ body }) => body.zero)).toEqual(paths.map(() => true));
  expect(await workspaces()).toEqual([]);
  expect(await childrenOf(service.pid)).toEqual([]);
});

test('concurrent deletes give one receipt; a delete ends what runs, with a clear answer', async () => {
  const path = await service.session();
  const running = service.post(`${path}/eval`, { expression: 'new Promise(() => {})', timeoutMs: 60_000 });
  await eventually(
    async () => (await service.get(path)).body.laneDepth,
    (depth) => depth === 1,
  );
  const [first, second] = await Promise.all([service.delete(path), service.delete(path)]);
  expect(second.body).toEqual(first.body);
  expect((await running).body).toMatchObject({ code: 'session_gone', reason: 'deleted' });
});

test('SIGKILL of the service: Chrome ends by itself, and the next start removes the directories', async () => {
  await using first = await TestService.start(['--pool', '1']);
  const ids = await Promise.all([first.session(), first.session()]).then((paths) => paths.map(idOf));
  await first.stop('SIGKILL');
  await eventually(
    async () => (await Promise.all(ids.map((id) => processesWith(id)))).flat(),
    (left) => left.length === 0,
  );
  expect((await workspaces(first)).length).toBeGreaterThan(0);
  const second = await TestService.start(['--pool', '0'], { root: first.root });
  expect(await workspaces(second)).toEqual([]);
  const doctor = await second.get('/v1/doctor');
  expect(doctor.body.residual).toMatchObject({ status: 'pass', markerDirs: 0, unownedMarkerProcesses: 0 });
  await second.stop();
});

test('a Chrome that outlives its service, and a stranger with the pid of a dead owner, are told apart', async () => {
  await using first = await TestService.start(['--pool', '0']);
  const path = await first.session();
  const workspace = join(first.root, 'r', (await workspaces(first))[0] ?? '');
  // Something that holds the workspace in its command line, as a helper would that does not listen to the pipe.
  const straggler = spawn('/bin/sh', ['-c', 'sleep 300; true', workspace], {
    detached: true,
    stdio: 'ignore',
  });
  straggler.unref();
  const stranger = spawn('/bin/sleep', ['300'], { stdio: 'ignore' });
  await first.stop('SIGKILL');
  await using second = await TestService.start(['--pool', '0'], { root: first.root });
  expect(await workspaces(second)).toEqual([]);
  await eventually(
    () => processesWith(workspace),
    (left) => left.length === 0,
  );
  expect(stranger.exitCode).toBeNull();
  stranger.kill();
  expect(path).toContain('/v1/sessions/');
});

test('SIGTERM lets what runs finish, refuses what is new, and closes all', async () => {
  await using draining = await TestService.start(['--pool', '0', '--drain', '20s']);
  const path = await draining.session();
  const running = draining.post(`${path}/eval`, {
    expression: 'new Promise((resolve) => setTimeout(() => resolve("done"), 1500))',
  });
  await eventually(
    async () => (await draining.get(path)).body.laneDepth,
    (depth) => depth === 1,
  );
  const ended = draining.stop('SIGTERM');
  const refused = await eventually(
    () => draining.post('/v1/sessions'),
    ({ status }) => status === 503,
  );
  expect(refused.body.code).toBe('draining');
  expect((await running).body.value).toBe('done');
  expect(await ended).toBe(0);
  expect(await workspaces(draining)).toEqual([]);
});

test('a second signal does not wait for what runs', async () => {
  await using hurried = await TestService.start(['--pool', '0', '--drain', '300s']);
  const path = await hurried.session();
  const running = hurried.post(`${path}/eval`, { expression: 'new Promise(() => {})', timeoutMs: 200_000 });
  await eventually(
    async () => (await hurried.get(path)).body.laneDepth,
    (depth) => depth === 1,
  );
  hurried.child.kill('SIGTERM');
  await eventually(
    () => hurried.get('/readyz'),
    ({ status }) => status === 503,
  );
  const code = await hurried.stop('SIGTERM');
  expect(code).toBe(0);
  expect((await running).body).toMatchObject({ code: 'session_gone', reason: 'shutdown' });
  expect(await workspaces(hurried)).toEqual([]);
});

test('a session over its disk quota is closed with that reason', async () => {
  await using small = await TestService.start(['--pool', '0', '--disk-quota', '16']);
  const path = await small.session();
  const name = (await workspaces(small))[0] ?? '';
  await writeFile(join(small.root, 'r', name, 'files', 'big'), Buffer.alloc(20 * 1024 ** 2));
  const answer = await eventually(
    () => small.get(path),
    ({ body }) => body.receipt !== undefined,
    30_000,
  );
  expect(answer.body).toMatchObject({ reason: 'quota', receipt: { zero: true } });
});

test('the idle limit ends a session that nobody uses', async () => {
  const path = await service.session({ idleSec: 1 });
  const id = idOf(path);
  // Looking at the session would be use: the list of all is not.
  await eventually(
    async () => (await service.get('/v1/sessions')).body.sessions.map((one: { id: string }) => one.id),
    (open: string[]) => !open.includes(id),
  );
  const answer = await service.get(path);
  expect(answer.body).toMatchObject({ code: 'session_gone', reason: 'idle', receipt: { zero: true } });
});
