/** One directory per session. Everything that its Chrome writes lands in it, so that closing is removing one tree. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AirlockError, messageOf } from '../errors.ts';
import { chromeEnvironment, type EnvironmentOptions } from './environment.ts';
import { type ChromeRecord, type OwnerRecord, writeOwner } from './owner.ts';
import { ID_TAIL_MIN, idRoom, MARKER, type RuntimeDir } from './runtime-dir.ts';
import { measure, type Usage } from './walk.ts';

/**
 * The name of a session's directory. Chrome's socket has to fit below it, so in a long runtime directory only the end of
 * the id stands in the name; the whole id is in the owner record.
 */
function directoryName(directory: RuntimeDir, sessionId: string): string {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(sessionId)) {
    throw new AirlockError('internal', `Not a session id: ${JSON.stringify(sessionId)}`);
  }
  return MARKER + sessionId.slice(-Math.max(idRoom(directory.path), ID_TAIL_MIN));
}

function creationFailed(path: string, cause: unknown): AirlockError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  return new AirlockError(full ? 'disk_full' : 'internal', `No workspace at ${path}: ${messageOf(cause)}`, {
    cause,
  });
}

export class Workspace {
  readonly sessionId: string;
  readonly name: string;
  readonly path: string;
  /** For `--user-data-dir`. */
  readonly profile: string;
  readonly tmp: string;
  readonly home: string;
  /** Downloads, uploads and artefacts. */
  readonly files: string;
  readonly #directory: RuntimeDir;
  #record: OwnerRecord;
  #writing: Promise<void> = Promise.resolve();

  private constructor(directory: RuntimeDir, name: string, record: OwnerRecord) {
    this.#directory = directory;
    this.#record = record;
    this.sessionId = record.sessionId;
    this.name = name;
    this.path = join(directory.path, name);
    this.profile = join(this.path, 'profile');
    this.tmp = join(this.path, 'tmp');
    this.home = join(this.path, 'home');
    this.files = join(this.path, 'files');
  }

  /**
   * Makes the workspace of a session and claims it, so that no sweep of this process touches it. What was made is taken
   * back when it fails.
   * @throws AirlockError `disk_full`; `internal` when it exists already or cannot be made
   */
  static async create(directory: RuntimeDir, sessionId: string): Promise<Workspace> {
    const workspace = new Workspace(directory, directoryName(directory, sessionId), {
      sessionId,
      service: { ...directory.instance },
      createdAt: new Date().toISOString(),
    });
    const { path, name } = workspace;
    if (directory.isClaimed(name)) throw creationFailed(path, new Error('a session has it'));
    directory.claim(name);
    let made = false;
    try {
      await mkdir(path, { mode: 0o700 }); // fails where there is one
      made = true;
      await writeOwner(path, workspace.#record);
      for (const part of [workspace.profile, workspace.tmp, workspace.home, workspace.files]) {
        await mkdir(part, { mode: 0o700 });
      }
      return workspace;
    } catch (cause) {
      if (made) await rm(path, { recursive: true, force: true });
      directory.release(name);
      throw creationFailed(path, cause);
    }
  }

  /** Records which Chrome runs here. Call it as soon as there is a pid: a later start of the service reads it. */
  async setChrome(chrome: ChromeRecord): Promise<void> {
    this.#record = {
      ...this.#record,
      chrome: { pid: chrome.pid, startTime: chrome.startTime, pgid: chrome.pgid },
    };
    const record = this.#record;
    const write = this.#writing.then(() => writeOwner(this.path, record));
    this.#writing = write.catch(() => undefined); // the caller hears of it below; the next write still runs
    await write;
  }

  get chrome(): ChromeRecord | undefined {
    return this.#record.chrome;
  }

  /**
   * The whole environment of the session's Chrome: directories of the workspace, language, time zone, search path. Start
   * it with {@link path} as its working directory and as leader of its own group: helpers that survive a crash of Chrome
   * are recognised by where they stand.
   */
  env(options: EnvironmentOptions = {}): Record<string, string> {
    return chromeEnvironment(this, options);
  }

  /** What the session has on disk. Cheap enough for every few seconds. */
  usage(): Promise<Usage> {
    return measure(this.path);
  }

  /** True from creation until {@link release}: the sweeps of this process leave it alone. */
  get claimed(): boolean {
    return this.#directory.isClaimed(this.name);
  }

  /** Ends the claim; anything still on disk is the sweep's from now on. */
  release(): void {
    this.#directory.release(this.name);
  }
}
