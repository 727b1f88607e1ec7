import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { describeLeftovers, leftovers } from '../../support/outside.ts';

/** The proof of the stress run rests on this: each kind of residue is seen. */
describe.runIf(process.platform === 'linux')('what is left is seen from outside', () => {
  let root: string;
  const started: (() => Promise<unknown>)[] = [];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'outside-'));
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((end) => end()));
    rmSync(root, { recursive: true, force: true });
  });

  /** A shell that waits, ended with the test. */
  function waiting(name: string, env: Record<string, string> = {}): number {
    const child = spawn('/bin/sh', ['-c', 'read line', name], { env, stdio: ['pipe', 'ignore', 'ignore'] });
    started.push(async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    });
    return child.pid ?? 0;
  }

  test('nothing', async () => {
    expect(describeLeftovers(await leftovers(root, []))).toBe('');
  });

  test('a process that names the directory, unless it is known', async () => {
    const pid = waiting(`--user-data-dir=${root}/r/airlock-chrome-x/profile`);
    expect((await leftovers(root, [])).processes.map((line) => Number.parseInt(line, 10))).toEqual([pid]);
    expect((await leftovers(root, [pid])).processes).toEqual([]);
  });

  test('a process that was started with a home in a workspace', async () => {
    const pid = waiting('helper', { HOME: `${root}/r/airlock-chrome-x/home` });
    expect((await leftovers(root, [])).processes.map((line) => Number.parseInt(line, 10))).toEqual([pid]);
  });

  test('a workspace, and what Chromium leaves in a temp directory', async () => {
    mkdirSync(join(root, 'r/airlock-chrome-x'), { recursive: true });
    mkdirSync(join(root, 'org.chromium.Chromium.AbCdEf'));
    const left = await leftovers(root, []);
    expect([left.workspaces, left.litter.length]).toEqual([['airlock-chrome-x'], 1]);
    expect(describeLeftovers(left)).toContain('airlock-chrome-x');
  });

  test('a dead child that its parent has not reaped', async () => {
    // A shell that becomes a program which never waits for the child that the shell had started.
    const child = spawn('/bin/sh', ['-c', 'true & exec sleep 60'], { stdio: 'ignore' });
    started.push(async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    });
    const seen = async () => (await leftovers(root, [child.pid ?? 0])).processes;
    await expect.poll(seen).toEqual([expect.stringContaining('zombie')]);
  });
});
