/** Removes one tree for good, and looks whether it is gone. */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import { SLICE_MS } from './walk.ts';

export interface WipeResult {
  /** Entries removed: files, links and directories. */
  entries: number;
  /** Disk blocks freed, in bytes. */
  bytes: number;
  /** Paths that are still there, each with what stood against it; empty when the tree is gone. */
  survivors: string[];
}

export interface WipeOptions {
  /** How long to go on while something else writes into the tree; default 2 s. */
  timeoutMs?: number;
}

/** Pause before a tree that has filled again is gone through once more. */
const RETRY_PAUSE_MS = 10;
/** Freeing the blocks of a large file takes long enough to be felt; it goes to the thread pool. */
const LARGE_FILE_BYTES = 16 * 1024 * 1024;
/** What another process in the tree causes, and what ends with it. */
const PASSING = new Set(['ENOTEMPTY', 'EEXIST', 'EBUSY']);
/** Survivors that are named; the rest are counted in the last line. */
const NAMED_SURVIVORS = 20;

/** How the kernel reaches an entry; bytes where its name is not valid UTF-8. */
type Route = string | Buffer;

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
const linux = process.platform === 'linux';

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** One round over one tree. Paths in {@link failures} are the true ones, whatever route the calls take. */
class Round {
  entries = 0;
  bytes = 0;
  readonly failures = new Map<string, string>();
  readonly #device: number;
  #refused = false;
  #since = performance.now();

  constructor(device: number) {
    this.#device = device;
  }

  /**
   * @param route how the kernel reaches the entry: below the descriptor of its directory, so that a directory swapped
   *   for a link after it was looked at is not followed
   */
  async remove(path: string, route: Route): Promise<void> {
    if (performance.now() - this.#since > SLICE_MS) {
      await nextTurn();
      this.#since = performance.now();
    }
    try {
      const found = lstatSync(route, { throwIfNoEntry: false });
      if (found === undefined) return;
      if (!found.isDirectory()) {
        if (found.size > LARGE_FILE_BYTES) await unlink(route);
        else unlinkSync(route);
      } else if (found.dev !== this.#device) {
        this.failures.set(path, 'another file system is mounted on it');
        this.#refused = true;
        return;
      } else {
        await this.#empty(path, route);
        rmdirSync(route);
      }
      this.entries += 1;
      this.bytes += found.blocks * 512;
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ENOENT') return;
      this.failures.set(path, messageOf(error));
      if (!PASSING.has(code)) this.#refused = true;
    }
  }

  /** Nothing went, and not because somebody was still busy: another round would end the same. */
  get isStuck(): boolean {
    return this.entries === 0 && this.#refused;
  }

  async #empty(path: string, route: Route): Promise<void> {
    const directory = openDirectory(route);
    try {
      const inside: Route = linux ? `/proc/self/fd/${directory}` : route;
      const names = readdirSync(inside, { encoding: 'buffer' });
      // Names can be removed only from a directory that we may write to and search; root may always.
      if (names.length > 0 && (fstatSync(directory).mode & 0o300) !== 0o300) fchmodSync(directory, 0o700);
      for (const name of names) await this.remove(join(path, name.toString()), below(inside, name));
    } finally {
      closeSync(directory);
    }
  }
}

function below(directory: Route, name: Buffer): Route {
  const text = name.toString();
  if (typeof directory === 'string' && Buffer.from(text).equals(name)) return join(directory, text);
  return Buffer.concat([Buffer.from(directory), Buffer.from('/'), name]);
}

/** Opens a directory itself, never what a link points to; one that is closed to us is opened up first. */
function openDirectory(route: Route): number {
  try {
    return openSync(route, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error;
    chmodSync(route, 0o700);
    return openSync(route, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  }
}

/** What a path still holds, deepest first; the tree is gone when this is empty. */
function remains(path: string, device?: number): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory() || found.dev !== (device ?? found.dev)) return [path];
  try {
    return [...readdirSync(path).flatMap((name) => remains(join(path, name), found.dev)), path];
  } catch {
    return [path];
  }
}

/**
 * Removes `root` and all in it. A link is removed, what it points to is not; a mounted file system is left alone. A tree
 * that something still writes to is gone through again until the time is over. Never throws: what stayed is in
 * `survivors`, found by looking once more.
 */
export async function wipe(root: string, options: WipeOptions = {}): Promise<WipeResult> {
  const result: WipeResult = { entries: 0, bytes: 0, survivors: [] };
  const until = performance.now() + (options.timeoutMs ?? 2000);
  let failures = new Map<string, string>();
  for (;;) {
    let device: number | undefined;
    try {
      device = lstatSync(root, { throwIfNoEntry: false })?.dev;
    } catch (error) {
      return { ...result, survivors: [`${root} (${messageOf(error)})`] };
    }
    if (device === undefined) return result;
    const round = new Round(device);
    await round.remove(root, root);
    result.entries += round.entries;
    result.bytes += round.bytes;
    failures = round.failures;
    if (performance.now() > until || round.isStuck) break;
    if (failures.size > 0) await sleep(RETRY_PAUSE_MS);
  }
  const left = remains(root);
  const named = left.slice(0, NAMED_SURVIVORS).map((path) => {
    const why = failures.get(path);
    return why === undefined ? path : `${path} (${why})`;
  });
  if (left.length > named.length) named.push(`… and ${left.length - named.length} more`);
  result.survivors = named;
  return result;
}
