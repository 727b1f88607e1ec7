/**
 * Whose connection is it? The floor's port is open to every program of this machine; only the session's own Chrome may
 * use it. Linux says which socket inode is at the other end, and which process holds it (/proc/<pid>/fd). Elsewhere the
 * answer is `unknown`, and the ephemeral port and the policy remain.
 *
 * The inode comes from the kernel's own lookup of this one socket (./sock-diag.ts), or where it cannot be asked from the
 * table of all sockets (./socket-tables.ts). One look at a table serves all connections that wait for it: Chrome opens
 * them in bursts.
 */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { findSocket, type SocketLookup } from './sock-diag.ts';
import { type AcceptedEnds, peerOf, type SocketEnds } from './socket-ends.ts';
import { knownInodes, tableInodes } from './socket-tables.ts';

export type PeerVerdict = 'own' | 'foreign' | 'unknown';

interface Waiting {
  readonly ends: SocketEnds;
  readonly resolve: (verdict: PeerVerdict) => void;
}

export class PeerCheck {
  readonly #list: () => Promise<ReadonlySet<number>>;
  readonly #find: SocketLookup;
  /**
   * Start time by pid of the processes that were in the tree when it was last listed, which takes longer than all the
   * rest. Who was in it stays in it, so a new list is needed only for a peer that none of them holds.
   */
  #members: ReadonlyMap<number, string> = new Map();
  #waiting: Waiting[] = [];
  #running = false;
  /** What held the last peer: Chrome's network service, so it is looked at first. */
  #likely: { readonly pid: number; readonly fd: number } | undefined;

  /**
   * @param pids the processes of the session's tree, now
   * @param find asks for one socket; where it does not know, the tables are read
   */
  constructor(pids: () => Promise<ReadonlySet<number>>, find: SocketLookup = findSocket) {
    this.#list = pids;
    this.#find = find;
  }

  /** Lists the processes of the tree now, while nobody waits for it. */
  async prepare(): Promise<void> {
    if (process.platform !== 'linux' || this.#members.size > 0) return;
    this.#members = startTimes(await this.#list());
  }

  /** Says whose the other end of an accepted connection is. Never rejects; what goes wrong is `foreign`. */
  check(ends: AcceptedEnds): Promise<PeerVerdict> {
    if (process.platform !== 'linux') return Promise.resolve('unknown');
    const peer = peerOf(ends);
    if (peer === undefined) return Promise.resolve('foreign');
    const found = this.#find(peer);
    if (found === 'none') return Promise.resolve('foreign');
    if (found !== 'unknown' && this.#heldOf(new Set([String(found)])).size > 0) return Promise.resolve('own');
    return this.#enqueue(peer);
  }

  /** For a peer that no known process holds, or that is to be looked up in the tables. */
  #enqueue(ends: SocketEnds): Promise<PeerVerdict> {
    const { promise, resolve } = Promise.withResolvers<PeerVerdict>();
    this.#waiting.push({ ends, resolve });
    if (!this.#running) {
      this.#running = true;
      this.#drain().catch(() => this.#giveUp(this.#waiting.splice(0)));
    }
    return promise;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        // What was accepted in this turn of the loop goes into the same look.
        await setImmediate();
        const batch = this.#waiting.splice(0);
        this.#giveUp(await this.#look(batch).catch(() => batch));
      }
    } finally {
      this.#running = false;
    }
  }

  #giveUp(strangers: readonly Waiting[]): void {
    for (const { resolve } of strangers) resolve('foreign');
  }

  /** Answers `own` to those that are; gives back the others. */
  async #look(batch: Waiting[]): Promise<Waiting[]> {
    const left = this.#members.size === 0 ? batch : await this.#settle(batch);
    if (left.length === 0) return left;
    this.#members = startTimes(await this.#list());
    return await this.#settle(left);
  }

  /** By what the kernel says of each; those of which it says nothing by the tables. */
  async #settle(batch: Waiting[]): Promise<Waiting[]> {
    const inodes = new Map<SocketEnds, string>();
    const told: Waiting[] = [];
    const untold: Waiting[] = [];
    for (const one of batch) {
      const found = this.#find(one.ends);
      if (typeof found === 'number') inodes.set(one.ends, String(found));
      (found === 'unknown' ? untold : told).push(one);
    }
    return [...this.#settleBy(inodes, told), ...(await this.#settleByTables(untold))];
  }

  /** By the tables that were read last, and for what they do not settle by new ones. */
  async #settleByTables(batch: Waiting[]): Promise<Waiting[]> {
    const left = this.#settleBy(knownInodes(endsOf(batch)), batch);
    return left.length === 0 ? left : this.#settleBy(await tableInodes(endsOf(left)), left);
  }

  #settleBy(inodes: ReadonlyMap<SocketEnds, string>, batch: Waiting[]): Waiting[] {
    const held = inodes.size === 0 ? new Set<string>() : this.#heldOf(new Set(inodes.values()));
    return batch.filter(({ ends, resolve }) => {
      const inode = inodes.get(ends);
      if (inode === undefined || !held.has(inode)) return true;
      resolve('own');
      return false;
    });
  }

  /** Which of these inodes a process of the tree holds. */
  #heldOf(wanted: ReadonlySet<string>): Set<string> {
    const found = new Set<string>();
    for (const [pid, fds] of this.#places()) {
      const sockets = heldBy(pid, wanted, fds);
      // The id may have been given to another process since.
      if (sockets.size === 0 || startTime(pid) !== this.#members.get(pid)) continue;
      this.#likely = { pid, fd: Math.max(...sockets.values()) };
      for (const inode of sockets.keys()) found.add(inode);
      if (found.size === wanted.size) break;
    }
    return found;
  }

  /**
   * All descriptors of the tree, the likely ones first: those that follow the last that was found, as sockets of a burst
   * do (measured with Chrome: 6 of 7), since reading a directory costs as much as 20 of them.
   */
  *#places(): Generator<[pid: number, fds: Iterable<number | string>]> {
    const likely = this.#likely;
    if (likely !== undefined && this.#members.has(likely.pid)) {
      yield [likely.pid, [1, 2, 3, 4].map((step) => likely.fd + step)];
      yield [likely.pid, descriptorsOf(likely.pid)];
    }
    for (const pid of this.#members.keys()) {
      if (pid !== likely?.pid) yield [pid, descriptorsOf(pid)];
    }
  }
}

function endsOf(batch: readonly Waiting[]): Set<SocketEnds> {
  return new Set(batch.map(({ ends }) => ends));
}

function startTimes(pids: ReadonlySet<number>): Map<number, string> {
  const times = new Map<number, string>();
  for (const pid of pids) {
    const time = startTime(pid);
    if (time !== undefined) times.set(pid, time);
  }
  return times;
}

/** In clock ticks since boot: field 22 of /proc/<pid>/stat, counted after the name, which may have blanks in it. */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    // It has ended.
    return undefined;
  }
}

/**
 * The wanted socket inodes that `pid` has open among these descriptors, each with its descriptor. Synchronous, which is
 * quicker than the thread pool: 4 µs for each.
 */
function heldBy(
  pid: number,
  wanted: ReadonlySet<string>,
  fds: Iterable<number | string>,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const fd of fds) {
    if (found.size === wanted.size) break;
    const link = linkOf(`/proc/${pid}/fd/${fd}`);
    if (link === undefined || !link.startsWith('socket:[')) continue;
    const inode = link.slice('socket:['.length, -1);
    if (wanted.has(inode)) found.set(inode, Number(fd));
  }
  return found;
}

/** The newest first: a connection has just been opened. */
function descriptorsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).reverse();
  } catch {
    // The process has ended, or is not ours to look at: it holds nothing that we may trust.
    return [];
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // There is no such descriptor, or no longer.
    return undefined;
  }
}
