import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bootId, lifeOf, look } from '../../src/residual/identity.ts';
import { isInstanceAlive } from '../../src/residual/instance-lock.ts';
import { ProcessIndex } from '../../src/residual/process-index.ts';
import type { RuntimeDir } from '../../src/residual/runtime-dir.ts';
import { type SweepOptions, type SweepResult, sweep } from '../../src/residual/sweep.ts';
import { Workspace } from '../../src/residual/workspace.ts';
import { launch } from './support/chrome.ts';
import { killAtEnd, runtimeDir, scratch, service, shell } from './support/scratch.ts';

const root = process.getuid?.() === 0;

/** Sweeps with an empty temp directory, so that nothing on the machine but the test's own things is looked at. */
async function run(directory: RuntimeDir, more: Partial<SweepOptions> = {}): Promise<SweepResult> {
  const options = {
    tempDir: await scratch(),
    liveSessions: new Set<string>(),
    minAgeSec: 60,
    born: true,
    ...more,
  };
  return sweep(directory, options);
}

/** A workspace whose owner record says what a test wants it to. */
async function forged(directory: RuntimeDir, service: object, chrome?: object): Promise<string> {
  const path = join(directory.path, 'airlock-chrome-forged');
  await mkdir(join(path, 'profile'), { recursive: true });
  const record = {
    sessionId: 'forged',
    service: { ...directory.instance, ...service },
    chrome,
    createdAt: 'x',
  };
  await writeFile(join(path, 'owner.json'), JSON.stringify(record));
  return path;
}

const deadInstance = { instanceId: '0123456789ab', pid: 2 ** 30, startTime: '1' };

test('after a service was killed its workspaces and Chromes go with the next start', async () => {
  const base = await scratch();
  const dead = await service(join(base, 'r'), ['one', 'two']);
  const [one = '', two = ''] = dead.workspaces;
  // The service's Chrome, stopped: it cannot see that its pipe is closed.
  const chrome = await shell(`trap "" TERM; sleep 1000 & echo $!; wait`, { cwd: one });
  const record = JSON.parse(await readFile(join(one, 'owner.json'), 'utf8'));
  record.chrome = { ...chrome.identity, pgid: chrome.identity.pid };
  await writeFile(join(one, 'owner.json'), JSON.stringify(record));
  process.kill(-chrome.identity.pid, 'SIGSTOP');
  await dead.die();

  const directory = await runtimeDir(dead.path);
  const result = await run(directory);
  expect(result.wiped.sort()).toEqual([one, two, join(dead.path, `${dead.instance.instanceId}.sock`)].sort());
  expect(result).toMatchObject({ killed: 2, failed: [] });
  expect(result.bytes).toBeGreaterThan(0);
  expect(look(Number(chrome.line))?.life).not.toBe('alive');
  expect(readdirSync(dead.path)).toEqual([`${directory.instance.instanceId}.sock`]);
});

test('a real Chrome whose service was killed before it could write its pid down is found', async () => {
  const directory = await runtimeDir();
  const place = await Workspace.create(directory, 'one');
  const chrome = await launch(place, { engine: 'chrome' });
  const helpers = (await ProcessIndex.read()).mentioning(place.path);
  for (const helper of helpers) killAtEnd(helper);
  process.kill(-chrome.identity.pid, 'SIGSTOP');
  await forgedOwner(place.path, { service: { ...directory.instance, ...deadInstance } });
  place.release();
  const result = await run(directory);
  expect(result).toMatchObject({ failed: [], wiped: [place.path] });
  expect(result.killed).toBeGreaterThan(5);
  expect(helpers.filter((helper) => lifeOf(helper) === 'alive')).toEqual([]);
});

async function forgedOwner(path: string, record: object): Promise<void> {
  await writeFile(join(path, 'owner.json'), JSON.stringify({ sessionId: 'one', createdAt: 'x', ...record }));
}

test('of another boot everything is dead, and no pid means anything', async () => {
  const directory = await runtimeDir();
  const bystander = await shell('sleep 1000 & echo $!; wait');
  const chrome = { ...bystander.identity, pgid: bystander.identity.pid };
  // Even a service with the pid, start time and instance of one that lives.
  const path = await forged(
    directory,
    { bootId: '00000000-0000-0000-0000-000000000000', instanceId: '0123456789ab' },
    chrome,
  );
  expect(await run(directory)).toMatchObject({ wiped: [path], killed: 0 });
  expect(lifeOf(bystander.identity)).toBe('alive');
});

test('a stranger that has the pid of a dead Chrome, or of a dead service, is never killed', async () => {
  const directory = await runtimeDir();
  const stranger = await shell('sleep 1000 & echo $!; wait');
  const reused = { pid: stranger.identity.pid, startTime: '1' };
  const path = await forged(
    directory,
    { instanceId: '0123456789ab', ...reused },
    { ...reused, pgid: reused.pid },
  );
  expect(await run(directory)).toMatchObject({ wiped: [path], killed: 0, failed: [] });
  expect(lifeOf(stranger.identity)).toBe('alive');
  expect(look(Number(stranger.line))?.life).toBe('alive');
});

test.each([true, false])(
  'a workspace of another instance that runs is left alone (born: %s)',
  async (born) => {
    const other = await service(join(await scratch(), 'r'), ['one']);
    const directory = await runtimeDir(other.path);
    const [path = ''] = other.workspaces;
    expect(await run(directory, { born })).toMatchObject({
      wiped: [],
      spared: [{ path, why: 'it belongs to another instance that runs' }],
    });
    expect(existsSync(join(path, 'owner.json'))).toBe(true);
  },
);

test.skipIf(!root)('so is one of an instance in another container, whose pids we cannot see', async () => {
  const wrap = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const other = await service(join(await scratch(), 'r'), ['one'], wrap);
  expect(other.instance.pid).toBeLessThan(10);
  const directory = await runtimeDir(other.path);
  const [path = ''] = other.workspaces;
  expect((await run(directory)).wiped).toEqual([]);
  await other.die();
  // unshare takes its child along when it dies, but not in the same moment.
  while (await isInstanceAlive(directory.path, other.instance.instanceId)) await nextTurn();
  expect((await run(directory)).wiped).toContain(path);
});

test('an instance that lost its lock but still runs keeps its workspaces', async () => {
  const directory = await runtimeDir();
  const other = await shell('echo; exec sleep 1000');
  const path = await forged(directory, { ...deadInstance, ...other.identity });
  expect((await run(directory)).wiped).toEqual([]);
  expect(existsSync(path)).toBe(true);
});

test('a claimed workspace of our own is left alone; one that was given back is not', async () => {
  const directory = await runtimeDir();
  const place = await Workspace.create(directory, 'one');
  expect(await run(directory, { born: false })).toMatchObject({
    wiped: [],
    spared: [{ why: 'its session is open' }],
  });
  place.release();
  const live = { born: false, liveSessions: new Set(['one']) };
  expect((await run(directory, live)).wiped).toEqual([]);
  expect((await run(directory, { born: false })).wiped).toEqual([place.path]);
});

test('a workspace without a record waits for its maker while another instance runs, and no longer', async () => {
  const other = await service(join(await scratch(), 'r'));
  const directory = await runtimeDir(other.path);
  const path = join(directory.path, 'airlock-chrome-new');
  await mkdir(path);
  expect(await run(directory)).toMatchObject({
    wiped: [],
    spared: [{ path, why: 'it has no owner record yet' }],
  });
  const old = new Date(Date.now() - 61_000);
  await utimes(path, old, old);
  expect((await run(directory)).wiped).toEqual([path]);
  await mkdir(path);
  await other.die();
  expect((await run(directory)).wiped).toContain(path);
});

test.each(['', '{', '[]', '{"sessionId":"s","service":{"pid":"1"}}'])(
  'a record of %j is none',
  async (text) => {
    const directory = await runtimeDir();
    const path = join(directory.path, 'airlock-chrome-torn');
    await mkdir(path);
    await writeFile(join(path, 'owner.json'), text);
    expect((await run(directory)).wiped).toEqual([path]);
  },
);

test('a link in the place of a workspace is removed, its target is not', async () => {
  const directory = await runtimeDir();
  const outside = await scratch();
  await writeFile(join(outside, 'kept'), 'x');
  await symlink(outside, join(directory.path, 'airlock-chrome-link'));
  expect((await run(directory)).wiped).toEqual([join(directory.path, 'airlock-chrome-link')]);
  expect(readdirSync(outside)).toEqual(['kept']);
});

test('nothing that does not carry the name is touched', async () => {
  const directory = await runtimeDir();
  await mkdir(join(directory.path, 'something'));
  await writeFile(join(directory.path, 'airlock.conf'), 'x');
  expect((await run(directory)).wiped).toEqual([]);
  expect(existsSync(join(directory.path, 'something'))).toBe(true);
});

test('two sweeps at once, here and in another process, get along', async () => {
  const base = await scratch();
  const dead = await service(
    join(base, 'r'),
    Array.from({ length: 10 }, (_value, n) => `s${n}`),
  );
  await dead.die();
  const [first, second] = [await runtimeDir(dead.path), await runtimeDir(dead.path)];
  const results = await Promise.all([run(first), run(second)]);
  expect(results.flatMap((result) => result.failed)).toEqual([]);
  expect(readdirSync(dead.path)).toHaveLength(2);
  expect(bootId()).toBe(first.instance.bootId);
});
