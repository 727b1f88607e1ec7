import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { chmod, chown, mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { wipe } from '../../src/residual/wipe.ts';
import { scratch, shell, track } from './support/scratch.ts';

const root = process.getuid?.() === 0;

async function tree(): Promise<{ base: string; path: string }> {
  const base = await scratch();
  const path = join(base, 'tree');
  await mkdir(join(path, 'a/b'), { recursive: true });
  await writeFile(join(path, 'a/b/file'), Buffer.alloc(10_000, 1));
  return { base, path };
}

test('a tree is gone, and counted', async () => {
  const { base, path } = await tree();
  const result = await wipe(path);
  expect(result).toMatchObject({ entries: 4, survivors: [] });
  expect(result.bytes).toBeGreaterThanOrEqual(10_000);
  expect(readdirSync(base)).toEqual([]);
});

test('what is not there needs nothing done', async () => {
  expect(await wipe(join(await scratch(), 'none'))).toEqual({ entries: 0, bytes: 0, survivors: [] });
});

test('a link is removed, what it points to is untouched', async () => {
  const { base, path } = await tree();
  const outside = join(base, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'kept'), 'kept');
  await chmod(outside, 0o500);
  await symlink(outside, join(path, 'dir-link'));
  await symlink(join(outside, 'kept'), join(path, 'a/file-link'));
  await symlink('/nowhere', join(path, 'a/b/dangling'));
  await symlink(path, join(path, 'circle'));
  expect((await wipe(path)).survivors).toEqual([]);
  expect(existsSync(path)).toBe(false);
  expect(readFileSync(join(outside, 'kept'), 'utf8')).toBe('kept');
  expect(statSync(outside).mode & 0o777).toBe(0o500);
});

test('a root that is a link goes alone', async () => {
  const { base, path } = await tree();
  await symlink(path, join(base, 'link'));
  expect(await wipe(join(base, 'link'))).toMatchObject({ entries: 1, survivors: [] });
  expect(existsSync(join(path, 'a/b/file'))).toBe(true);
});

test('files that are pipes, sockets or huge are no matter', async () => {
  const { path } = await tree();
  execFileSync('mkfifo', [join(path, 'pipe')]);
  await writeFile(join(path, 'huge'), '');
  await truncate(join(path, 'huge'), 40 * 1024 * 1024 * 1024);
  expect(await wipe(path)).toMatchObject({ entries: 6, survivors: [] });
});

test('names that are not text are no matter', async () => {
  const { path } = await tree();
  const name = Buffer.concat([Buffer.from(`${path}/a/`), Buffer.from([0xff, 0xfe])]);
  mkdirSync(name);
  writeFileSync(Buffer.concat([name, Buffer.from('/'), Buffer.from([0x80])]), 'x');
  expect(await wipe(path)).toMatchObject({ entries: 6, survivors: [] });
  expect(existsSync(path)).toBe(false);
});

test.skipIf(process.platform !== 'linux')('a path past the limit of the kernel is no matter', async () => {
  const { path } = await tree();
  const name = 'd'.repeat(200);
  let directory = openSync(path, 'r');
  for (let depth = 0; depth < 30; depth += 1) {
    mkdirSync(`/proc/self/fd/${directory}/${name}`);
    const next = openSync(`/proc/self/fd/${directory}/${name}`, 'r');
    closeSync(directory);
    directory = next;
  }
  writeFileSync(`/proc/self/fd/${directory}/end`, '');
  closeSync(directory);
  expect(await wipe(path)).toMatchObject({ entries: 4 + 31, survivors: [] });
  expect(existsSync(path)).toBe(false);
});

test.each([0o500, 0o300, 0o000])('a directory of mode %o inside is opened up first', async (mode) => {
  const { base, path } = await tree();
  await chmod(join(path, 'a/b'), mode);
  await chmod(join(path, 'a'), mode);
  const script = new URL('support/wipe-as.ts', import.meta.url).pathname;
  if (root) execFileSync('chown', ['-R', '65534:65534', base]);
  const user = root ? { uid: 65534, gid: 65534 } : {};
  const result = JSON.parse(execFileSync(process.execPath, [script, path], { encoding: 'utf8', ...user }));
  expect(result).toMatchObject({ entries: 4, survivors: [] });
  expect(existsSync(path)).toBe(false);
});

test('a tree that something still writes to is gone, however often it fills again', async () => {
  const { path } = await tree();
  const script = `
    const fs = require('fs');
    for (let n = 0, until = Date.now() + 300; Date.now() < until; n++) {
      try { fs.mkdirSync('${path}/a/n' + n); fs.writeFileSync('${path}/a/n' + n + '/f', 'x'); } catch {}
      if (n === 50) console.log('writing');
    }`;
  const writer = spawn(process.execPath, ['-e', script]);
  await track(writer);
  await once(writer.stdout, 'data');
  const result = await wipe(path);
  expect(result.survivors).toEqual([]);
  expect(result.entries).toBeGreaterThan(100);
  expect(existsSync(path)).toBe(false);
});

test.skipIf(!root)('what is mounted inside is left alone, and named', async () => {
  const { path } = await tree();
  const mount = join(path, 'a/b');
  execFileSync('mount', ['-t', 'tmpfs', 'none', mount]);
  onTestFinished(() => {
    execFileSync('umount', [mount]);
  });
  await writeFile(join(mount, 'theirs'), 'x');
  const result = await wipe(path);
  expect(result.survivors).toEqual(
    [`${mount} (another file system is mounted on it)`, join(path, 'a'), path].map((at) =>
      expect.stringContaining(at),
    ),
  );
  expect(existsSync(join(mount, 'theirs'))).toBe(true);
});

test.skipIf(!root)('what the user may not remove is named, and the rest is gone', async () => {
  const { base, path } = await tree();
  await mkdir(join(path, 'theirs'));
  await writeFile(join(path, 'theirs/file'), 'x');
  await chmod(base, 0o777);
  for (const part of ['', 'a', 'a/b', 'a/b/file']) await chown(join(path, part), 65534, 65534);
  const script = new URL('support/wipe-as.ts', import.meta.url).pathname;
  const result = JSON.parse(
    execFileSync(process.execPath, [script, path], { encoding: 'utf8', uid: 65534, gid: 65534 }),
  );
  expect(result.survivors).toHaveLength(3);
  expect(result.survivors[0]).toMatch(/theirs\/file \(EACCES/);
  expect(readdirSync(path)).toEqual(['theirs']);
});

test('a process that lives in the tree does not keep it', async () => {
  const { path } = await tree();
  await shell(`exec 7>${path}/a/open; echo; exec sleep 1000`, { cwd: join(path, 'a/b') });
  expect((await wipe(path)).survivors).toEqual([]);
  expect(existsSync(path)).toBe(false);
});
