/**
 * What dead Chromiums left in the system's temp directory, and nothing else. A live Chromium's socket directory looks
 * the same and is named in no command line, so a directory is litter only when every one of these says so.
 */
import { type Dirent, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { isListening } from './instance-lock.ts';
import type { ProcessEntry, ProcessIndex } from './process-index.ts';

export interface Candidate {
  path: string;
  /** Undefined when it is litter: it may be removed. */
  why: string | undefined;
}

export interface LitterOptions {
  tempDir: string;
  /** A directory in which anything is younger than this is left alone. */
  minAgeSec: number;
}

/** `com.google.Chrome.*` is missing on purpose: that is the host's own browser, which we never start. */
const NAME = /^\.?org\.chromium\.Chromium\./;
const ENTRY = /^(?:Singleton.*|DevToolsActivePort|\.org\.chromium.*|.*\.lock)$/;
const MOST_ENTRIES = 8;

/** Profiles below the directories where browsers keep theirs by default are found this deep. */
const DEFAULT_PROFILE_DEPTH = 2;

function children(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return []; // not there, or not ours
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** What the look of a directory says against it; undefined when it looks like litter. */
function looksWrong(path: string, minAgeSec: number): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 'it is gone';
  if (!found.isDirectory()) return 'it is not a directory';
  if (found.uid !== process.getuid?.()) return 'it belongs to another user';
  let inside: Dirent[];
  try {
    inside = readdirSync(path, { withFileTypes: true });
  } catch {
    return 'it cannot be listed';
  }
  if (inside.length > MOST_ENTRIES) return `it has more than ${MOST_ENTRIES} entries`;
  const odd = inside.find((entry) => entry.isDirectory() || !ENTRY.test(entry.name));
  if (odd !== undefined) return `it holds ${JSON.stringify(odd.name)}, which is none of Chromium's`;
  // Where the file system keeps no birth time, the time of the last change to the inode stands in.
  const birth = found.birthtimeMs > 0 ? found.birthtimeMs : found.ctimeMs;
  const age = Date.now() - Math.max(found.mtimeMs, birth);
  return age < minAgeSec * 1000 ? `it is younger than ${minAgeSec} s` : undefined;
}

/** The value of `--user-data-dir` in a command line, whichever way its words are separated. */
function profileOf(entry: ProcessEntry): string | undefined {
  const match = /--user-data-dir=([^\0]+?)(?=\0|$| --)/.exec(entry.command);
  return match?.[1];
}

/** True when the lock of a profile names a process that runs here, or one of another machine, which we cannot judge. */
function isLocked(profile: string, index: ProcessIndex): boolean {
  const lock = linkOf(join(profile, 'SingletonLock'));
  const match = lock === undefined ? null : /^(.*)-(\d+)$/.exec(lock);
  if (match === null) return true;
  return match[1] !== hostname() || index.get(Number(match[2])) !== undefined;
}

function profilesBelow(directory: string, depth: number): string[] {
  return children(directory).flatMap((entry) => {
    if (!entry.isDirectory()) return [];
    const path = join(directory, entry.name);
    const here = linkOf(join(path, 'SingletonSocket')) === undefined ? [] : [path];
    return depth > 1 ? [...here, ...profilesBelow(path, depth - 1)] : here;
  });
}

/** Profiles of browsers that run now: named in a command line, or locked where browsers keep theirs by default. */
function liveProfiles(index: ProcessIndex): string[] {
  const named = index.entries.flatMap((entry) => profileOf(entry) ?? []);
  const config = process.env['XDG_CONFIG_HOME'];
  const homes = [
    join(homedir(), '.config'),
    join(homedir(), 'snap/chromium/common'),
    join(homedir(), 'Library/Application Support'),
  ];
  const places = config === undefined || config === homes[0] ? homes : [...homes, config];
  const standard = places.flatMap((place) => profilesBelow(place, DEFAULT_PROFILE_DEPTH));
  return [...named.filter(isAbsolute), ...standard.filter((profile) => isLocked(profile, index))];
}

/** Directories that a live profile's `SingletonSocket` points into. */
function liveSocketDirs(index: ProcessIndex): Set<string> {
  return new Set(
    liveProfiles(index).flatMap((profile) => {
      const target = linkOf(join(profile, 'SingletonSocket'));
      return target === undefined ? [] : [dirname(target)];
    }),
  );
}

/** Who still uses a directory that looks like litter; undefined when nobody does. */
async function holderOf(
  path: string,
  index: ProcessIndex,
  sockets: Set<string>,
): Promise<string | undefined> {
  if (sockets.has(path)) return 'a live profile has its socket there';
  if (index.entries.some((entry) => entry.command.includes(path))) return 'a command line names it';
  if ((await index.holding(path)).length > 0) return 'a process has it open';
  if (await index.hasSocketIn(path)) return 'a socket is bound in it';
  // The last word is the kernel's: a socket there that answers has an owner, in whatever namespace that lives.
  for (const entry of children(path)) {
    if (entry.isSocket() && (await isListening(join(path, entry.name)))) return 'a process listens in it';
  }
  return undefined;
}

/** Judges everything in the temp directory that is named like Chromium's. Reads only. */
export async function findLitter(index: ProcessIndex, options: LitterOptions): Promise<Candidate[]> {
  const named = children(options.tempDir).filter((entry) => NAME.test(entry.name));
  let sockets: Set<string> | undefined;
  const found: Candidate[] = [];
  for (const { name } of named) {
    const path = join(options.tempDir, name);
    let why = looksWrong(path, options.minAgeSec);
    if (why === undefined) {
      sockets ??= liveSocketDirs(index);
      why = await holderOf(path, index, sockets);
    }
    found.push({ path, why });
  }
  return found;
}
