import { existsSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { identify, lifeOf, look, type ProcessIdentity } from '../../src/residual/identity.ts';
import { ProcessIndex } from '../../src/residual/process-index.ts';
import { type ReapRequest, reap } from '../../src/residual/reap.ts';
import type { Workspace } from '../../src/residual/workspace.ts';
import { engines, launch } from './support/chrome.ts';
import { dead, killAtEnd, type Started, shell, workspace } from './support/scratch.ts';

async function end(place: Workspace, chrome: Started, more: Partial<ReapRequest> = {}) {
  const receipt = await reap({
    sessionId: place.sessionId,
    reason: 'delete',
    workspace: place,
    chrome,
    closeFloor: async () => ({ connectionsClosed: 0 }),
    ...more,
  });
  expect(existsSync(place.path)).toBe(false);
  return receipt;
}

async function known(pid: number): Promise<ProcessIdentity> {
  const identity = await identify(pid);
  if (identity === undefined) throw new Error(`no process ${pid}`);
  killAtEnd(identity);
  return identity;
}

async function until(test: () => boolean): Promise<void> {
  while (!test()) await new Promise((resolve) => setTimeout(resolve, 5));
}

for (const engine of engines) {
  test(`${engine}: a stopped Chrome is killed with all its helpers`, async () => {
    const place = await workspace();
    const chrome = await launch(place, { engine });
    process.kill(-chrome.identity.pid, 'SIGSTOP');
    await until(() => look(chrome.identity.pid)?.stopped === true);
    const receipt = await end(place, chrome, { closeBrowser: chrome.closeBrowser });
    expect(receipt).toMatchObject({ zero: true, processes: { exited: 0, terminated: 0, survivors: 0 } });
    expect(receipt.processes.killed).toBe(receipt.processes.seen);
    expect(lifeOf(chrome.identity)).toBe('gone');
  });

  test(`${engine}: helpers that a crashed Chrome left are found by where they stand`, async () => {
    const place = await workspace();
    const chrome = await launch(place, { engine });
    const helpers = (await ProcessIndex.read()).inSession(chrome.identity.pid);
    for (const helper of helpers) killAtEnd(helper);
    // Stopped, so that they cannot see that their browser is gone.
    for (const { pid } of helpers) if (pid !== chrome.identity.pid) process.kill(pid, 'SIGSTOP');
    process.kill(chrome.identity.pid, 'SIGKILL');
    await until(() => chrome.child.signalCode !== null);
    const receipt = await end(place, chrome, { reason: 'crash' });
    expect(receipt).toMatchObject({ reason: 'crash', zero: true, processes: { survivors: 0 } });
    expect(receipt.processes.killed).toBeGreaterThan(2);
    for (const helper of helpers) expect(lifeOf(helper)).not.toBe('alive');
  });
}

test('a browser that answers but stays is told, then killed', async () => {
  const place = await workspace();
  const chrome = await shell('trap "" TERM; echo; while :; do sleep 1; done');
  const receipt = await end(place, chrome, { closeBrowser: async () => undefined });
  expect(receipt).toMatchObject({ zero: true, processes: { survivors: 0 } });
  expect(chrome.child.signalCode).toBe('SIGKILL');
});

test('a browser that heeds SIGTERM is not killed', async () => {
  const place = await workspace();
  const chrome = await shell('trap "exit 7" TERM; echo; while :; do sleep 0.05; done');
  const receipt = await end(place, chrome);
  expect(chrome.child.exitCode).toBe(7);
  expect(receipt).toMatchObject({ zero: true, processes: { killed: 0 } });
  expect(receipt.processes.terminated).toBeGreaterThanOrEqual(1);
});

test('a close that cannot be sent goes on to SIGTERM', async () => {
  const place = await workspace();
  const chrome = await shell('echo; exec sleep 1000');
  const receipt = await end(place, chrome, { closeBrowser: () => Promise.reject(new Error('pipe is gone')) });
  expect(receipt).toMatchObject({ zero: true, processes: { seen: 1, exited: 0, terminated: 1, killed: 0 } });
});

test('a close that throws at once goes on to SIGTERM', async () => {
  const place = await workspace();
  const chrome = await shell('echo; exec sleep 1000');
  const closeBrowser = (): Promise<void> => {
    throw new Error('no connection');
  };
  expect((await end(place, chrome, { closeBrowser })).processes.terminated).toBe(1);
});

test('a browser that hangs up and goes on its own is not hurried', async () => {
  const place = await workspace();
  const chrome = await shell(
    'trap "exit 7" TERM; trap "sleep 0.05; exit 0" USR1; echo; while :; do sleep 0.01; done',
  );
  const closeBrowser = async (): Promise<void> => {
    process.kill(chrome.identity.pid, 'SIGUSR1');
    throw new Error('connection closed');
  };
  const receipt = await end(place, chrome, { closeBrowser });
  expect(chrome.child.exitCode).toBe(0);
  expect(receipt).toMatchObject({ zero: true, processes: { terminated: 0, killed: 0 } });
});

test('an immediate end asks nobody', async () => {
  const place = await workspace();
  const chrome = await launch(place);
  const closeBrowser = (): Promise<void> => Promise.reject(new Error('it was asked'));
  const receipt = await end(place, chrome, { closeBrowser, immediate: true });
  expect(chrome.child.signalCode).toBe('SIGKILL');
  expect(receipt).toMatchObject({ zero: true, processes: { exited: 0, terminated: 0, survivors: 0 } });
});

test('where the process table cannot be read the Chrome is killed all the same, and nothing is called clean', async () => {
  const place = await workspace();
  const chrome = await shell('echo; exec sleep 1000');
  const read = vi.spyOn(ProcessIndex, 'read').mockRejectedValue(new Error('no /proc'));
  onTestFinished(() => read.mockRestore());
  const receipt = await end(place, chrome);
  expect(chrome.child.signalCode).toBe('SIGKILL');
  expect(receipt).toMatchObject({ zero: false, problems: ['processes: no /proc', 'verification: no /proc'] });
});

test('a browser that is gone already needs nothing', async () => {
  const place = await workspace();
  const chrome = await shell('echo; exec sleep 1000');
  chrome.child.kill('SIGKILL');
  await until(() => chrome.child.signalCode !== null);
  const receipt = await end(place, chrome, { reason: 'crash' });
  expect(receipt).toMatchObject({ zero: true, processes: { seen: 0, killed: 0 } });
});

test('a grandchild that left for process 1 and names the workspace is killed', async () => {
  const place = await workspace();
  const chrome = await shell(
    `setsid -f sh -c 'echo $$; sleep 1000; :' ${place.path}/profile; exec sleep 1000`,
  );
  const stray = await known(Number(chrome.line));
  await until(() => look(stray.pid)?.ppid !== chrome.identity.pid);
  const receipt = await end(place, chrome);
  expect(receipt.zero).toBe(true);
  expect(receipt.processes.killed).toBe(2); // the stray and the sleep below it
  expect(lifeOf(stray)).not.toBe('alive');
});

test('a grandchild that only its environment ties to the workspace is killed', async () => {
  const place = await workspace();
  const chrome = await shell(
    `HOME=${place.home} setsid -f sh -c 'echo $$; exec sleep 1000'; exec sleep 1000`,
  );
  const stray = await known(Number(chrome.line));
  const receipt = await end(place, chrome);
  expect(receipt).toMatchObject({ zero: true, processes: { killed: 1 } });
  expect(lifeOf(stray)).not.toBe('alive');
});

test('a process of another session is left alone', async () => {
  const place = await workspace('one');
  const chrome = await shell('echo; exec sleep 1000');
  const other = await shell(`exec sh -c 'echo; sleep 1000; :' ${place.path}-2/profile`);
  expect((await end(place, chrome)).processes.seen).toBe(1);
  expect(lifeOf(other.identity)).toBe('alive');
});

test('a dead child that its parent has not reaped does not count as running', async () => {
  const place = await workspace();
  const chrome = await shell('sh -c "exit 0" & echo $!; exec sleep 1000');
  const zombie = await known(Number(chrome.line));
  await dead(zombie);
  expect(lifeOf(zombie)).toBe('zombie');
  const receipt = await end(place, chrome);
  expect(receipt).toMatchObject({ zero: true, processes: { seen: 2, survivors: 0 } });
});

test('a process that took over the pid of the Chrome is never touched, nor is its group', async () => {
  const place = await workspace();
  const gone = await shell('echo; exec sleep 1000');
  gone.child.kill('SIGKILL');
  await until(() => gone.child.signalCode !== null);
  const stranger = await shell('sleep 1000 & echo $!; wait');
  const recycled = { pid: stranger.identity.pid, startTime: '1' };
  const receipt = await end(place, { child: gone.child, identity: recycled });
  expect(receipt).toMatchObject({ zero: true, processes: { seen: 0 } });
  expect(lifeOf(stranger.identity)).toBe('alive');
  expect(look(Number(stranger.line))?.life).toBe('alive');
});

test('a group whose leader is gone is only ours while one of it stands in the workspace', async () => {
  const place = await workspace();
  const leader = await shell('sleep 1000 & echo $!; exec sleep 0.01');
  const orphan = await known(Number(leader.line));
  await until(() => leader.child.exitCode !== null);
  const receipt = await end(place, leader);
  expect(receipt.processes.seen).toBe(0);
  expect(lifeOf(orphan)).toBe('alive');
});

test('what forks while it is killed does not get away', async () => {
  const place = await workspace();
  const chrome = await shell(`trap "" TERM; echo; while :; do sleep 1000 & sleep 0.002; done`, {
    cwd: place.path,
  });
  const receipt = await end(place, chrome);
  expect(receipt.zero).toBe(true);
  const left = (await ProcessIndex.read()).inGroup(chrome.identity.pid);
  expect(left.filter((entry) => entry.life === 'alive')).toEqual([]);
});
