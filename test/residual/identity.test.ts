import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bootId, identify, isAlive, look, parsePsLine, parseStat } from '../../src/residual/identity.ts';
import { ended, scratch, shell, track } from './support/scratch.ts';

test('a process is named by its pid and the time it started, whatever its command is called', async () => {
  const program = join(await scratch(), 'a b) R (c');
  await copyFile('/bin/sleep', program);
  const { identity, child } = await track(spawn(program, ['1000']));
  const status = look(identity.pid);
  expect(status).toMatchObject({ pid: child.pid, ppid: process.pid, life: 'alive', stopped: false });
  expect(Number(identity.startTime)).toBeGreaterThan(0);
  expect(await identify(identity.pid)).toEqual(identity);
  expect(await isAlive(identity)).toBe('alive');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await isAlive(identity)).toBe('gone');
});

test('a dead process that nobody has reaped is a zombie, not alive', async () => {
  // The outer shell becomes a sleep, which never waits for the child that it inherits.
  const parent = await shell('sh -c "exit 0" & echo $!; exec sleep 1000');
  const pid = Number(parent.line);
  while (look(pid)?.life === 'alive') await new Promise((resolve) => setImmediate(resolve));
  const identity = await identify(pid);
  expect(identity).toBeDefined();
  expect(process.kill(pid, 0)).toBe(true); // what makes kill(pid, 0) useless for this
  expect(identity === undefined ? '' : await isAlive(identity)).toBe('zombie');
});

test('a process that took over the pid is not the one that had it', async () => {
  const { identity } = await shell('echo; exec sleep 1000');
  expect(await isAlive({ ...identity, startTime: '1' })).toBe('gone');
});

test('a stopped process is alive, and seen to be stopped', async () => {
  const { identity, child } = await shell('echo; exec sleep 1000');
  process.kill(identity.pid, 'SIGSTOP');
  while (look(identity.pid)?.stopped === false) await new Promise((resolve) => setImmediate(resolve));
  expect(await isAlive(identity)).toBe('alive');
  child.kill('SIGKILL');
  await ended(identity);
});

test('pids that cannot be are nobody', async () => {
  for (const pid of [0, -1, 1.5, Number.NaN, 2 ** 31]) expect(await identify(pid)).toBeUndefined();
});

test.skipIf(process.platform !== 'linux')('the boot and the namespace have names', async () => {
  expect(bootId()).toMatch(/^[0-9a-f-]{36}$/);
  expect(await readlink('/proc/self/ns/pid')).toMatch(/^pid:/);
});

test('a leader without its main thread is still alive while other threads run', () => {
  const stat = (state: string, threads: number): string =>
    `7 (x) ${state} 1 7 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 ${threads} 0 4711 0 0`;
  expect(parseStat(stat('Z', 3))).toMatchObject({ life: 'alive', startTime: '4711' });
  expect(parseStat(stat('Z', 1))?.life).toBe('zombie');
  expect(parseStat(stat('X', 0))?.life).toBe('zombie');
  expect(parseStat('')).toBeUndefined();
  expect(parseStat('7 (x) S 1')).toBeUndefined();
});

test('a line of ps on macOS is read in full', () => {
  const line = '  501     1   501 Ss+  Mon Nov 30 15:04:05 2026 /Applications/Chromium --user-data-dir=/x y';
  expect(parsePsLine(line)).toEqual({
    pid: 501,
    ppid: 1,
    pgid: 501,
    sid: 0,
    startTime: 'Mon Nov 30 15:04:05 2026',
    life: 'alive',
    stopped: false,
    kernel: false,
    command: '/Applications/Chromium --user-data-dir=/x y',
  });
  expect(parsePsLine(' 7 1 7 Z    Tue Dec  1 01:02:03 2026 (bash)')?.life).toBe('zombie');
  expect(parsePsLine('garbage')).toBeUndefined();
});
