/**
 * Profiles that stay: the user data directories of sessions that ask for one by name. A close and a sweep leave them
 * alone; what they may not leave behind is a process that uses one, or a lock that keeps the next session out.
 */
import type { Stats } from 'node:fs';
import { appendFile, chmod, lstat, mkdir, readFile, realpath, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AirlockError, messageOf } from '../errors.ts';
import { Kin } from './kin.ts';
import { ProcessIndex } from './process-index.ts';
import { measure } from './walk.ts';

/** A name is one directory, and neither that one nor its parent. */
export const PROFILE_NAME = /^(?!\.+$)[A-Za-z0-9._-]{1,64}$/;

/** Our files in the profile. Chrome leaves alone what it does not know. */
const LOCK = 'airlock.lock';
const ORIGINS = 'airlock.origins';

/** Chrome's own lock: links that name its host and pid, and its socket. */
const SINGLETONS = ['SingletonLock', 'SingletonSocket', 'SingletonCookie'];

/** The Chrome of a service that was killed ends when it sees its pipe closed; far longer than that takes. */
const LEAVE_LIMIT_MS = 3000;

/** `SQLITE_BUSY`. */
const BUSY = 5;

/** What only a Chrome that uses the profile has on its command line: others may name the path, to copy it say. */
export function profileWord(path: string): string {
  return `--user-data-dir=${path}`;
}

function busy(name: string, why: string): AirlockError {
  return new AirlockError('profile_busy', `The profile ${JSON.stringify(name)} is in use: ${why}`);
}

/**
 * A lock that the kernel holds for this process, and gives back when the process ends in whatever way. SQLite takes it:
 * Node offers neither flock nor fcntl. It is seen by every process that sees the file, whatever namespaces they are in.
 */
function lock(path: string): DatabaseSync | undefined {
  const database = new DatabaseSync(path);
  try {
    // Nothing is ever written: the file stays empty, without a journal beside it.
    database.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) return undefined;
    throw error;
  }
}

/** The profile of that name in a directory that is ours; made when it is not there. */
async function directoryOf(dataDir: string, name: string): Promise<string> {
  const parent = join(resolve(dataDir), 'profiles');
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const real = await realpath(parent);
  verify(await lstat(real));
  const path = join(real, name);
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const found = await lstat(path);
  verify(found);
  if ((found.mode & 0o077) !== 0) await chmod(path, 0o700);
  return path;
}

/** Whoever else may write where a profile is could put another in its place. */
function verify(found: Stats): void {
  if (!found.isDirectory()) throw new Error('it is not a directory');
  if (found.uid !== process.getuid?.()) throw new Error(`its directory belongs to user ${found.uid}`);
  if ((found.mode & 0o022) !== 0) throw new Error('others may write to its directory');
}

/** Waits until no process uses the profile. @returns the pids of those that do not go */
async function users(path: string): Promise<number[]> {
  const kin = new Kin({ paths: [], words: [profileWord(path)] });
  kin.look(await ProcessIndex.read());
  await kin.until('dead', LEAVE_LIMIT_MS);
  return kin.survivors();
}

/** Chrome takes a link that a killed one left for a sign of life of whatever process has that pid by now. */
async function removeSingletons(path: string): Promise<void> {
  for (const name of SINGLETONS) {
    const link = join(path, name);
    const found = await lstat(link).catch(() => undefined);
    if (found?.isSymbolicLink() === true) await unlink(link);
  }
}

async function readOrigins(path: string): Promise<string[]> {
  const text = await readFile(join(path, ORIGINS), 'utf8').catch(() => '');
  return [...new Set(text.split('\n').filter((line) => line !== ''))];
}

/** A profile that this process holds. */
export class Profile implements Disposable {
  readonly name: string;
  /** For `--user-data-dir`. */
  readonly path: string;
  /** The origins that earlier sessions noted, oldest first. */
  readonly origins: readonly string[];
  readonly #bytesBefore: number;
  #lock: DatabaseSync | undefined;

  private constructor(init: {
    name: string;
    path: string;
    held: DatabaseSync;
    bytes: number;
    origins: string[];
  }) {
    this.name = init.name;
    this.path = init.path;
    this.origins = init.origins;
    this.#lock = init.held;
    this.#bytesBefore = init.bytes;
  }

  /**
   * Takes a profile for one Chrome. Give it back after that Chrome has ended.
   * @param dataDir holds `profiles/`
   * @throws AirlockError `profile_busy` when another session, service or browser has it; `disk_full`; `internal`
   */
  static async take(dataDir: string, name: string): Promise<Profile> {
    if (!PROFILE_NAME.test(name))
      throw new AirlockError('internal', `Not a profile: ${JSON.stringify(name)}`);
    let held: DatabaseSync | undefined;
    try {
      const path = await directoryOf(dataDir, name);
      held = lock(join(path, LOCK));
      if (held === undefined) throw busy(name, 'a session has it');
      const [user] = await users(path);
      if (user !== undefined) throw busy(name, `process ${user} runs on it`);
      await removeSingletons(path);
      const { bytes } = await measure(path);
      return new Profile({ name, path, held, bytes, origins: await readOrigins(path) });
    } catch (cause) {
      held?.close();
      if (cause instanceof AirlockError) throw cause;
      const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
      const full = code === 'ENOSPC' || code === 'EDQUOT';
      throw new AirlockError(
        full ? 'disk_full' : 'internal',
        `The profile ${JSON.stringify(name)} cannot be used: ${messageOf(cause)}`,
        { cause },
      );
    }
  }

  /** Bytes on disk that it has more than when it was taken; negative when it shrank. */
  async growth(): Promise<number> {
    return (await measure(this.path)).bytes - this.#bytesBefore;
  }

  /** Notes an origin at once: a service that is killed has no last moment. */
  async noteOrigin(origin: string): Promise<void> {
    await appendFile(join(this.path, ORIGINS), `${origin}\n`, { mode: 0o600 });
  }

  /** Gives the profile back. */
  [Symbol.dispose](): void {
    this.#lock?.close();
    this.#lock = undefined;
  }
}
