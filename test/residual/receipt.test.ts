import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lifeOf } from '../../src/residual/identity.ts';
import { reap } from '../../src/residual/reap.ts';
import { RECEIPTS_KEPT, type Receipt, Receipts } from '../../src/residual/receipts.ts';
import { launch } from './support/chrome.ts';
import { scratch, shell, workspace } from './support/scratch.ts';

const closeFloor = async () => ({ connectionsClosed: 0 });

test('a clean end has the figures of the law and nothing else', async () => {
  const place = await workspace('s1');
  const chrome = await shell('echo; exec sleep 1000');
  const receipt = await reap({ sessionId: 's1', reason: 'ttl', workspace: place, chrome, closeFloor });
  expect(receipt).toEqual({
    sessionId: 's1',
    reason: 'ttl',
    closedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    durationMs: expect.any(Number),
    processes: { seen: 1, exited: 0, terminated: 1, killed: 0, survivors: 0 },
    disk: { entries: 6, bytes: expect.any(Number), survivors: 0 },
    floor: { connectionsClosed: 0 },
    zero: true,
  });
});

test.each([false, true])(
  'an attached browser is let go of, not ended; our files go (immediate: %s)',
  async (immediate) => {
    const place = await workspace();
    const theirs = await shell('echo; exec sleep 1000');
    let closed = 0;
    const closeBrowser = async (): Promise<void> => {
      closed += 1;
    };
    const receipt = await reap({
      sessionId: 's',
      reason: 'delete',
      workspace: place,
      closeBrowser,
      closeFloor,
      immediate,
    });
    expect(receipt).toMatchObject({ zero: true, processes: { seen: 0 } });
    expect(closed).toBe(1);
    expect(lifeOf(theirs.identity)).toBe('alive');
    expect(existsSync(place.path)).toBe(false);
  },
);

test.each([
  ['fails', () => Promise.reject(new Error('listener stuck')), /floor: listener stuck/],
  [
    'throws',
    (): Promise<never> => {
      throw new Error('listener stuck');
    },
    /floor: listener stuck/,
  ],
  ['never answers', () => new Promise<never>(() => undefined), /floor: no answer within 2000 ms/],
])('a floor that %s is not called clean, and does not keep the rest', async (_name, floor, problem) => {
  const place = await workspace();
  const chrome = await shell('echo; exec sleep 1000');
  const receipt = await reap({
    sessionId: 's',
    reason: 'delete',
    workspace: place,
    chrome,
    closeFloor: floor,
  });
  expect(receipt).toMatchObject({ zero: false, processes: { survivors: 0 }, disk: { survivors: 0 } });
  expect(receipt.problems?.join()).toMatch(problem);
  expect(existsSync(place.path)).toBe(false);
});

test.skipIf(process.getuid?.() !== 0)(
  'paths that stay are counted and named, and are the sweep’s from then on',
  async () => {
    const place = await workspace();
    const mount = join(place.profile, 'held');
    await mkdir(mount);
    execFileSync('mount', ['-t', 'tmpfs', 'none', mount]);
    onTestFinished(() => {
      execFileSync('umount', [mount]);
    });
    const receipt = await reap({ sessionId: 's', reason: 'delete', workspace: place, closeFloor });
    expect(receipt).toMatchObject({ zero: false, disk: { survivors: 3 } });
    expect(receipt.problems?.[0]).toContain(mount);
    expect(readdirSync(place.path)).toEqual(['profile']);
    expect(place.claimed).toBe(false);
  },
);

test('a persistent profile stays, without the lock of the Chrome that was killed', async () => {
  const base = await scratch();
  const profile = join(base, 'profile');
  const place = await workspace();
  const chrome = await launch(place, { engine: 'chrome', profile });
  expect(readlinkSync(join(profile, 'SingletonLock'))).toMatch(new RegExp(`-${chrome.identity.pid}$`));
  process.kill(-chrome.identity.pid, 'SIGSTOP');
  const receipt = await reap({
    sessionId: 's',
    reason: 'delete',
    workspace: place,
    chrome,
    closeFloor,
    preserve: profile,
  });
  expect(receipt).toMatchObject({ zero: true, processes: { survivors: 0 } });
  expect(existsSync(join(profile, 'Default'))).toBe(true);
  expect(readdirSync(profile).filter((name) => name.startsWith('Singleton'))).toEqual([]);
});

test('the lock of somebody else in a persistent profile stays', async () => {
  const profile = await scratch();
  const place = await workspace();
  await symlink('elsewhere-1', join(profile, 'SingletonLock'));
  const chrome = await shell('echo; exec sleep 1000');
  await reap({ sessionId: 's', reason: 'delete', workspace: place, chrome, closeFloor, preserve: profile });
  expect(readlinkSync(join(profile, 'SingletonLock'))).toBe('elsewhere-1');
});

test('a profile to preserve inside the workspace is kept, and the end is not called clean', async () => {
  const place = await workspace();
  await writeFile(join(place.profile, 'kept'), 'x');
  const receipt = await reap({
    sessionId: 's',
    reason: 'd',
    workspace: place,
    closeFloor,
    preserve: place.profile,
  });
  expect(receipt.zero).toBe(false);
  expect(existsSync(join(place.profile, 'kept'))).toBe(true);
});

test('the last thousand receipts are kept, the oldest goes first however often it was read', () => {
  const receipts = new Receipts();
  const receipt = (sessionId: string): Receipt => ({
    sessionId,
    reason: 'delete',
    closedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 1,
    processes: { seen: 0, exited: 0, terminated: 0, killed: 0, survivors: 0 },
    disk: { entries: 0, bytes: 0, survivors: 0 },
    floor: { connectionsClosed: 0 },
    zero: true,
  });
  for (let n = 0; n < RECEIPTS_KEPT; n += 1) receipts.add(receipt(`s${n}`));
  expect(receipts.get('s0')?.sessionId).toBe('s0');
  receipts.add(receipt('one-more'));
  expect(receipts.size).toBe(1000);
  expect(receipts.get('s0')).toBeUndefined();
  expect(receipts.get('s1')?.sessionId).toBe('s1');
  expect(receipts.list()[0]?.sessionId).toBe('one-more');
});
