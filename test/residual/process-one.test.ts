import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leaveProcessOne } from '../../src/residual/init.ts';
import { ProcessIndex } from '../../src/residual/process-index.ts';
import { scratch, track } from './support/scratch.ts';

function mayUnshare(): boolean {
  try {
    execFileSync('unshare', ['--pid', '--fork', '--mount-proc', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function container(mode: 'stay' | 'leave') {
  const script = new URL('support/process-one.ts', import.meta.url).pathname;
  const args = [
    '--pid',
    '--fork',
    '--kill-child',
    '--mount-proc',
    process.execPath,
    script,
    mode,
    join(await scratch(), 'r'),
  ];
  const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const { identity } = await track(child);
  const [data] = await once(child.stdout, 'data');
  return { child, identity, said: JSON.parse(String(data)) };
}

test('elsewhere than as process 1 nothing happens', () => {
  expect(leaveProcessOne(process.argv)).toBe('not needed');
});

test.skipIf(!mayUnshare())(
  'as process 1 Node cannot reap orphans: they are zombies, and the end is not called clean',
  async () => {
    const { said } = await container('stay');
    expect(said.pid).toBe(1);
    expect(said.receipt).toMatchObject({
      zero: false,
      processes: { survivors: 0, zombies: 1 },
      disk: { survivors: 0 },
    });
    expect(said.receipt.problems).toEqual([expect.stringMatching(/has ended, but is not reaped/)]);
    expect(said.report).toMatchObject({
      status: 'warn',
      zombies: 1,
      unownedMarkerProcesses: 0,
      markerDirs: 0,
    });
  },
);

test.skipIf(!mayUnshare())('it puts a reaper in its place, under which the same end is clean', async () => {
  const { said, child, identity } = await container('leave');
  expect(said.pid).toBeGreaterThan(1);
  expect(said.receipt).toMatchObject({ zero: true, processes: { survivors: 0 } });
  expect(said.receipt.processes).not.toHaveProperty('zombies');
  expect(said.report).toMatchObject({ status: 'pass', zombies: 0 });
  // The reaper hands on the signal and the exit code.
  const [init] = (await ProcessIndex.read())
    .descendants(identity.pid)
    .filter((entry) => entry.ppid === identity.pid);
  process.kill(init?.pid ?? 0, 'SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(7);
});
