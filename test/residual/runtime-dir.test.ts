import { existsSync, readdirSync, statSync } from 'node:fs';
import { chmod, chown, lstat, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { isInstanceAlive, livingInstances, removeStaleLocks } from '../../src/residual/instance-lock.ts';
import { RuntimeDir } from '../../src/residual/runtime-dir.ts';
import { runtimeDir, scratch, service } from './support/scratch.ts';

const root = process.getuid?.() === 0;

test('it is made for us alone', async () => {
  const base = await scratch();
  const directory = await runtimeDir(join(base, 'deep/r'));
  expect(directory.path).toBe(join(base, 'deep/r'));
  expect(statSync(directory.path).mode & 0o777).toBe(0o700);
  expect(directory.instance).toMatchObject({ pid: process.pid });
});

test('a second start of the same directory is fine, and leaves nothing of the first', async () => {
  const base = await scratch();
  const path = join(base, 'r');
  await (await RuntimeDir.open(path))[Symbol.asyncDispose]();
  expect(readdirSync(path)).toEqual([]);
  await (await RuntimeDir.open(path))[Symbol.asyncDispose]();
});

test('without a path it is in XDG_RUNTIME_DIR', async () => {
  const base = await scratch();
  const directory = await RuntimeDir.open(undefined, { XDG_RUNTIME_DIR: base });
  onTestFinished(() => directory[Symbol.asyncDispose]());
  expect(directory.path).toBe(join(base, 'airlock'));
});

test.each([
  ['there is none', () => ({})],
  ["it is too long for Chrome's socket", (base: string) => ({ XDG_RUNTIME_DIR: join(base, 'x'.repeat(60)) })],
  ['it is not absolute', () => ({ XDG_RUNTIME_DIR: 'run' })],
])('without XDG_RUNTIME_DIR it is in the temp directory, by user: %s', async (_name, environment) => {
  const base = await scratch();
  vi.stubEnv('TMPDIR', base);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const directory = await RuntimeDir.open(undefined, environment(base));
  onTestFinished(() => directory[Symbol.asyncDispose]());
  expect(directory.path).toBe(join(base, `airlock-${process.getuid?.()}`));
});

test('a symbolic link in its place is refused', async () => {
  const base = await scratch();
  await mkdir(join(base, 'elsewhere'), { mode: 0o700 });
  await symlink(join(base, 'elsewhere'), join(base, 'r'));
  await expect(RuntimeDir.open(join(base, 'r'))).rejects.toThrow(/symbolic link/);
  expect(readdirSync(join(base, 'elsewhere'))).toEqual([]);
});

test('a link further up is resolved', async () => {
  const base = await scratch();
  await mkdir(join(base, 'real'), { mode: 0o700 });
  await symlink(join(base, 'real'), join(base, 'up'));
  expect((await runtimeDir(join(base, 'up/r'))).path).toBe(join(base, 'real/r'));
});

test('a file in its place is refused', async () => {
  const base = await scratch();
  await writeFile(join(base, 'r'), '');
  await expect(RuntimeDir.open(join(base, 'r'))).rejects.toThrow(/not a directory/);
});

test.skipIf(!root)('a directory of another user is refused', async () => {
  const base = await scratch();
  await mkdir(join(base, 'r'), { mode: 0o700 });
  await chown(join(base, 'r'), 65534, 65534);
  await expect(RuntimeDir.open(join(base, 'r'))).rejects.toThrow(/belongs to user 65534/);
});

test.each([0o755, 0o770, 0o500])('a directory of mode %o is refused', async (mode) => {
  const base = await scratch();
  await mkdir(join(base, 'r'));
  await chmod(join(base, 'r'), mode);
  await expect(RuntimeDir.open(join(base, 'r'))).rejects.toThrow(/its mode is/);
});

test('a place where anyone may swap it for another is refused', async () => {
  const base = await scratch();
  await chmod(base, 0o777);
  await expect(RuntimeDir.open(join(base, 'r'))).rejects.toThrow(/sticky/);
  await chmod(base, 0o1777);
  await runtimeDir(join(base, 'r'));
});

test('a path that leaves no room for the socket of Chrome is refused, with the length that would do', async () => {
  const base = await scratch();
  const error = await RuntimeDir.open(join(base, 'r'.repeat(60))).catch((thrown: unknown) => thrown);
  const most = Number(/at most (\d+) bytes/.exec(String(error))?.[1]);
  const longest = join(base, 'r'.repeat(most - base.length - 1));
  await runtimeDir(longest);
  await expect(RuntimeDir.open(`${longest}r`)).rejects.toMatchObject({ code: 'internal' });
});

test('two instances at once share it, each with a lock of its own', async () => {
  const base = await scratch();
  const here = await runtimeDir(join(base, 'r'));
  const there = await service(here.path);
  expect(there.instance.instanceId).not.toBe(here.instance.instanceId);
  expect((await livingInstances(here.path)).sort()).toEqual(
    [here.instance.instanceId, there.instance.instanceId].sort(),
  );
  expect(await removeStaleLocks(here.path)).toEqual([]);
});

test('the lock of a service that was killed is void at once, and in nobody’s way', async () => {
  const base = await scratch();
  const path = join(base, 'r');
  const dead = await service(path);
  const lock = join(path, `${dead.instance.instanceId}.sock`);
  expect(await isInstanceAlive(path, dead.instance.instanceId)).toBe(true);
  await dead.die();
  expect((await lstat(lock)).isSocket()).toBe(true);
  expect(await isInstanceAlive(path, dead.instance.instanceId)).toBe(false);
  await runtimeDir(path);
  expect(await removeStaleLocks(path)).toEqual([lock]);
  expect(existsSync(lock)).toBe(false);
});

test('the lock of a service that is stopped still holds', async () => {
  const path = join(await scratch(), 'r');
  const there = await service(path);
  process.kill(there.identity.pid, 'SIGSTOP');
  expect(await isInstanceAlive(path, there.instance.instanceId)).toBe(true);
});

test('an instance id cannot lead out of the directory', async () => {
  const directory = await runtimeDir();
  const way = `../${directory.path.split('/').at(-1)}/${directory.instance.instanceId}`;
  expect(await isInstanceAlive(directory.path, way)).toBe(false);
});
