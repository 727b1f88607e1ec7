import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { chown, mkdir, symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findLitter } from '../../src/residual/litter.ts';
import { ProcessIndex } from '../../src/residual/process-index.ts';
import { sweep } from '../../src/residual/sweep.ts';
import { launch } from './support/chrome.ts';
import { ended, runtimeDir, scratch, shell, track, workspace } from './support/scratch.ts';

const root = process.getuid?.() === 0;

/** Why each entry of a temp directory is spared; undefined for litter. */
async function judge(tempDir: string, minAgeSec = 0): Promise<Record<string, string | undefined>> {
  const found = await findLitter(await ProcessIndex.read(), { tempDir, minAgeSec });
  return Object.fromEntries(found.map(({ path, why }) => [path.slice(tempDir.length + 1), why]));
}

async function litter(tempDir: string, name = 'org.chromium.Chromium.AbCdEf'): Promise<string> {
  const path = join(tempDir, name);
  await mkdir(path);
  await symlink('123', join(path, 'SingletonCookie'));
  return path;
}

test('a stranger’s live Chromium keeps its socket directory, though no command line names it; a dead one’s goes', async () => {
  const place = await workspace();
  const tempDir = await scratch();
  const profile = await scratch();
  // Started as any program would: system temp directory, profile somewhere.
  const chrome = await launch(place, { engine: 'chrome', profile, env: { ...place.env(), TMPDIR: tempDir } });
  const socketDir = dirname(readlinkSync(join(profile, 'SingletonSocket')));
  expect(dirname(socketDir)).toBe(tempDir);
  const index = await ProcessIndex.read();
  expect(index.entries.filter((entry) => entry.command.includes(socketDir))).toEqual([]);

  const directory = await runtimeDir();
  const options = { tempDir, liveSessions: new Set<string>(), minAgeSec: 0, born: true };
  expect(await sweep(directory, options)).toMatchObject({ wiped: [], spared: [{ path: socketDir }] });
  expect(readdirSync(socketDir).sort()).toEqual(['SingletonCookie', 'SingletonSocket']);
  expect(chrome.child.exitCode).toBeNull();

  process.kill(-chrome.identity.pid, 'SIGKILL');
  await ended(chrome.identity);
  expect(existsSync(socketDir)).toBe(true);
  const after = await sweep(directory, options);
  expect(after).toMatchObject({ wiped: [socketDir], failed: [] });
});

test('each proof of life alone is enough to be spared', async () => {
  const tempDir = await scratch();
  const [named, open, bound, linked] = await Promise.all(
    ['named', 'open', 'bound', 'linked'].map((name) => litter(tempDir, `org.chromium.Chromium.${name}`)),
  );
  await track(spawn('sleep', ['1000'], { argv0: `x ${named}` }));
  await shell('echo; exec sleep 1000', { cwd: open ?? '' });
  const script =
    "require('net').createServer().listen(process.env.AT + '/SingletonSocket', () => console.log())";
  const listener = spawn(process.execPath, ['-e', script], { env: { AT: bound } });
  await track(listener);
  const profile = await scratch();
  await symlink(join(linked ?? '', 'SingletonSocket'), join(profile, 'SingletonSocket'));
  await track(spawn('sleep', ['1000'], { argv0: `chrome --user-data-dir=${profile} --x` }));
  await once(listener.stdout, 'data');
  expect(await judge(tempDir)).toEqual({
    'org.chromium.Chromium.named': 'a command line names it',
    'org.chromium.Chromium.open': 'a process has it open',
    'org.chromium.Chromium.bound': 'a socket is bound in it',
    'org.chromium.Chromium.linked': 'a live profile has its socket there',
  });
});

test.skipIf(!root)('a listener is seen through the walls of its namespaces', async () => {
  const tempDir = await scratch();
  const path = await litter(tempDir);
  const script = `require('net').createServer().listen('${path}/SingletonSocket', () => console.log())`;
  // The path that it is bound to is another one in there, so the table of sockets does not give it away.
  const inside = `mount --bind ${tempDir} /mnt && cd / && exec ${process.execPath} -e "${script.replace(tempDir, '/mnt')}"`;
  const listener = spawn('unshare', ['--net', '--mount', 'sh', '-c', inside], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await track(listener);
  await once(listener.stdout, 'data');
  expect(await judge(tempDir)).toEqual({ 'org.chromium.Chromium.AbCdEf': 'a process listens in it' });
});

test.each([
  ['its process runs here', `${hostname()}-${process.pid}`, 'a live profile has its socket there'],
  ['it is of another machine', 'elsewhere-7', 'a live profile has its socket there'],
  ['its process is gone', `${hostname()}-${2 ** 30}`, undefined],
])('the lock of a profile in its usual place says whether its socket lives: %s', async (_name, lock, why) => {
  const tempDir = await scratch();
  const path = await litter(tempDir);
  const config = await scratch();
  const profile = join(config, 'vendor/browser');
  await mkdir(profile, { recursive: true });
  await symlink(join(path, 'SingletonSocket'), join(profile, 'SingletonSocket'));
  await symlink(lock, join(profile, 'SingletonLock'));
  vi.stubEnv('XDG_CONFIG_HOME', config);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  expect(await judge(tempDir)).toEqual({ 'org.chromium.Chromium.AbCdEf': why });
});

test('what is young is left alone', async () => {
  const tempDir = await scratch();
  await litter(tempDir);
  expect(await judge(tempDir, 60)).toEqual({ 'org.chromium.Chromium.AbCdEf': 'it is younger than 60 s' });
  expect(await judge(tempDir, 0)).toEqual({ 'org.chromium.Chromium.AbCdEf': undefined });
});

test('only what has the shape of litter is litter', async () => {
  const tempDir = await scratch();
  const at = (name: string): string => join(tempDir, name);
  await mkdir(at('.org.chromium.Chromium.empty'));
  await litter(tempDir, 'org.chromium.Chromium.full');
  for (const name of ['SingletonSocket', 'DevToolsActivePort', '.org.chromium.Chromium.x', 'a.lock']) {
    await writeFile(at(`org.chromium.Chromium.full/${name}`), '');
  }
  await mkdir(at('org.chromium.Chromium.many'));
  for (let n = 0; n < 9; n += 1) await writeFile(at(`org.chromium.Chromium.many/Singleton${n}`), '');
  await litter(tempDir, 'org.chromium.Chromium.odd');
  await writeFile(at('org.chromium.Chromium.odd/letter.txt'), '');
  await mkdir(at('org.chromium.Chromium.deep/SingletonDir'), { recursive: true });
  await writeFile(at('org.chromium.Chromium.file'), '');
  await symlink(at('org.chromium.Chromium.full'), at('org.chromium.Chromium.link'));
  for (const name of ['com.google.Chrome.AbCdEf', 'org.chromium.Chromium', 'org.chromium.ChromiumX.a', 'x'])
    await mkdir(at(name));
  expect(await judge(tempDir)).toEqual({
    '.org.chromium.Chromium.empty': undefined,
    'org.chromium.Chromium.full': undefined,
    'org.chromium.Chromium.many': 'it has more than 8 entries',
    'org.chromium.Chromium.odd': 'it holds "letter.txt", which is none of Chromium\'s',
    'org.chromium.Chromium.deep': 'it holds "SingletonDir", which is none of Chromium\'s',
    'org.chromium.Chromium.file': 'it is not a directory',
    'org.chromium.Chromium.link': 'it is not a directory',
  });
});

test.skipIf(!root)('what belongs to another user is left alone', async () => {
  const tempDir = await scratch();
  await chown(await litter(tempDir), 65534, 65534);
  expect(await judge(tempDir)).toEqual({ 'org.chromium.Chromium.AbCdEf': 'it belongs to another user' });
});
