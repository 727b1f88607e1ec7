/**
 * All processes that belong to one session, however far they have strayed: children, the group and session of the
 * Chrome, and those that only a command line or an environment still ties to the workspace.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import { lifeOf, look, type ProcessIdentity, sameProcess } from './identity.ts';
import { type ProcessEntry, ProcessIndex } from './process-index.ts';

export interface KinOptions {
  /** The Chrome that was started for the session, when one was. */
  root?: ProcessIdentity;
  /** Directories that no foreign process has a reason to name: the workspace. */
  paths: readonly string[];
  /** Words of a command line that no foreign process has: a persistent profile as Chrome is told of it. */
  words?: readonly string[];
}

export interface Look {
  live: ProcessEntry[];
  zombies: ProcessEntry[];
}

export interface Fates {
  /** Every process that was ever seen to belong. */
  seen: number;
  /** Ended without a signal of ours. */
  exited: number;
  /** Ended after SIGTERM. */
  terminated: number;
  /** Ended after SIGKILL. */
  killed: number;
  /** Still running. */
  survivors: number;
  /** Dead, but whoever is their parent now has not taken their status. */
  zombies: number;
}

interface Member extends ProcessIdentity {
  pgid: number;
  sid: number;
  signal?: 'SIGTERM' | 'SIGKILL';
}

/** Pause between two questions to the kernel whether a killed process is gone. */
const POLL_MS = 5;
/** Longest wait for killed processes to end; one in an uninterruptible wait may not. */
const KILL_WAIT_MS = 1000;
/** Rounds of look and kill; a second is needed only where something was forked between the two. */
const KILL_ROUNDS = 5;

export class Kin {
  readonly #root: ProcessIdentity | undefined;
  readonly #paths: readonly string[];
  readonly #words: readonly string[];
  readonly #members = new Map<string, Member>();
  /** What could not be done, for the receipt. */
  readonly problems: string[] = [];

  constructor(options: KinOptions) {
    this.#root = options.root;
    this.#paths = options.paths;
    this.#words = options.words ?? [];
  }

  /** Takes in everything in the index that belongs, and says what of it is there now. */
  look(index: ProcessIndex): Look {
    const untouchable = index.ownLine();
    const present = new Map<number, ProcessEntry>();
    const add = (entry: ProcessEntry): void => {
      if (!untouchable.has(entry.pid) && !entry.kernel) present.set(entry.pid, entry);
    };
    if (this.#root !== undefined) this.#addIfSame(index, this.#root, add);
    for (const member of this.#members.values()) this.#addIfSame(index, member, add);
    for (const entry of this.#group(index, present)) add(entry);
    for (const text of [...this.#paths, ...this.#words])
      for (const entry of index.mentioning(text)) add(entry);
    for (const path of this.#paths)
      for (const entry of index.carrying(path, this.#root?.startTime)) add(entry);
    for (const pid of [...present.keys()]) for (const entry of index.descendants(pid)) add(entry);
    for (const entry of present.values()) this.#remember(entry);
    const all = [...present.values()];
    return {
      live: all.filter((entry) => entry.life === 'alive'),
      zombies: all.filter((entry) => entry.life === 'zombie'),
    };
  }

  #addIfSame(index: ProcessIndex, identity: ProcessIdentity, add: (entry: ProcessEntry) => void): void {
    const entry = index.get(identity.pid);
    if (entry !== undefined && sameProcess(entry, identity)) add(entry);
  }

  /**
   * Members of the Chrome's process group and session. The kernel gives out no pid that is still a group or session id,
   * so while one of them is known to be ours, all are. When the Chrome is gone and nobody is known, the number may have
   * come to name another group since; then one of them has to stand in one of our directories, as Chrome's helpers do
   * when it was started there.
   */
  #group(index: ProcessIndex, present: ReadonlyMap<number, ProcessEntry>): ProcessEntry[] {
    const id = this.#root?.pid;
    if (id === undefined || id <= 1) return [];
    const all = [...index.inGroup(id), ...index.inSession(id)];
    const isOurs = (entry: ProcessEntry): boolean =>
      present.has(entry.pid) || this.#paths.some((path) => index.standsIn(entry, path));
    return all.some(isOurs) ? all : [];
  }

  #remember(entry: ProcessEntry): void {
    const key = `${entry.pid}:${entry.startTime}`;
    if (this.#members.has(key)) return;
    this.#members.set(key, { pid: entry.pid, startTime: entry.startTime, pgid: entry.pgid, sid: entry.sid });
  }

  /** Sends SIGTERM to the Chrome and its group. */
  terminate(): void {
    const target = this.#groupTarget();
    if (target === undefined) return;
    for (const member of this.#members.values()) {
      const reached = target > 0 ? member.pid === target : member.pgid === -target;
      if (reached && lifeOf(member) === 'alive') member.signal = 'SIGTERM';
    }
    this.#signal(target, 'SIGTERM');
  }

  /** What to give to kill(2) for the Chrome and its group: only while the Chrome, even dead, still holds its number. */
  #groupTarget(): number | undefined {
    const root = this.#root;
    const now = root === undefined ? undefined : look(root.pid);
    if (root === undefined || now?.startTime !== root.startTime) return undefined;
    return now.pgid === now.pid ? -now.pid : now.pid;
  }

  /**
   * Kills everything that belongs until a look finds none alive. Each process is asked for its identity in the moment
   * before its signal.
   * @param first a look that is fresh enough to begin with
   */
  async kill(first?: Look): Promise<void> {
    let found = first ?? this.look(await ProcessIndex.read());
    for (let round = 0; found.live.length > 0 && round < KILL_ROUNDS; round += 1) {
      const target = this.#groupTarget();
      // One signal to the whole group leaves it no moment to fork in.
      if (target !== undefined) this.#signal(target, 'SIGKILL');
      for (const entry of found.live) {
        const member = this.#members.get(`${entry.pid}:${entry.startTime}`);
        if (member !== undefined) member.signal = 'SIGKILL';
        if (lifeOf(entry) === 'alive') this.#signal(entry.pid, 'SIGKILL');
      }
      await this.until('dead', KILL_WAIT_MS);
      found = this.look(await ProcessIndex.read());
    }
  }

  #signal(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
    try {
      process.kill(pid, signal);
    } catch (error) {
      const gone = error instanceof Error && 'code' in error && error.code === 'ESRCH';
      if (!gone) this.problems.push(`${signal} to ${pid}: ${messageOf(error)}`);
    }
  }

  /**
   * Waits until no member runs, or (`'reaped'`) until none waits for its parent either. The timers hold the event loop
   * on purpose: a service that shuts down has to outlive its Chromes.
   * @returns false when the time was over first
   */
  async until(state: 'dead' | 'reaped', timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    const pending = (member: Member): boolean => {
      const life = lifeOf(member);
      return life === 'alive' || (life === 'zombie' && state === 'reaped');
    };
    for (;;) {
      if (![...this.#members.values()].some(pending)) return true;
      if (performance.now() > deadline) return false;
      await sleep(POLL_MS);
    }
  }

  /** What became of everyone, from a look at each now. */
  fates(): Fates {
    const fates: Fates = { seen: 0, exited: 0, terminated: 0, killed: 0, survivors: 0, zombies: 0 };
    for (const member of this.#members.values()) {
      fates.seen += 1;
      const life = lifeOf(member);
      if (life === 'zombie') fates.zombies += 1;
      if (life === 'alive') fates.survivors += 1;
      else if (member.signal === 'SIGKILL') fates.killed += 1;
      else if (member.signal === 'SIGTERM') fates.terminated += 1;
      else fates.exited += 1;
    }
    return fates;
  }

  /** Pids that still run, for the receipt. */
  survivors(): number[] {
    return [...this.#members.values()].filter((member) => lifeOf(member) === 'alive').map(({ pid }) => pid);
  }
}
