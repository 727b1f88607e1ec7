import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PageServer } from '../../support/page-harness.ts';
import { childTree, eventually, processesWith } from '../../support/processes.ts';
import { TestService } from '../../support/service.ts';

let pages: PageServer;
beforeAll(async () => {
  pages = await PageServer.open({
    '/': '<h1>Page</h1><canvas id=c></canvas><script>c.getContext("2d").fillRect(0, 0, 9, 9); setInterval(() => localStorage.setItem("k", Math.random()), 5)</script>',
  });
});
afterAll(() => pages[Symbol.asyncDispose]());

const idOf = (path: string) => path.split('/').at(-1) ?? '';
const start = (flags: string[] = [], options: Parameters<typeof TestService.start>[1] = {}) =>
  TestService.start(['--pool', '0', '--allow', `127.0.0.1:${pages.port}`, ...flags], options);

async function workspaces({ root }: TestService): Promise<string[]> {
  return (await readdir(join(root, 'r'))).filter((name) => name.startsWith('airlock-chrome-'));
}

async function opened(service: TestService): Promise<string> {
  const path = await service.session();
  expect((await service.post(`${path}/navigate`, { url: pages.url('/') })).status).toBe(200);
  return path;
}

/** No process and no directory of these sessions: seen by `ps` and by `readdir`. */
async function expectNothing(service: TestService, paths: readonly string[]): Promise<void> {
  await eventually(
    async () => (await Promise.all(paths.map((path) => processesWith(idOf(path))))).flat(),
    (left) => left.length === 0,
  );
  expect(await workspaces(service)).toEqual([]);
}

test('the longest life of a session ends it, also while an operation runs', async () => {
  await using service = await start();
  const answer = await service.post('/v1/sessions', { ttlSec: 2 });
  const path = `/v1/sessions/${answer.body.id}`;
  const running = await service.post(`${path}/eval`, {
    expression: 'new Promise(() => {})',
    timeoutMs: 60_000,
  });
  expect([running.status, running.body.code, running.body.reason]).toEqual([410, 'session_gone', 'ttl']);
  expect((await service.get(path)).body).toMatchObject({ code: 'session_gone', reason: 'ttl' });
  const gone = await eventually(
    () => service.get(path),
    ({ body }) => body.receipt !== undefined,
  );
  expect(gone.body).toMatchObject({ code: 'session_gone', reason: 'ttl', receipt: { zero: true } });
  await expectNothing(service, [path]);
});

test('SIGINT closes all sessions, exits with 0 and leaves nothing', async () => {
  await using service = await start();
  const paths = [await opened(service), await opened(service)];
  expect(await service.stop('SIGINT')).toBe(0);
  await expectNothing(service, paths);
});

test('a GPU process that is killed does not end the session, and nothing stays of its successor', async () => {
  await using service = await start();
  const path = await opened(service);
  const gpus = async () =>
    (await childTree(service.pid)).filter(({ args }) => args.includes('--type=gpu-process'));
  const [gpu] = await gpus();
  if (!gpu) throw new Error('this Chrome has no GPU process');
  process.kill(gpu.pid, 'SIGKILL');
  await eventually(gpus, (now) => now.some(({ pid }) => pid !== gpu.pid));
  expect((await service.get(`${path}/screenshot`)).status).toBe(200);
  expect((await service.delete(path)).body.zero).toBe(true);
  await expectNothing(service, [path]);
});

test('an exception that nobody catches ends the service; its Chromes end too, and the next start cleans up', async () => {
  const root = await mkdtemp(join(tmpdir(), 'a-'));
  const fault = join(root, 'fault.mjs');
  await writeFile(fault, `process.on('SIGUSR2', () => { throw new Error('a fault of the service'); });`);
  await using service = await start([], {
    root,
    env: { NODE_OPTIONS: `--import ${pathToFileURL(fault).href}` },
  });
  const paths = [await opened(service), await opened(service)];
  expect(await service.stop('SIGUSR2')).toBe(1);
  expect(service.log).toContain('a fault of the service');
  await eventually(
    async () => (await Promise.all(paths.map((path) => processesWith(idOf(path))))).flat(),
    (left) => left.length === 0,
  );
  await using next = await start([], { root });
  await expectNothing(next, paths);
  expect((await next.get('/v1/doctor')).body.residual).toMatchObject({ status: 'pass', markerDirs: 0 });
});

test('twenty sessions, all being closed when the service is killed: zero after the next start', async () => {
  await using first = await start(['--max-sessions', '20']);
  const paths: string[] = [];
  while (paths.length < 20) paths.push(...(await Promise.all([1, 2, 3, 4].map(() => first.session()))));
  // In the middle: some are gone, some are not.
  const closing = paths.map((path) => first.delete(path).catch(() => undefined));
  await Promise.race(closing);
  await first.stop('SIGKILL');
  await Promise.all(closing);
  expect((await workspaces(first)).length).toBeGreaterThan(0);
  await using second = await start([], { root: first.root });
  await expectNothing(second, paths);
  expect((await second.get('/readyz')).status).toBe(200);
});

const MAIN = join(import.meta.dirname, '../../../src/main.ts');
/** Any user but root. */
const NOBODY = 65_534;

/** A user namespace in which nobody may make another one, so that Chrome has no sandbox to use; its shell waits for a line. */
async function withoutNamespaces(command: string): Promise<ChildProcess> {
  const asUser = `exec setpriv --reuid ${NOBODY} --regid ${NOBODY} --clear-groups ${command}`;
  // The second shell begins when the map is there, and so has the rights of root in its namespace.
  const setup = `echo 0 > /proc/sys/user/max_user_namespaces && ${asUser}`;
  const child = spawn('unshare', ['--user', 'sh', '-c', `echo here; read go; exec sh -c '${setup}'`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await writeFile(`/proc/${child.pid}/uid_map`, '0 0 65536');
  await writeFile(`/proc/${child.pid}/gid_map`, '0 0 65536');
  child.stdin.write('go\n');
  return child;
}

function mayRead(path: string): boolean {
  const user = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups'];
  try {
    execFileSync('setpriv', [...user, process.execPath, '--check', path], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test('a Chrome whose sandbox is refused is a typed answer with its own words, and leaves nothing', async ({
  skip,
}) => {
  if (process.getuid?.() !== 0)
    return skip('needs root, to make a namespace in which the sandbox is refused');
  if (existsSync('/usr/lib/chromium/chrome-sandbox'))
    return skip('the setuid sandbox is installed: nothing refuses it');
  if (!mayRead(MAIN)) return skip('another user than root cannot read this checkout');
  const root = await mkdtemp(join(tmpdir(), 'a-'));
  await chmod(root, 0o700);
  await mkdir(join(root, 'tmp'));
  for (const path of [root, join(root, 'tmp')]) await chown(path, NOBODY, NOBODY);
  const flags = `--port 0 --pool 0 --state-dir ${root}/state --runtime-dir ${root}/r --log-level warn`;
  const child = await withoutNamespaces(
    `env HOME=${root} TMPDIR=${root}/tmp ${process.execPath} ${MAIN} ${flags}`,
  );
  try {
    const ended = once(child, 'exit').then(() => Promise.reject(new Error('the service did not start')));
    const [line]: unknown[] = await Promise.race([once(child.stdout ?? child, 'data'), ended]);
    ended.catch(() => undefined);
    const baseUrl = /listens on (http:\/\/\S+)/.exec(String(line))?.[1] ?? '';
    const token = (await readFile(join(root, 'state/token'), 'utf8')).trim();
    const answer = await fetch(`${baseUrl}/v1/sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    const problem = JSON.parse(await answer.text());
    expect([answer.status, problem.code]).toEqual([503, 'browser_unavailable']);
    expect(problem.stderr).toContain('No usable sandbox');
    expect((await readdir(join(root, 'r'))).filter((name) => name.startsWith('airlock-chrome-'))).toEqual([]);
    expect(await readdir(join(root, 'tmp'))).toEqual([]);
    const left = (await processesWith(root)).filter(
      ({ args }) => args.includes('--type=') || args.includes('headless'),
    );
    expect(left).toEqual([]);
  } finally {
    if (child.exitCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    await rm(root, { recursive: true, force: true });
  }
});
