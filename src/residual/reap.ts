/** The end of a session: no process and no path of it is left, and a receipt says how that was found out. */
import type { ChildProcess } from 'node:child_process';
import { lstatSync, readlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import { look, type ProcessIdentity } from './identity.ts';
import { Kin } from './kin.ts';
import { isWithin, ProcessIndex } from './process-index.ts';
import { profileWord } from './profile.ts';
import type { Receipt } from './receipts.ts';
import { wipe } from './wipe.ts';
import type { Workspace } from './workspace.ts';

/** A Chrome that this process has spawned. */
interface Started {
  child: ChildProcess;
  identity: ProcessIdentity;
}

export interface ReapRequest {
  sessionId: string;
  /** Why the session ends; goes into the receipt as it is. */
  reason: string;
  workspace: Workspace;
  /** The Chrome that the service started. Without it (an attached browser, a launch that failed) none is ended. */
  chrome?: Started;
  /** Asks Chrome to close (`Browser.close`); for an attached browser, gives up the connection to it. */
  closeBrowser?: () => Promise<void>;
  /** Closes the session's network floor. */
  closeFloor: () => Promise<{ connectionsClosed: number }>;
  /** A persistent profile outside the workspace: it stays, but nothing may go on using it. */
  preserve?: string;
  /** Goes straight to SIGKILL: for a second signal to the service, or a Chrome that holds nothing worth a farewell. */
  immediate?: boolean;
}

/** Longest wait for Chrome to go after `Browser.close`. Measured: headless shell 70 ms, full Chrome 210 ms. */
const CLOSE_LIMIT_MS = 2000;
/** What is left of it when the connection breaks instead of answering: Chrome hangs up before it has finished. */
const HANG_UP_LIMIT_MS = 250;
/** Longest wait after SIGTERM. */
const TERM_LIMIT_MS = 2000;
/** Longest wait for the floor, next to the steps above. */
const FLOOR_LIMIT_MS = 2000;
/** Time for the helpers of a persistent profile to write it out; those of a profile that goes anyway get none. */
const FLUSH_LIMIT_MS = 500;
/** Longest wait for the exit event of a Chrome that was killed: it is our child, and ours to reap. */
const EXIT_LIMIT_MS = 1000;
/**
 * Wait for orphans to be reaped by their new parent. A proper process 1 does it at once; some only look every two
 * seconds, and a close does not wait for that: such an orphan holds nothing but its number.
 */
const REAP_LIMIT_MS = 10;

/** The result of `work`, or undefined when it takes longer than allowed or fails; failures are noted. */
async function within<T>(
  work: Promise<T>,
  limitMs: number,
  what: string,
  problems: string[],
): Promise<T | undefined> {
  const stop = new AbortController();
  const late = sleep(limitMs, 'late' as const, { signal: stop.signal }).catch(() => 'late' as const);
  try {
    const first = await Promise.race([work.then((value) => ({ value })), late]);
    if (first !== 'late') return first.value;
    problems.push(`${what}: no answer within ${limitMs} ms`);
  } catch (error) {
    problems.push(`${what}: ${messageOf(error)}`);
  } finally {
    stop.abort();
  }
  return undefined;
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Waits for the exit of our own child, which is also what reaps it. When `asked` fails the wait is cut short. */
function exited(child: ChildProcess, limitMs: number, asked?: Promise<unknown>): Promise<boolean> {
  if (hasExited(child)) return Promise.resolve(true);
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      child.off('exit', done);
      resolve(hasExited(child));
    };
    // Not unref'd: a service that shuts down has to outlive its Chromes.
    let timer = setTimeout(done, limitMs);
    child.once('exit', done);
    asked?.catch(() => {
      if (hasExited(child)) return;
      clearTimeout(timer);
      timer = setTimeout(done, HANG_UP_LIMIT_MS);
    });
  });
}

/** Runs `work` now; whatever it throws is a rejection. */
async function attempt<T>(work: () => Promise<T>): Promise<T> {
  return await work();
}

/** Gives up the connection to a browser that somebody else started. */
async function detach(request: ReapRequest, problems: string[]): Promise<void> {
  if (request.closeBrowser === undefined) return;
  await within(attempt(request.closeBrowser), CLOSE_LIMIT_MS, 'closing the connection', problems);
}

/** Rungs 1 and 2: ask Chrome to close, then tell its group to. A stopped process can do neither, and is not waited for. */
async function askToEnd(request: ReapRequest, chrome: Started, kin: Kin): Promise<void> {
  const { closeBrowser, immediate } = request;
  const asked = closeBrowser === undefined || immediate === true ? undefined : attempt(closeBrowser);
  asked?.catch(() => undefined); // a broken connection is no news here; whether Chrome goes is what counts
  // While the parents are alive: afterwards nobody can say whose children the helpers were.
  kin.look(await ProcessIndex.read());
  if (immediate === true) return;
  const { child, identity } = chrome;
  if (asked !== undefined && !isStopped(identity)) await exited(child, CLOSE_LIMIT_MS, asked);
  if (hasExited(child) || isStopped(identity)) return;
  kin.terminate();
  await exited(child, TERM_LIMIT_MS);
}

function isStopped(identity: ProcessIdentity): boolean {
  const status = look(identity.pid);
  return status !== undefined && status.startTime === identity.startTime && status.stopped;
}

async function endProcesses(request: ReapRequest, kin: Kin, problems: string[]): Promise<void> {
  const { chrome } = request;
  try {
    if (chrome === undefined) await detach(request, problems);
    else await askToEnd(request, chrome, kin);
    if (request.preserve !== undefined && request.immediate !== true) await kin.until('dead', FLUSH_LIMIT_MS);
    await kin.kill();
  } catch (error) {
    problems.push(`processes: ${messageOf(error)}`);
    // Without a view of the processes there is still our own child, whose pid is its own until we have reaped it.
    chrome?.child.kill('SIGKILL');
  }
  if (chrome !== undefined) await exited(chrome.child, EXIT_LIMIT_MS);
}

/**
 * Takes Chrome's own lock out of a persistent profile once nothing uses it any more. A killed Chrome leaves the links,
 * and the next one would take whatever process has the pid by then for its owner.
 */
function unlockProfile(profile: string, identity: ProcessIdentity | undefined, problems: string[]): void {
  try {
    const lock = join(profile, 'SingletonLock');
    if (lstatSync(lock, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
    if (identity === undefined || !readlinkSync(lock).endsWith(`-${identity.pid}`)) return;
    for (const name of ['SingletonLock', 'SingletonSocket', 'SingletonCookie']) {
      const link = join(profile, name);
      if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true) unlinkSync(link);
    }
  } catch (error) {
    problems.push(`profile lock: ${messageOf(error)}`);
  }
}

/**
 * True when a last look at the processes and at the disk finds nothing. A dead process whose parent is somebody else is
 * that parent's to reap and counts as gone (it is in the receipt as a zombie); one whose parent we are does not.
 */
async function isZero(kin: Kin, path: string, problems: string[]): Promise<boolean> {
  try {
    const { live, zombies } = kin.look(await ProcessIndex.read());
    const ours = zombies.filter((entry) => entry.ppid === process.pid);
    for (const entry of live) problems.push(`process ${entry.pid} is still running`);
    for (const entry of ours) problems.push(`process ${entry.pid} has ended, but is not reaped`);
    return live.length + ours.length === 0 && lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch (error) {
    problems.push(`verification: ${messageOf(error)}`);
    return false;
  }
}

/**
 * Ends a session's processes (Browser.close, then SIGTERM, then SIGKILL, each only as far as needed), waits until the
 * kernel has forgotten them, removes the workspace, and looks again. Call it once per session.
 *
 * Never rejects: what could not be done is in the receipt, with `zero: false`, and the workspace is then the sweep's.
 */
export async function reap(request: ReapRequest): Promise<Receipt> {
  const started = performance.now();
  const { workspace, chrome, preserve } = request;
  const problems: string[] = [];
  const words = preserve === undefined ? [] : [profileWord(preserve)];
  const kin = new Kin({
    paths: [workspace.path],
    words,
    ...(chrome === undefined ? {} : { root: chrome.identity }),
  });
  const floor = within(attempt(request.closeFloor), FLOOR_LIMIT_MS, 'floor', problems);
  await endProcesses(request, kin, problems);
  const closedFloor = await floor;
  if (preserve !== undefined) unlockProfile(preserve, chrome?.identity, problems);
  const keeps = preserve !== undefined && isWithin(preserve, workspace.path);
  const [disk] = await Promise.all([
    keeps ? undefined : wipe(workspace.path),
    // Nothing of the session runs any more; what is left to wait for is its new parent.
    kin.until('reaped', REAP_LIMIT_MS),
  ]);
  if (keeps) problems.push('the profile to preserve lies inside the workspace: nothing was removed');
  problems.push(...(disk?.survivors ?? []));
  const gone = await isZero(kin, workspace.path, problems);
  problems.push(...kin.problems);
  const { zombies, ...processes } = kin.fates();
  workspace.release();
  return {
    sessionId: request.sessionId,
    reason: request.reason,
    closedAt: new Date().toISOString(),
    durationMs: Math.round(performance.now() - started),
    processes: { ...processes, ...(zombies > 0 ? { zombies } : {}) },
    disk: { entries: disk?.entries ?? 0, bytes: disk?.bytes ?? 0, survivors: disk?.survivors.length ?? 0 },
    floor: closedFloor ?? { connectionsClosed: 0 },
    zero: gone && closedFloor !== undefined,
    ...(problems.length > 0 ? { problems } : {}),
  };
}
