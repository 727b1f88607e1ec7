import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SessionFiles } from '../../src/sessions/files.ts';
import { problemOf } from '../support/problem-of.ts';

function place(room = 1e9) {
  const base = mkdtempSync(join(tmpdir(), 'files-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [directory, incoming] = [join(base, 'files'), join(base, 'in')];
  for (const path of [directory, incoming]) mkdirSync(path);
  return {
    base,
    directory,
    incoming,
    files: new SessionFiles({ directory, incoming, room: async () => room }),
  };
}

async function* chunks(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text);
}

test('a file is whole under its name, or not there', async () => {
  const { files, directory, incoming } = place();
  async function* broken() {
    yield Buffer.from('half');
    expect(readdirSync(directory)).toEqual([]);
    throw new Error('the client went away');
  }
  await expect(files.store('a.txt', broken(), 100)).rejects.toThrow('the client went away');
  expect([...readdirSync(directory), ...readdirSync(incoming)]).toEqual([]);
  expect(await files.store('a.txt', chunks('ab', 'c'), 100)).toMatchObject({ name: 'a.txt', bytes: 3 });
  expect(readdirSync(incoming)).toEqual([]);
  expect(await files.list()).toMatchObject([{ name: 'a.txt', bytes: 3 }]);
});

test('no file is overwritten, and none is written through a link', async () => {
  const { files, directory, base } = place();
  writeFileSync(join(base, 'outside'), 'safe');
  symlinkSync(join(base, 'outside'), join(directory, 'a.txt'));
  symlinkSync(join(base, 'nowhere'), join(directory, 'a (1).txt'));
  expect((await files.store('a.txt', chunks('1'), 10)).name).toBe('a (2).txt');
  expect((await files.store('a.txt', chunks('2'), 10)).name).toBe('a (3).txt');
  expect(readFileSync(join(base, 'outside'), 'utf8')).toBe('safe');
  expect(readdirSync(base)).not.toContain('nowhere');
});

test('what is no plain file is not there: links, directories, pipes', async () => {
  const { files, directory, base } = place();
  writeFileSync(join(base, 'secret'), 'x');
  symlinkSync(join(base, 'secret'), join(directory, 'link'));
  mkdirSync(join(directory, 'folder'));
  execFileSync('mkfifo', [join(directory, 'pipe')]);
  expect(await files.list()).toEqual([]);
  for (const name of [
    'link',
    'folder',
    'pipe',
    '../secret',
    '..',
    '.',
    '',
    'a/../../secret',
    'none',
    'x'.repeat(300),
  ]) {
    expect(await problemOf(files.open(name))).toMatchObject({ code: 'artifact_not_found' });
    expect(await problemOf(files.remove(name))).toMatchObject({ code: 'artifact_not_found' });
  }
  expect(readdirSync(directory)).toHaveLength(3);
  expect(readFileSync(join(base, 'secret'), 'utf8')).toBe('x');
});

test.each([
  ['too_large', 5, 1000],
  ['quota_exceeded', 1000, 5],
  ['quota_exceeded', 1000, -1],
])('%s: at most %i bytes, room for %i', async (code, maxBytes, room) => {
  const { files, directory, incoming } = place(room);
  expect(await problemOf(files.store('a', chunks('12345', '6'), maxBytes))).toMatchObject({ code });
  expect([...readdirSync(directory), ...readdirSync(incoming)]).toEqual([]);
});

test('a name that leads elsewhere is refused', async () => {
  const { files } = place();
  for (const name of ['../a', '/etc/x', '..', '']) {
    expect(await problemOf(files.store(name, chunks('x'), 10))).toMatchObject({ code: 'invalid_request' });
  }
});
