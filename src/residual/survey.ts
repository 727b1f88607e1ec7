/** Looks at every workspace in the runtime directory and says whose it is. Reads only; the sweep and the doctor share it. */
import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { livingInstances } from './instance-lock.ts';
import { judgeOwner, type OwnerRecord, pidsAreComparable, readOwner } from './owner.ts';
import { MARKER, type RuntimeDir } from './runtime-dir.ts';

export interface Marker {
  path: string;
  name: string;
  owner: OwnerRecord | undefined;
  /** Why a sweep leaves it alone; undefined when it belongs to nobody that lives. */
  why: string | undefined;
  /** Its session is open, here or in another instance: not residue. */
  open: boolean;
}

export interface SurveyOptions {
  /** Sessions of this service that are open, beside those that hold a claim. */
  liveSessions: ReadonlySet<string>;
  /** A workspace without an owner record is left alone while it is younger: its maker may be about to write it. */
  minAgeSec: number;
}

type Verdict = Pick<Marker, 'why' | 'open'>;

const OURS: Verdict = { why: 'its session is open', open: true };
const THEIRS: Verdict = { why: 'it belongs to another instance that runs', open: true };
const NOBODYS: Verdict = { why: undefined, open: false };

async function judge(
  directory: RuntimeDir,
  name: string,
  owner: OwnerRecord | undefined,
  options: SurveyOptions,
  alone: boolean,
): Promise<Verdict> {
  if (directory.isClaimed(name)) return OURS;
  const found = lstatSync(join(directory.path, name), { throwIfNoEntry: false });
  if (found === undefined) return { why: 'it is gone', open: false };
  if (found.uid !== process.getuid?.()) return { why: 'it belongs to another user', open: false };
  if (owner === undefined) {
    const young = Date.now() - found.mtimeMs < options.minAgeSec * 1000;
    return young && !alone ? { why: 'it has no owner record yet', open: false } : NOBODYS;
  }
  switch (await judgeOwner(directory, owner)) {
    case 'alive':
      return THEIRS;
    case 'self':
      return options.liveSessions.has(owner.sessionId) ? OURS : NOBODYS;
    case 'dead':
      return NOBODYS;
  }
}

/** Every workspace of the runtime directory, open or not. */
export async function survey(directory: RuntimeDir, options: SurveyOptions): Promise<Marker[]> {
  const names = (await readdir(directory.path)).filter((name) => name.startsWith(MARKER));
  if (names.length === 0) return [];
  const others = (await livingInstances(directory.path)).filter((id) => id !== directory.instance.instanceId);
  return Promise.all(
    names.map(async (name) => {
      const path = join(directory.path, name);
      const owner = await readOwner(path);
      const verdict = await judge(directory, name, owner, options, others.length === 0);
      return { path, name, owner, ...verdict };
    }),
  );
}

/** The Chrome of a workspace, where its pid still means something here. */
export function chromeOf(marker: Marker): OwnerRecord['chrome'] {
  const { owner } = marker;
  return owner !== undefined && pidsAreComparable(owner.service) ? owner.chrome : undefined;
}
