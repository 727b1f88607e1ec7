/** Removes what dead sessions left: at birth, every minute, and at the end of the service. */
import { lstatSync } from 'node:fs';
import { removeStaleLocks } from './instance-lock.ts';
import { Kin } from './kin.ts';
import { findLitter } from './litter.ts';
import { ProcessIndex } from './process-index.ts';
import type { RuntimeDir } from './runtime-dir.ts';
import { chromeOf, type Marker, survey } from './survey.ts';
import { wipe } from './wipe.ts';

export interface SweepOptions {
  /** Where Chromium leaves its litter: the system's temp directory. */
  tempDir: string;
  /** Ids of the sessions of this service that are open. */
  liveSessions: ReadonlySet<string>;
  /** Nothing whose owner is unknown is touched before it is this old. */
  minAgeSec: number;
  /**
   * The sweep at birth, before the service listens. No session of this instance exists, so `liveSessions` is empty and
   * what carries our name is of an earlier one.
   */
  born: boolean;
}

export interface SweepResult {
  /** Paths that were removed. */
  wiped: string[];
  /** Processes that were killed. */
  killed: number;
  /** Disk freed, in bytes. */
  bytes: number;
  /** What was left alone, and why. */
  spared: { path: string; why: string }[];
  /** What should be gone and is not: turn `/readyz` false. */
  failed: { path: string; why: string }[];
}

interface Pass {
  directory: RuntimeDir;
  index: ProcessIndex;
  result: SweepResult;
}

/** True while nobody has claimed the workspace since it was judged. */
function stillNobodys(pass: Pass, marker: Marker): boolean {
  return !pass.directory.isClaimed(marker.name);
}

async function sweepMarker(pass: Pass, marker: Marker): Promise<void> {
  const { result } = pass;
  if (!stillNobodys(pass, marker)) {
    result.spared.push({ path: marker.path, why: 'its session is open' });
    return;
  }
  const chrome = chromeOf(marker);
  const kin = new Kin({ paths: [marker.path], ...(chrome === undefined ? {} : { root: chrome }) });
  // Only a workspace that somebody still holds costs another look at the processes.
  const first = kin.look(pass.index);
  if (first.live.length > 0) await kin.kill(first);
  result.killed += kin.fates().killed;
  for (const pid of kin.survivors())
    result.failed.push({ path: marker.path, why: `process ${pid} still runs` });
  await removeTree(pass, marker.path);
}

async function removeTree(pass: Pass, path: string): Promise<void> {
  const { result } = pass;
  const done = await wipe(path);
  result.bytes += done.bytes;
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) result.wiped.push(path);
  else result.failed.push({ path, why: done.survivors.join('; ') });
}

/**
 * One pass over the runtime directory and the temp directory, from one look at the processes. Workspaces of dead owners
 * are emptied of processes and removed, then litter under the strict test of litter.ts. Nothing of a living owner, of
 * another user or of a claimed workspace is touched.
 * @throws AirlockError `internal` when the process table cannot be read: then nothing is known and nothing is touched
 */
export async function sweep(directory: RuntimeDir, options: SweepOptions): Promise<SweepResult> {
  const result: SweepResult = { wiped: [], killed: 0, bytes: 0, spared: [], failed: [] };
  const liveSessions = options.born ? new Set<string>() : options.liveSessions;
  const markers = await survey(directory, { liveSessions, minAgeSec: options.minAgeSec });
  const pass = { directory, result, index: await ProcessIndex.read() };
  for (const marker of markers) {
    if (marker.why === undefined) await sweepMarker(pass, marker);
    else result.spared.push({ path: marker.path, why: marker.why });
  }
  for (const { path, why } of await findLitter(pass.index, options)) {
    if (why === undefined) await removeTree(pass, path);
    else result.spared.push({ path, why });
  }
  result.wiped.push(...(await removeStaleLocks(directory.path)));
  return result;
}
