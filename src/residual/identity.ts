/**
 * Who a process is. A pid alone is a number that the kernel hands out again; with the time the process started it names
 * one process for as long as the machine is up.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';

export interface ProcessIdentity {
  pid: number;
  /** Opaque and comparable: clock ticks since boot on Linux (proc(5), field 22), `lstart` of ps on macOS. */
  startTime: string;
}

export type Life = 'alive' | 'zombie' | 'gone';

/** What the kernel says of one process. */
export interface ProcessStatus extends ProcessIdentity {
  ppid: number;
  pgid: number;
  sid: number;
  life: 'alive' | 'zombie';
  /** Stopped by a signal or a tracer: it cannot act on anything but SIGKILL until it is continued. */
  stopped: boolean;
  /** A thread of the kernel itself: no command line, no files, cannot be killed. */
  kernel: boolean;
}

const linux = process.platform === 'linux';

/** PF_KTHREAD of include/linux/sched.h. */
const KERNEL_THREAD = 0x00200000;

/**
 * Reads the text of `/proc/<pid>/stat`. The command name stands in parentheses and may itself hold spaces and
 * parentheses, so fields are counted from the last `)`.
 */
export function parseStat(text: string): ProcessStatus | undefined {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open < 1 || close < open) return undefined;
  const pid = Number(text.slice(0, open));
  const fields = text.slice(close + 2).split(' ');
  const startTime = fields[19];
  if (!Number.isInteger(pid) || startTime === undefined) return undefined;
  const state = fields[0] ?? '';
  // A leader whose main thread ended shows as Z while its other threads still run; it is not dead yet.
  const dead = (state === 'Z' || state === 'X') && Number(fields[17]) <= 1;
  return {
    pid,
    startTime,
    ppid: Number(fields[1]),
    pgid: Number(fields[2]),
    sid: Number(fields[3]),
    life: dead ? 'zombie' : 'alive',
    stopped: state === 'T' || state === 't',
    kernel: (Number(fields[6]) & KERNEL_THREAD) !== 0,
  };
}

/** Columns that {@link parsePsLine} reads; `lstart` is five words. */
export const PS_COLUMNS = 'pid=,ppid=,pgid=,stat=,lstart=,command=';

/** Reads one line of `ps -o pid=,ppid=,pgid=,stat=,lstart=,command=`. macOS shows no usable session id: it is 0. */
export function parsePsLine(line: string): (ProcessStatus & { command: string }) | undefined {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s?(.*)$/.exec(line);
  if (match === null) return undefined;
  const state = match[4] ?? '';
  return {
    pid: Number(match[1]),
    ppid: Number(match[2]),
    pgid: Number(match[3]),
    sid: 0,
    startTime: (match[5] ?? '').replace(/\s+/g, ' '),
    life: state.startsWith('Z') ? 'zombie' : 'alive',
    stopped: state.startsWith('T'),
    kernel: false,
    command: match[6] ?? '',
  };
}

/** The text of a /proc file, or undefined when the process is gone or is not ours to read. */
export function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Environment for ps: `lstart` is a local date, so language and time zone must be the same at every call. */
export const PS_ENV = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' };

/** Looks at one process now; undefined when there is none with that pid. Synchronous, so that a kill can follow at once. */
export function look(pid: number): ProcessStatus | undefined {
  if (!Number.isInteger(pid) || pid < 1) return undefined;
  if (linux) {
    const text = readProc(`/proc/${pid}/stat`);
    return text === undefined ? undefined : parseStat(text);
  }
  try {
    const text = execFileSync('ps', ['-o', PS_COLUMNS, '-p', String(pid)], { encoding: 'utf8', env: PS_ENV });
    return parsePsLine(text.trimEnd());
  } catch {
    return undefined; // ps exits 1 when there is no such process
  }
}

/** The identity of the process that has this pid now (a zombie counts), or undefined. */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const status = look(pid);
  return status === undefined ? undefined : { pid: status.pid, startTime: status.startTime };
}

/** Like {@link isAlive}, at once. A process that took over the pid is not this one: `gone`. */
export function lifeOf(identity: ProcessIdentity): Life {
  const status = look(identity.pid);
  return status === undefined || status.startTime !== identity.startTime ? 'gone' : status.life;
}

/** Whether this very process lives, waits to be reaped, or is gone. `kill(pid, 0)` cannot tell these apart. */
export async function isAlive(identity: ProcessIdentity): Promise<Life> {
  return lifeOf(identity);
}

/** True for the two that name the same process. */
export function sameProcess(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.pid === b.pid && a.startTime === b.startTime;
}

let boot: string | undefined;

/** Names this run of the kernel: pids and start times of another boot mean nothing. Read once. */
export function bootId(): string {
  boot ??= linux
    ? (readProc('/proc/sys/kernel/random/boot_id') ?? '').trim()
    : execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).trim();
  return boot;
}

/**
 * Names the pid namespace of this process; empty where there is no such thing. Two containers that share a runtime
 * directory run on one boot, yet neither can see the other's pids.
 */
export function pidNamespace(): string {
  if (!linux) return '';
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
