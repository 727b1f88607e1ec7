import { readFileSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';

/** What one session with an ordinary page takes (headless-shell, PSS of the tree), with room to breathe. */
const SESSION_BYTES = 400 * 1024 ** 2;
/** For the service and the rest of the machine. */
const RESERVED_BYTES = 1024 ** 3;

/** How many sessions fit the memory that this process may use: at least 1, at most 64. */
export function defaultMaxSessions(memoryBytes: number = memoryLimit()): number {
  return Math.max(1, Math.min(64, Math.floor((memoryBytes - RESERVED_BYTES) / SESSION_BYTES)));
}

/** Bytes that can be had now without swapping: of the machine, or of the container where that is less. */
export function availableMemory(): number {
  const machine = meminfo('MemAvailable') ?? freemem();
  const limit = cgroupNumber('memory.max');
  const used = cgroupNumber('memory.current');
  return limit === undefined || used === undefined ? machine : Math.min(machine, limit - used);
}

function memoryLimit(): number {
  return Math.min(totalmem(), cgroupNumber('memory.max') ?? Number.POSITIVE_INFINITY);
}

/** A value of `/proc/meminfo` in bytes. `MemAvailable`, unlike free memory, counts what caches would give back. */
function meminfo(name: string): number | undefined {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(read('/proc/meminfo'));
  return match ? Number(match[1]) * 1024 : undefined;
}

/** A number of this process's own cgroup (version 2); `undefined` where there is no limit. */
function cgroupNumber(file: string): number | undefined {
  const value = Number(read(`/sys/fs/cgroup/${file}`).trim() || Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // another system, or no cgroup: the caller has its fallback
  }
}
