/** Directories and processes that a test makes, and takes back by path and pid. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { identify, lifeOf, type ProcessIdentity } from '../../../src/residual/identity.ts';
import { ProcessIndex } from '../../../src/residual/process-index.ts';
import { RuntimeDir } from '../../../src/residual/runtime-dir.ts';
import { Workspace } from '../../../src/residual/workspace.ts';

/** A fresh directory with a short name: Chrome's socket path has to fit below it. */
export async function scratch(): Promise<string> {
  const path = await realpath(await mkdtemp('/tmp/alt-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

export async function runtimeDir(path?: string): Promise<RuntimeDir> {
  const directory = await RuntimeDir.open(path ?? join(await scratch(), 'r'));
  onTestFinished(() => directory[Symbol.asyncDispose]());
  return directory;
}

export async function workspace(sessionId = 'session'): Promise<Workspace> {
  return Workspace.create(await runtimeDir(), sessionId);
}

/** Kills a process at the end of the test if it is still this one, and what is left in the session that it led. */
export function killAtEnd(identity: ProcessIdentity): void {
  onTestFinished(async () => {
    const session = (await ProcessIndex.read()).inSession(identity.pid);
    for (const member of [
      identity,
      ...session.filter((entry) => Number(entry.startTime) >= Number(identity.startTime)),
    ]) {
      if (lifeOf(member) === 'alive') process.kill(member.pid, 'SIGKILL');
    }
  });
}

export interface Started {
  child: ChildProcess;
  identity: ProcessIdentity;
}

export async function track(child: ChildProcess): Promise<Started> {
  if (child.pid === undefined) await once(child, 'spawn');
  const identity = await identify(child.pid ?? 0);
  if (identity === undefined) throw new Error('the process ended before it could be looked at');
  killAtEnd(identity);
  return { child, identity };
}

/** Runs a shell script as the leader of its own group and waits for its first line. */
export async function shell(
  script: string,
  options: { cwd?: string } = {},
): Promise<Started & { line: string }> {
  const child = spawn('/bin/sh', ['-c', script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    ...options,
  });
  const started = await track(child);
  const [data] = await once(child.stdout, 'data');
  return { ...started, line: String(data).trim() };
}

export async function ended(identity: ProcessIdentity): Promise<void> {
  while (lifeOf(identity) !== 'gone') await new Promise((resolve) => setTimeout(resolve, 5));
}

export interface Service extends Started {
  path: string;
  instance: { pid: number; instanceId: string };
  workspaces: string[];
  /** Ends it as nothing can be caught: SIGKILL. */
  die(): Promise<void>;
}

/** Starts a second service; see service.ts. `wrap` is put before its command line. */
export async function service(path: string, sessions: string[] = [], wrap: string[] = []): Promise<Service> {
  const script = new URL('service.ts', import.meta.url).pathname;
  const [program, ...args] = [...wrap, process.execPath, script, path, ...sessions];
  if (program === undefined) throw new Error('nothing to run');
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const started = await track(child);
  const [data] = await once(child.stdout, 'data');
  const said = JSON.parse(String(data));
  const die = async (): Promise<void> => {
    process.kill(-started.identity.pid, 'SIGKILL');
    await ended(started.identity);
  };
  return { ...started, ...said, die };
}

/** Waits until the process is no longer running: reaped, or a zombie that somebody else has to reap. */
export async function dead(identity: ProcessIdentity): Promise<void> {
  while (lifeOf(identity) === 'alive') await new Promise((resolve) => setTimeout(resolve, 5));
}
