import { totalmem } from 'node:os';

/** What one session with an ordinary page takes (headless-shell, PSS of the tree), with room to breathe. */
const SESSION_BYTES = 400 * 1024 ** 2;
/** For the service and the rest of the machine. */
const RESERVED_BYTES = 1024 ** 3;

/** How many sessions fit this machine's memory: at least 1, at most 64. */
export function defaultMaxSessions(memoryBytes: number = totalmem()): number {
  return Math.max(1, Math.min(64, Math.floor((memoryBytes - RESERVED_BYTES) / SESSION_BYTES)));
}
