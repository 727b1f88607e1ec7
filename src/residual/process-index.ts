/**
 * One look at every process of the machine. All questions of a pass are answered from it, so a pass costs one read of
 * /proc however many sessions it judges. Measured: 2 ms with 84 processes, 16 ms with 525 (2 cores).
 */
import { execFile } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import { AirlockError, messageOf } from '../errors.ts';
import { type ProcessStatus, PS_COLUMNS, PS_ENV, parsePsLine, parseStat, readProc } from './identity.ts';
import { type OpenFiles, readOpenFiles } from './open-files.ts';

export interface ProcessEntry extends ProcessStatus {
  /** The command line; words are separated by NUL on Linux, by spaces on macOS. Empty for a zombie. */
  command: string;
}

const linux = process.platform === 'linux';

/** True where `text` holds `path` as a whole name: `/r/airlock-chrome-1` is not in `/r/airlock-chrome-10/x`. */
export function mentions(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
    const next = text[at + path.length];
    if (next === undefined || !/[\p{L}\p{N}_.-]/u.test(next)) return true;
  }
  return false;
}

/** True when `path` is `tree` or lies in it. Both absolute. */
export function isWithin(path: string, tree: string): boolean {
  return path === tree || path.startsWith(`${tree}/`);
}

function readLinux(): ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const name of readdirSync('/proc')) {
    const first = name.charCodeAt(0);
    if (first < 48 || first > 57) continue;
    const status = parseStat(readProc(`/proc/${name}/stat`) ?? '');
    if (status === undefined) continue; // ended between readdir and here
    const command = status.kernel ? '' : (readProc(`/proc/${name}/cmdline`) ?? '');
    entries.push({ ...status, command });
  }
  return entries;
}

async function readByPs(): Promise<ProcessEntry[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', PS_COLUMNS], {
    env: PS_ENV,
    maxBuffer: 64 * 1024 * 1024,
    timeout: 5000,
  });
  return stdout.split('\n').flatMap((line) => parsePsLine(line) ?? []);
}

/** Real user id from `/proc/<pid>/status`; the owner of the directory is root for processes that may not be dumped. */
function uidOf(pid: number): number | undefined {
  const match = /^Uid:\s+(\d+)/m.exec(readProc(`/proc/${pid}/status`) ?? '');
  return match === null ? undefined : Number(match[1]);
}

export class ProcessIndex {
  readonly entries: readonly ProcessEntry[];
  readonly #byPid: Map<number, ProcessEntry>;
  readonly #homes = new Map<number, string[]>();
  #children: Map<number, ProcessEntry[]> | undefined;
  #openFiles: Promise<OpenFiles> | undefined;

  constructor(entries: readonly ProcessEntry[]) {
    this.entries = entries;
    this.#byPid = new Map(entries.map((entry) => [entry.pid, entry]));
  }

  /**
   * Reads the table of processes now. Blocks the event loop for the time given above: an asynchronous pass takes longer
   * than what it looks at, and the answer is then a mixture of moments.
   * @throws AirlockError `internal` when the table does not show this process: nothing can be proven from it
   */
  static async read(): Promise<ProcessIndex> {
    let entries: ProcessEntry[];
    try {
      entries = linux ? readLinux() : await readByPs();
    } catch (cause) {
      throw new AirlockError('internal', `The process table cannot be read: ${messageOf(cause)}`, { cause });
    }
    const index = new ProcessIndex(entries);
    if (index.get(process.pid) === undefined) {
      throw new AirlockError(
        'internal',
        '/proc does not show this process; it belongs to another pid namespace',
      );
    }
    return index;
  }

  get(pid: number): ProcessEntry | undefined {
    return this.#byPid.get(pid);
  }

  /** Every process below `pid` by parent chain, without `pid` itself. One that was re-parented is not among them. */
  descendants(pid: number): ProcessEntry[] {
    const children = this.#childMap();
    const found: ProcessEntry[] = [];
    const seen = new Set([pid]);
    const waiting = [pid];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      for (const child of children.get(next) ?? []) {
        if (seen.has(child.pid)) continue;
        seen.add(child.pid);
        found.push(child);
        waiting.push(child.pid);
      }
    }
    return found;
  }

  /** This process and every one above it: never to be touched, whatever their command lines say. */
  ownLine(): Set<number> {
    const line = new Set<number>([1]);
    for (let pid = process.pid; pid > 1 && !line.has(pid); pid = this.get(pid)?.ppid ?? 1) line.add(pid);
    return line;
  }

  inGroup(pgid: number): ProcessEntry[] {
    return this.entries.filter((entry) => entry.pgid === pgid);
  }

  /** Empty on macOS, where ps shows no session id. */
  inSession(sid: number): ProcessEntry[] {
    return linux ? this.entries.filter((entry) => entry.sid === sid) : [];
  }

  /**
   * Processes of our own user with `path` in their command line. Those of other users are left out: they are none of
   * ours, and anyone can write any path into a command line.
   */
  mentioning(path: string): ProcessEntry[] {
    return this.entries.filter((entry) => mentions(entry.command, path) && this.#isOurUser(entry));
  }

  /**
   * Processes of our own user that were started with a home or temp directory inside `path`: helpers that a browser
   * started and that left its tree, group and session. Empty on macOS.
   * @param since start time of the browser; its helpers are not older, and older processes are not read
   */
  carrying(path: string, since = '0'): ProcessEntry[] {
    if (!linux) return [];
    const oldest = Number(since);
    return this.entries.filter(
      (entry) =>
        Number(entry.startTime) >= oldest &&
        this.#homesOf(entry).some((home) => isWithin(home, path)) &&
        this.#isOurUser(entry),
    );
  }

  /** Home and temp directories that a process was started with, read once per index. */
  #homesOf(entry: ProcessEntry): string[] {
    let homes = this.#homes.get(entry.pid);
    if (homes === undefined) {
      const unread = entry.kernel || entry.life === 'zombie';
      const environment = unread ? '' : (readProc(`/proc/${entry.pid}/environ`) ?? '');
      homes = [...environment.matchAll(/(?:^|\0)(?:HOME|TMPDIR)=([^\0]+)/g)].map((match) => match[1] ?? '');
      this.#homes.set(entry.pid, homes);
    }
    return homes;
  }

  /** True when the working directory of a process is `tree` or lies in it; false where that may not be read. */
  standsIn(entry: ProcessEntry, tree: string): boolean {
    try {
      return linux && isWithin(readlinkSync(`/proc/${entry.pid}/cwd`), tree);
    } catch {
      return false;
    }
  }

  /** Processes that have a file, a directory or a bound socket inside `path` open. Read once per index, on first use. */
  async holding(path: string): Promise<ProcessEntry[]> {
    const files = await this.#files();
    return files.holders(path).flatMap((pid) => this.get(pid) ?? []);
  }

  /** True when a listening or connected local socket is bound inside `path`, whoever holds it. Linux only. */
  async hasSocketIn(path: string): Promise<boolean> {
    return (await this.#files()).sockets.some((socket) => isWithin(socket, path));
  }

  #files(): Promise<OpenFiles> {
    this.#openFiles ??= readOpenFiles(this.entries);
    return this.#openFiles;
  }

  #isOurUser(entry: ProcessEntry): boolean {
    return !linux || uidOf(entry.pid) === process.getuid?.();
  }

  #childMap(): Map<number, ProcessEntry[]> {
    if (this.#children === undefined) {
      this.#children = new Map();
      for (const entry of this.entries) {
        const siblings = this.#children.get(entry.ppid);
        if (siblings === undefined) this.#children.set(entry.ppid, [entry]);
        else siblings.push(entry);
      }
    }
    return this.#children;
  }
}
