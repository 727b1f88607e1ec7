import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mentions, ProcessIndex } from '../../src/residual/process-index.ts';
import { scratch, shell, track } from './support/scratch.ts';

const pids = (entries: { pid: number }[]): number[] => entries.map(({ pid }) => pid).sort((a, b) => a - b);

test('one pass knows children, group and session', async () => {
  const top = await shell('sh -c "sleep 1000 & echo \\$!; wait" & wait');
  const leaf = Number(top.line);
  const index = await ProcessIndex.read();
  const below = pids(index.descendants(top.identity.pid));
  expect(below).toHaveLength(2);
  expect(below).toContain(leaf);
  expect(pids(index.inGroup(top.identity.pid))).toEqual(
    pids([top.identity, ...index.descendants(top.identity.pid)]),
  );
  expect(pids(index.inSession(top.identity.pid))).toEqual(pids(index.inGroup(top.identity.pid)));
  expect(index.get(leaf)).toMatchObject({ command: 'sleep\u00001000\u0000', life: 'alive' });
});

test('a path is found in a command line as a whole name only', async () => {
  const base = await scratch();
  const { identity } = await track(spawn('sleep', ['1000'], { argv0: `x --dir=${base}/one-1/profile` }));
  const index = await ProcessIndex.read();
  expect(pids(index.mentioning(`${base}/one-1`))).toEqual([identity.pid]);
  expect(index.mentioning(`${base}/one`)).toEqual([]);
  expect(index.mentioning(`${base}/one-1/prof`)).toEqual([]);
});

test.each([
  ['/r/a', '/r/a', true],
  ['/r/a', 'x /r/a/b', true],
  ['/r/a', '--dir=/r/a\0', true],
  ['/r/a', '"/r/a"', true],
  ['/r/a', '/r/ab', false],
  ['/r/a', '/r/a-1', false],
  ['/r/a', '/r/a.b', false],
  ['/r/a', '/r/aé', false],
  ['/r/a', '/r/ab /r/a/c', true],
])('%s in %j: %s', (path, text, expected) => {
  expect(mentions(text, path)).toBe(expected);
});

test.skipIf(process.getuid?.() !== 0)(
  'nobody can have a process killed by naming it in that of another user',
  async () => {
    const base = await scratch();
    const stranger = await track(spawn('sleep', ['1000'], { argv0: `${base}/x`, uid: 65534 }));
    const ours = await track(spawn('sleep', ['1000'], { argv0: `${base}/x` }));
    expect(pids((await ProcessIndex.read()).mentioning(base))).toEqual([ours.identity.pid]);
    expect(stranger.identity.pid).not.toBe(ours.identity.pid);
  },
);

test('a helper that left tree, group and session is known by the home it was started with', async () => {
  const base = await scratch();
  const child = spawn('sleep', ['1000'], {
    detached: true,
    env: { HOME: `${base}/ws/home`, PWD: `${base}/other` },
  });
  const { identity } = await track(child);
  const index = await ProcessIndex.read();
  expect(pids(index.carrying(`${base}/ws`))).toEqual([identity.pid]);
  expect(index.carrying(`${base}/other`)).toEqual([]); // a shell that somebody has gone there with
  expect(index.carrying(`${base}/w`)).toEqual([]);
});

test('open files, working directories and bound sockets are found', async () => {
  const base = await scratch();
  for (const name of ['file', 'cwd', 'socket', 'none']) await mkdir(join(base, name));
  await writeFile(join(base, 'file/f'), 'x');
  const reader = await shell(`exec 7<${base}/file/f; echo; exec sleep 1000`);
  const stander = await shell('echo; exec sleep 1000', { cwd: join(base, 'cwd') });
  const listener = spawn(process.execPath, [
    '-e',
    `require('net').createServer().listen('${base}/socket/s', () => console.log())`,
  ]);
  await track(listener);
  await once(listener.stdout, 'data');
  const index = await ProcessIndex.read();
  expect(pids(await index.holding(join(base, 'file')))).toEqual([reader.identity.pid]);
  expect(pids(await index.holding(join(base, 'cwd')))).toEqual([stander.identity.pid]);
  expect(await index.holding(join(base, 'none'))).toEqual([]);
  expect(await index.hasSocketIn(join(base, 'socket'))).toBe(true);
  expect(await index.hasSocketIn(join(base, 'none'))).toBe(false);
});

test('this process and those above it are known to be untouchable', async () => {
  const index = await ProcessIndex.read();
  const line = index.ownLine();
  expect(line.has(process.pid)).toBe(true);
  expect(line.has(process.ppid)).toBe(true);
  expect(line.has(1)).toBe(true);
});
