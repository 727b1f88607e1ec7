/** The doctor's view of residue: what is there that no open session owns. Reads only. */
import { setTimeout as sleep } from 'node:timers/promises';
import { lifeOf } from './identity.ts';
import { Kin } from './kin.ts';
import { findLitter } from './litter.ts';
import { ProcessIndex } from './process-index.ts';
import type { RuntimeDir } from './runtime-dir.ts';
import { chromeOf, type Marker, survey } from './survey.ts';
import { measure } from './walk.ts';

export interface ResidualReport {
  /** `fail`: a process runs that no open session owns. `warn`: paths or dead processes are left. */
  status: 'pass' | 'warn' | 'fail';
  /** Workspaces that no open session owns. */
  markerDirs: number;
  /** Socket directories of dead Chromiums in the temp directory, of our user. */
  singletonOrphans: number;
  /** What the next sweep removes. */
  sweepCandidates: number;
  /** Processes that belong to a workspace, open or not. */
  liveMarkerProcesses: number;
  /** Those among them that no open session owns. */
  unownedMarkerProcesses: number;
  /** Dead children that this process has not reaped: as process 1 it cannot; see docs on `--init`. */
  zombies: number;
  /** Disk in use by what no session owns. */
  bytes: number;
  /** What no session owns, the first {@link PATHS_NAMED}. */
  paths: string[];
  /** What this platform does not let us see. */
  limits: string[];
}

export interface ReportOptions {
  tempDir: string;
  liveSessions: ReadonlySet<string>;
  /** As for the sweep, so that `sweepCandidates` says what it will do. */
  minAgeSec: number;
}

export const PATHS_NAMED = 50;

/** Enough for the event loop to take the exit status of a child that has just ended. */
const TURN_MS = 20;

const LIMITS: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: [
    'ps shows no session id and no environment: a helper that left its parent and its group is found by command line only',
    'lsof shows open files of our own user only',
  ],
};

function processesOf(marker: Marker, index: ProcessIndex): number[] {
  const chrome = chromeOf(marker);
  const kin = new Kin({ paths: [marker.path], ...(chrome === undefined ? {} : { root: chrome }) });
  return kin.look(index).live.map((entry) => entry.pid);
}

/** Dead children of ours that stay; one that has only just ended is reaped in the next turn of the event loop. */
async function unreaped(index: ProcessIndex): Promise<number> {
  const dead = index.entries.filter((entry) => entry.life === 'zombie' && entry.ppid === process.pid);
  if (dead.length === 0) return 0;
  await sleep(TURN_MS);
  return dead.filter((entry) => lifeOf(entry) === 'zombie').length;
}

/** @throws AirlockError `internal` when the process table cannot be read */
export async function residualReport(directory: RuntimeDir, options: ReportOptions): Promise<ResidualReport> {
  const markers = await survey(directory, options);
  const index = await ProcessIndex.read();
  const owned = new Set(
    markers.filter((marker) => marker.open).flatMap((marker) => processesOf(marker, index)),
  );
  const unownedMarkers = markers.filter((marker) => !marker.open);
  const loose = new Set(
    unownedMarkers.flatMap((marker) => processesOf(marker, index)).filter((pid) => !owned.has(pid)),
  );
  const litter = (await findLitter(index, options)).filter((found) => found.why === undefined);
  const paths = [...unownedMarkers, ...litter].map((found) => found.path);
  const zombies = await unreaped(index);
  let bytes = 0;
  for (const path of paths) bytes += (await measure(path)).bytes;
  const left = paths.length + zombies > 0;
  return {
    status: loose.size > 0 ? 'fail' : left ? 'warn' : 'pass',
    markerDirs: unownedMarkers.length,
    singletonOrphans: litter.length,
    sweepCandidates: unownedMarkers.filter((marker) => marker.why === undefined).length + litter.length,
    liveMarkerProcesses: owned.size + loose.size,
    unownedMarkerProcesses: loose.size,
    zombies,
    bytes,
    paths: paths.slice(0, PATHS_NAMED),
    limits: LIMITS[process.platform] ?? [],
  };
}
