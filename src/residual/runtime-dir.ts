/**
 * The directory that holds every session's workspace, and the lock of this instance in it.
 *
 * Several instances may share one runtime directory. Each holds its own lock, each workspace names the instance that
 * owns it, and a sweep touches only what belongs to an instance that is proven dead. What it must not be shared with is
 * another machine: the proof is the kernel's, so network file systems are refused.
 */
import { lstat, mkdir, realpath, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { AirlockError, messageOf } from '../errors.ts';
import { bootId, identify, pidNamespace } from './identity.ts';
import { InstanceLock } from './instance-lock.ts';

/** Every workspace is a directory whose name starts so. */
export const MARKER = 'airlock-chrome-';

/**
 * A local socket's path holds at most 107 bytes on Linux and 103 on macOS (sun_path, less the closing NUL). Chrome ends
 * at once when its own is longer (tried with Chromium 156).
 */
export const SOCKET_PATH_MAX = process.platform === 'linux' ? 107 : 103;

/** What Chrome appends to TMPDIR, and TMPDIR to the workspace. */
const SOCKET_TAIL = '/tmp/org.chromium.Chromium.XXXXXX/SingletonSocket';

/** Fewest characters of a session id that still tell workspaces apart: 12 of base32 are 60 bits. */
export const ID_TAIL_MIN = 12;

/** `f_type` of NFS, CIFS and SMB2 (linux/magic.h): shared between machines, where no lock of ours reaches. */
const NETWORK_FILE_SYSTEMS = new Set([0x6969, 0xff534d42, 0xfe534d42]);

/** The instance that owns a workspace, as its owner record names it. */
export interface InstanceRecord {
  pid: number;
  startTime: string;
  bootId: string;
  pidNamespace: string;
  instanceId: string;
}

/** Characters of a session id that a workspace in this directory can carry in its name. May be negative. */
export function idRoom(directory: string): number {
  return SOCKET_PATH_MAX - Buffer.byteLength(`${directory}/${MARKER}${SOCKET_TAIL}`);
}

function refuse(path: string, why: string): AirlockError {
  return new AirlockError('internal', `The runtime directory ${path} cannot be used: ${why}`);
}

function ownUid(): number {
  return process.getuid?.() ?? -1;
}

/** Where the directory is when nobody says: the first of the two that is short enough for Chrome's socket. */
function defaultPath(environment: NodeJS.ProcessEnv): string {
  const runtime = environment['XDG_RUNTIME_DIR'];
  if (runtime?.startsWith('/') && idRoom(join(runtime, 'airlock')) >= ID_TAIL_MIN)
    return join(runtime, 'airlock');
  // On macOS the user's own temp directory is too long for a socket.
  return join(process.platform === 'darwin' ? '/tmp' : tmpdir(), `airlock-${ownUid()}`);
}

/** Makes the parents that are missing and takes links out of their path; the last name must not be a link. */
async function place(wanted: string): Promise<string> {
  const parent = dirname(resolve(wanted));
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const real = await realpath(parent);
  const found = await lstat(real);
  if ((found.mode & 0o1002) === 0o002) {
    throw refuse(wanted, `anyone may rename what is in ${real} (writable by all, without the sticky bit)`);
  }
  return join(real, basename(resolve(wanted)));
}

async function verify(path: string): Promise<void> {
  const found = await lstat(path);
  if (found.isSymbolicLink()) throw refuse(path, 'it is a symbolic link');
  if (!found.isDirectory()) throw refuse(path, 'it is not a directory');
  if (found.uid !== ownUid()) throw refuse(path, `it belongs to user ${found.uid}, not to ${ownUid()}`);
  if ((found.mode & 0o777) !== 0o700) {
    throw refuse(path, `its mode is ${(found.mode & 0o777).toString(8)}; it must be 700`);
  }
  if (process.platform === 'linux' && NETWORK_FILE_SYSTEMS.has((await statfs(path)).type)) {
    throw refuse(path, 'it is on a network file system, where a living owner cannot be told from a dead one');
  }
}

export class RuntimeDir implements AsyncDisposable {
  readonly path: string;
  readonly instance: Readonly<InstanceRecord>;
  readonly #lock: InstanceLock;
  readonly #claims = new Set<string>();

  private constructor(path: string, instance: InstanceRecord, lock: InstanceLock) {
    this.path = path;
    this.instance = instance;
    this.#lock = lock;
  }

  /**
   * Opens the runtime directory and takes this instance's lock in it. Dispose it after the last session has closed.
   * @param path absolute; undefined for `$XDG_RUNTIME_DIR/airlock`, else `<tmp>/airlock-<uid>`
   * @throws AirlockError `internal` when it is a link, another user's, open to others, remote, or too long for Chrome
   */
  static async open(path?: string, environment: NodeJS.ProcessEnv = process.env): Promise<RuntimeDir> {
    const wanted = path ?? defaultPath(environment);
    try {
      return await RuntimeDir.#open(wanted);
    } catch (cause) {
      if (cause instanceof AirlockError) throw cause;
      throw new AirlockError('internal', `${refuse(wanted, messageOf(cause)).message}`, { cause });
    }
  }

  static async #open(wanted: string): Promise<RuntimeDir> {
    const directory = await place(wanted);
    if (idRoom(directory) < ID_TAIL_MIN) {
      const most = Buffer.byteLength(directory) + idRoom(directory) - ID_TAIL_MIN;
      throw refuse(directory, `Chrome's socket path would be too long; use a path of at most ${most} bytes`);
    }
    await mkdir(directory, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await verify(directory);
    const self = await identify(process.pid);
    if (self === undefined) throw refuse(directory, '/proc does not show this process');
    const lock = await InstanceLock.take(directory);
    const instance = { ...self, bootId: bootId(), pidNamespace: pidNamespace(), instanceId: lock.instanceId };
    return new RuntimeDir(directory, instance, lock);
  }

  /** Keeps this instance's sweeps away from a workspace, by the name of its directory. */
  claim(name: string): void {
    this.#claims.add(name);
  }

  /** Gives a workspace back: what is left of it is now the sweep's. */
  release(name: string): void {
    this.#claims.delete(name);
  }

  isClaimed(name: string): boolean {
    return this.#claims.has(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lock[Symbol.asyncDispose]();
  }
}
