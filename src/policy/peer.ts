/**
 * Whose connection is it? The floor's port is open to every program of this machine; only the session's own Chrome may
 * use it. Linux says which socket inode is at the other end (/proc/net/tcp, proc(5)), and which process holds it
 * (/proc/<pid>/fd). Elsewhere the answer is `unknown`, and the ephemeral port and the policy remain.
 *
 * One look at /proc serves all connections that wait for it: Chrome opens them in bursts.
 */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { endianness } from 'node:os';
import { setImmediate } from 'node:timers/promises';

export type PeerVerdict = 'own' | 'foreign' | 'unknown';

/** The four coordinates of an accepted connection, as `net.Socket` names them. */
export interface AcceptedEnds {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

interface Waiting {
  readonly key: string;
  readonly resolve: (verdict: PeerVerdict) => void;
}

export class PeerCheck {
  readonly #list: () => Promise<ReadonlySet<number>>;
  /**
   * Start time by pid of the processes that were in the tree when it was last listed, which takes longer than all the
   * rest. Who was in it stays in it, so a new list is needed only for a peer that none of them holds.
   */
  #members: ReadonlyMap<number, string> = new Map();
  #waiting: Waiting[] = [];
  #running = false;
  /** The process that held the last peer: Chrome's network service, so it is looked at first. */
  #likely: number | undefined;

  /** @param pids the processes of the session's tree, now */
  constructor(pids: () => Promise<ReadonlySet<number>>) {
    this.#list = pids;
  }

  /** Lists the processes of the tree now, while nobody waits for it. */
  async prepare(): Promise<void> {
    if (process.platform !== 'linux' || this.#members.size > 0) return;
    this.#members = startTimes(await this.#list());
  }

  /** Says whose the other end of an accepted connection is. Never rejects; what goes wrong is `foreign`. */
  check(ends: AcceptedEnds): Promise<PeerVerdict> {
    if (process.platform !== 'linux') return Promise.resolve('unknown');
    const key = peerKey(ends);
    if (key === undefined) return Promise.resolve('foreign');
    const answer = Promise.withResolvers<PeerVerdict>();
    this.#waiting.push({ key, resolve: answer.resolve });
    if (!this.#running) {
      this.#running = true;
      this.#drain().catch(() => this.#giveUp(this.#waiting.splice(0)));
    }
    return answer.promise;
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

  /** By the tables that were read last, and for what they do not settle by new ones. */
  async #settle(batch: Waiting[]): Promise<Waiting[]> {
    const left = this.#settleBy(knownInodes(keysOf(batch)), batch);
    return left.length === 0 ? left : this.#settleBy(await socketInodes(keysOf(left)), left);
  }

  #settleBy(inodes: ReadonlyMap<string, string>, batch: Waiting[]): Waiting[] {
    const held = inodes.size === 0 ? new Set<string>() : this.#heldOf(new Set(inodes.values()));
    return batch.filter(({ key, resolve }) => {
      const inode = inodes.get(key);
      if (inode === undefined || !held.has(inode)) return true;
      resolve('own');
      return false;
    });
  }

  /** Which of these inodes a process of the tree holds. */
  #heldOf(wanted: ReadonlySet<string>): Set<string> {
    const found = new Set<string>();
    const order = [...this.#members.keys()];
    if (this.#likely !== undefined && this.#members.has(this.#likely)) order.unshift(this.#likely);
    for (const pid of order) {
      const sockets = heldBy(pid, wanted);
      // The id may have been given to another process since.
      if (sockets.size === 0 || startTime(pid) !== this.#members.get(pid)) continue;
      this.#likely = pid;
      for (const inode of sockets) found.add(inode);
      if (found.size === wanted.size) break;
    }
    return found;
  }
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
 * The wanted socket inodes that `pid` has open, newest descriptors first: a connection has just been opened.
 * Synchronous, which is quicker than the thread pool: 6 µs for each descriptor.
 */
function heldBy(pid: number, wanted: ReadonlySet<string>): ReadonlySet<string> {
  const directory = `/proc/${pid}/fd`;
  const found = new Set<string>();
  for (const fd of namesIn(directory).reverse()) {
    if (found.size === wanted.size) break;
    const link = linkOf(`${directory}/${fd}`);
    if (link === undefined || !link.startsWith('socket:[')) continue;
    const inode = link.slice('socket:['.length, -1);
    if (wanted.has(inode)) found.add(inode);
  }
  return found;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    // The process has ended, or is not ours to look at: it holds nothing that we may trust.
    return [];
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // Closed since the directory was read.
    return undefined;
  }
}

/** The tables that were read last; for all sessions, since they are of the whole machine. */
let latest: readonly string[] = [];
let forget: NodeJS.Timeout | undefined;
/** How long a table is kept, in milliseconds: as long as a burst of connections may take. */
const KEEP_MS = 500;

/**
 * Inode by key, as far as the tables that were read last tell. The kernel walks its whole hash of sockets for a table
 * (measured: 5 ms with 262 144 buckets and nothing in them, 20 ms with 2 900 sockets), so one that has the answer serves
 * again: a socket keeps its two ends for life, and whoever still holds its inode still holds this connection.
 */
function knownInodes(wanted: ReadonlySet<string>): Map<string, string> {
  const inodes = new Map<string, string>();
  for (const table of latest) lookUp(table, wanted, inodes);
  return inodes;
}

function keysOf(batch: readonly Waiting[]): Set<string> {
  return new Set(batch.map(({ key }) => key));
}

/** Inode by key, of the wanted ones, as it is now. */
async function socketInodes(wanted: ReadonlySet<string>): Promise<Map<string, string>> {
  const inodes = new Map<string, string>();
  const tables: string[] = [];
  // An IPv6 socket that uses IPv4 is in the other table, its addresses mapped.
  for (const path of ['/proc/self/net/tcp', '/proc/self/net/tcp6']) {
    const table = await readTable(path);
    tables.push(table);
    lookUp(table, wanted, inodes);
    if (inodes.size === wanted.size) break;
  }
  latest = tables;
  clearTimeout(forget);
  forget = setTimeout(() => {
    latest = [];
  }, KEEP_MS);
  forget.unref();
  return inodes;
}

function lookUp(table: string, wanted: ReadonlySet<string>, inodes: Map<string, string>): void {
  for (const key of wanted) {
    for (const prefix of ['', mappedPrefix]) {
      if (inodes.has(key)) break;
      const inode = inodeOf(table, `: ${prefix}${key.replace(' ', ` ${prefix}`)} `);
      if (inode !== undefined) inodes.set(key, inode);
    }
  }
}

async function readTable(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch {
    // A kernel without IPv6 has no tcp6.
    return '';
  }
}

/**
 * Of the line `sl: local remote st tx:rx tr:when retrnsmt uid timeout inode …`. The table is searched and not split:
 * a busy machine has thousands of lines. A socket without an owner has inode 0.
 */
function inodeOf(table: string, ends: string): string | undefined {
  const at = table.indexOf(ends);
  if (at === -1) return undefined;
  const [, , , , , , inode] = table.slice(at + ends.length, at + ends.length + 120).split(/\s+/);
  return inode === undefined || inode === '0' ? undefined : inode;
}

const mappedPrefix = endianness() === 'LE' ? '0000000000000000FFFF0000' : '00000000000000000000FFFF';

/** How the peer's own socket is written: its local end is our remote one. */
function peerKey(ends: AcceptedEnds): string | undefined {
  const theirs = kernelEnd(ends.remoteAddress, ends.remotePort);
  const ours = kernelEnd(ends.localAddress, ends.localPort);
  return theirs === undefined || ours === undefined ? undefined : `${theirs} ${ours}`;
}

/** `127.0.0.1`, 8080 → `0100007F:1F90`: words in the machine's byte order, the port in the usual one. */
function kernelEnd(address: string | undefined, port: number | undefined): string | undefined {
  const plain = address?.replace(/^::ffff:/i, '');
  if (plain === undefined || port === undefined || isIP(plain) !== 4) return undefined;
  const bytes = plain.split('.').map((part) => Number(part).toString(16).padStart(2, '0').toUpperCase());
  if (endianness() === 'LE') bytes.reverse();
  return `${bytes.join('')}:${port.toString(16).padStart(4, '0').toUpperCase()}`;
}
