/** Which process has what open. Dearer than the process table, so it is read only when a sweep has something to judge. */
import { execFile } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type ProcessStatus, readProc } from './identity.ts';

export class OpenFiles {
  /** Paths of local sockets, as they were bound. */
  readonly sockets: readonly string[];
  readonly #paths: ReadonlyMap<string, ReadonlySet<number>>;

  constructor(paths: ReadonlyMap<string, ReadonlySet<number>>, sockets: readonly string[]) {
    this.#paths = paths;
    this.sockets = sockets;
  }

  /** Pids that have `path`, or anything in it, open. */
  holders(path: string): number[] {
    const pids = new Set<number>();
    for (const [open, holders] of this.#paths) {
      if (open !== path && !open.startsWith(`${path}/`)) continue;
      for (const pid of holders) pids.add(pid);
    }
    return [...pids];
  }
}

function links(pid: number): string[] {
  const paths = [`/proc/${pid}/cwd`, `/proc/${pid}/root`];
  try {
    for (const fd of readdirSync(`/proc/${pid}/fd`)) paths.push(`/proc/${pid}/fd/${fd}`);
  } catch {
    return []; // gone, or of another user: not ours to judge
  }
  return paths.flatMap((path) => {
    try {
      return readlinkSync(path);
    } catch {
      return []; // closed since
    }
  });
}

/** Bound paths of `/proc/net/unix` (the eighth column; a socket without a path has none; `@` marks an abstract one). */
export function parseUnixSockets(text: string): string[] {
  return text.split('\n').flatMap((line) => /^\S+:(?: \S+){5} +\d+ (\/.*)$/.exec(line)?.[1] ?? []);
}

/** Socket tables of every network namespace that our processes are in; a browser may live in one of its own. */
function unixSockets(entries: readonly ProcessStatus[]): string[] {
  const namespaces = new Map<string, number>();
  for (const { pid } of entries) {
    try {
      namespaces.set(readlinkSync(`/proc/${pid}/ns/net`), pid);
    } catch {
      // gone, or of another user: its sockets are not in a directory of ours
    }
  }
  return [...namespaces.values()].flatMap((pid) => parseUnixSockets(readProc(`/proc/${pid}/net/unix`) ?? ''));
}

async function readLinux(entries: readonly ProcessStatus[]): Promise<OpenFiles> {
  const paths = new Map<string, Set<number>>();
  const users = entries.filter((entry) => !entry.kernel);
  for (const [count, { pid }] of users.entries()) {
    if (count % 20 === 19) await nextTurn(); // a browser has hundreds of descriptors; let requests through
    for (const path of links(pid)) {
      if (!path.startsWith('/')) continue;
      const holders = paths.get(path);
      if (holders === undefined) paths.set(path, new Set([pid]));
      else holders.add(pid);
    }
  }
  return new OpenFiles(paths, unixSockets(users));
}

/** Reads `lsof -Fpn`: a line `p<pid>`, then a line `n<name>` per open file. */
export function parseLsof(text: string): OpenFiles {
  const paths = new Map<string, Set<number>>();
  let pid = 0;
  for (const line of text.split('\n')) {
    if (line.startsWith('p')) pid = Number(line.slice(1));
    if (!line.startsWith('n/')) continue;
    const holders = paths.get(line.slice(1)) ?? new Set();
    paths.set(line.slice(1), holders.add(pid));
  }
  return new OpenFiles(paths, []);
}

/** Open files of every process that may be looked into. Elsewhere than on Linux it asks lsof, of our own user only. */
export async function readOpenFiles(entries: readonly ProcessStatus[]): Promise<OpenFiles> {
  if (process.platform === 'linux') return readLinux(entries);
  const user = String(process.getuid?.() ?? 0);
  const { stdout } = await promisify(execFile)('lsof', ['-n', '-P', '-w', '-u', user, '-Fpn'], {
    maxBuffer: 64 * 1024 * 1024,
    timeout: 10_000,
  });
  return parseLsof(stdout);
}
