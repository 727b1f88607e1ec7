/**
 * The proof that one service instance lives: a local socket in the runtime directory on which it listens.
 *
 * The kernel holds it, so it ends with the process however that dies, and no stale lock can keep the next start out. It
 * answers across pid and network namespaces, where a pid says nothing. Node offers neither flock nor fcntl locks.
 */
import { randomBytes } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';

const SUFFIX = '.sock';
/** A socket that is bound but does not listen yet; it gets its name when it does. */
const UNBORN = '.sock-new';
/** An instance takes far less than this from binding to listening. */
const UNBORN_MAX_AGE_MS = 60_000;

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/**
 * Asks the kernel whether somebody listens on a local socket. Only a refusal and a missing file are a no; anything else
 * (a full backlog, no right to connect) is a yes, because a wrong no would cost somebody a live session.
 */
export function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => {
      socket.destroy();
      resolve(!['ECONNREFUSED', 'ENOENT', 'ENOTSOCK'].includes(errorCode(error)));
    });
  });
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

export class InstanceLock implements AsyncDisposable {
  readonly instanceId: string;
  readonly #path: string;
  readonly #server: Server;

  private constructor(instanceId: string, path: string, server: Server) {
    this.instanceId = instanceId;
    this.#path = path;
    this.#server = server;
  }

  /** Takes the lock of a new instance in a directory that only we can write to. */
  static async take(directory: string): Promise<InstanceLock> {
    const instanceId = randomBytes(6).toString('hex');
    const path = join(directory, instanceId + SUFFIX);
    const unborn = join(directory, instanceId + UNBORN);
    const server = createServer((socket) => socket.destroy());
    server.unref(); // a lock does not keep a service alive
    await listen(server, unborn);
    // Between bind and listen a connection is refused, as if the owner were dead. No reader sees the final name then.
    await rename(unborn, path);
    return new InstanceLock(instanceId, path, server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#path, { force: true });
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/** Whether the instance holds its lock in this directory. */
export function isInstanceAlive(directory: string, instanceId: string): Promise<boolean> {
  // The id comes from a file; it names a socket here and nowhere else.
  if (!/^[0-9a-f]{12}$/.test(instanceId)) return Promise.resolve(false);
  return isListening(join(directory, instanceId + SUFFIX));
}

/** Ids of all instances that live in this directory. */
export async function livingInstances(directory: string): Promise<string[]> {
  const ids = (await readdir(directory))
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => name.slice(0, -5));
  const alive = await Promise.all(ids.map((id) => isInstanceAlive(directory, id)));
  return ids.filter((_id, at) => alive[at]);
}

/** Removes the sockets of dead instances. @returns the paths removed */
export async function removeStaleLocks(directory: string): Promise<string[]> {
  const removed: string[] = [];
  for (const name of await readdir(directory)) {
    if (!name.endsWith(SUFFIX) && !name.endsWith(UNBORN)) continue;
    const path = join(directory, name);
    if (name.endsWith(UNBORN)) {
      const found = await stat(path).catch(() => undefined);
      if (found === undefined || Date.now() - found.mtimeMs < UNBORN_MAX_AGE_MS) continue;
    }
    if (await isListening(path)) continue;
    await rm(path, { force: true });
    removed.push(path);
  }
  return removed;
}
