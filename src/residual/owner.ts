/** The owner record of a workspace: who made it, which Chrome runs in it, and whether that owner still lives. */
import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootId, lifeOf, type ProcessIdentity, pidNamespace } from './identity.ts';
import { isInstanceAlive } from './instance-lock.ts';
import type { InstanceRecord, RuntimeDir } from './runtime-dir.ts';

export interface ChromeRecord extends ProcessIdentity {
  /** Equal to the pid for a Chrome that was started as the leader of its own group. */
  pgid: number;
}

export interface OwnerRecord {
  sessionId: string;
  service: InstanceRecord;
  chrome?: ChromeRecord;
  /** ISO 8601. */
  createdAt: string;
}

const FILE = 'owner.json';

/** Writes the record so that a reader sees the old one or the new one, never half of one. */
export async function writeOwner(workspace: string, record: OwnerRecord): Promise<void> {
  const part = join(workspace, `.${FILE}-${randomBytes(4).toString('hex')}`);
  await writeFile(part, `${JSON.stringify(record)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(part, join(workspace, FILE));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isIdentity(value: unknown): value is ProcessIdentity & Record<string, unknown> {
  return isObject(value) && Number.isInteger(value['pid']) && typeof value['startTime'] === 'string';
}

function isOwnerRecord(value: unknown): value is OwnerRecord {
  if (!isObject(value) || typeof value['sessionId'] !== 'string' || !isIdentity(value['service']))
    return false;
  const { service, chrome } = value;
  const named = ['bootId', 'pidNamespace', 'instanceId'].every((key) => typeof service[key] === 'string');
  return named && (chrome === undefined || (isIdentity(chrome) && Number.isInteger(chrome['pgid'])));
}

/** The record of a workspace, or undefined when there is none that can be read. */
export async function readOwner(workspace: string): Promise<OwnerRecord | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(join(workspace, FILE), 'utf8'));
    return isOwnerRecord(value) ? value : undefined;
  } catch {
    return undefined; // its maker died before it was written, or has not come so far yet
  }
}

/** True when the pids of a record mean the same here as where it was written. */
export function pidsAreComparable(service: InstanceRecord): boolean {
  return service.bootId === bootId() && service.pidNamespace === pidNamespace();
}

/**
 * Whether the instance that made a workspace is this one, another that lives, or a dead one. Dead takes two witnesses
 * where two can be had: nobody listens on its lock, and its process is gone (or its pid names another process). The lock
 * alone speaks for an instance of an earlier boot, or in a container whose pids we cannot see.
 */
export async function judgeOwner(
  directory: RuntimeDir,
  record: OwnerRecord,
): Promise<'self' | 'alive' | 'dead'> {
  const { service } = record;
  if (service.instanceId === directory.instance.instanceId) return 'self';
  if (await isInstanceAlive(directory.path, service.instanceId)) return 'alive';
  if (!pidsAreComparable(service)) return 'dead';
  return lifeOf(service) === 'alive' ? closedLock(directory, service) : 'dead';
}

/** An instance in our own process that gave its lock back has no sessions; one in another process may still be closing. */
function closedLock(directory: RuntimeDir, service: InstanceRecord): 'alive' | 'dead' {
  const ours = service.pid === directory.instance.pid && service.startTime === directory.instance.startTime;
  return ours ? 'dead' : 'alive';
}
