import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, lstat, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { AirlockError, messageOf } from '../errors.ts';
import { isFileName, numbered } from '../page/file-name.ts';

export interface StoredFile {
  readonly name: string;
  readonly bytes: number;
  /** `Date.now()` milliseconds. */
  readonly modifiedAt: number;
}

export interface OpenedFile extends StoredFile {
  /** Open for reading; whoever asked for it closes it. */
  readonly handle: FileHandle;
}

export interface FilesOptions {
  /** Holds the files, and nothing else that has a name of the caller's. */
  readonly directory: string;
  /** Where files grow until they are whole: on the same file system. */
  readonly incoming: string;
  /** Bytes that the session may still store. */
  readonly room: () => Promise<number>;
}

/** Names that are tried before a file is refused: `a (1).txt`, `a (2).txt` … */
const MAX_NUMBER = 999;

/**
 * The files of a session: what was uploaded, downloaded, or kept of its pages. A file appears under its name when it is
 * whole, takes the place of none, and a link is no file, wherever it points.
 */
export class SessionFiles {
  readonly #options: FilesOptions;

  constructor(options: FilesOptions) {
    this.#options = options;
  }

  /** Bytes that may still be stored. */
  room(): Promise<number> {
    return this.#options.room();
  }

  /** By name. */
  async list(): Promise<StoredFile[]> {
    const names = await readdir(this.#options.directory);
    const files = await Promise.all(
      names.sort().map(async (name) => {
        const found = await lstat(join(this.#options.directory, name)).catch(() => undefined);
        return found?.isFile() ? [{ name, bytes: found.size, modifiedAt: Math.round(found.mtimeMs) }] : [];
      }),
    );
    return files.flat();
  }

  /** @throws AirlockError `artifact_not_found` */
  async open(name: string): Promise<OpenedFile> {
    if (!isFileName(name)) throw notFound(name);
    let handle: FileHandle;
    try {
      // A pipe would hold the open until somebody writes.
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      handle = await open(join(this.#options.directory, name), flags);
    } catch (error) {
      throw isCode(error, 'ENOENT', 'ELOOP', 'ENXIO', 'ENAMETOOLONG') ? notFound(name) : error;
    }
    const found = await handle.stat();
    if (found.isFile()) return { name, bytes: found.size, modifiedAt: Math.round(found.mtimeMs), handle };
    await handle.close();
    throw notFound(name);
  }

  /** @throws AirlockError `artifact_not_found` */
  async remove(name: string): Promise<StoredFile> {
    const path = join(this.#options.directory, name);
    const found = isFileName(name) ? await lstat(path).catch(() => undefined) : undefined;
    if (!found?.isFile()) throw notFound(name);
    await unlink(path).catch((error: unknown) => {
      throw isCode(error, 'ENOENT') ? notFound(name) : error;
    });
    return { name, bytes: found.size, modifiedAt: Math.round(found.mtimeMs) };
  }

  /**
   * Stores what comes in under `name`, or `name (1)` where there is one of that name. Nothing stays of what is refused.
   * @param maxBytes of the whole file
   * @throws AirlockError `invalid_request` (the name), `too_large`, `quota_exceeded`, `disk_full`
   */
  async store(name: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<StoredFile> {
    if (!isFileName(name)) {
      throw new AirlockError(
        'invalid_request',
        `Not a name of a file: ${JSON.stringify(name.slice(0, 300))}`,
      );
    }
    const room = await this.#options.room();
    const part = join(this.#options.incoming, randomBytes(12).toString('hex'));
    const handle = await open(part, 'wx', 0o600).catch((error: unknown) => {
      throw diskError(error);
    });
    try {
      await fill(handle, content, { maxBytes, room });
      await handle.close();
      return await this.adopt(part, name);
    } catch (error) {
      await handle.close().catch(closed);
      await unlink(part).catch(closed);
      throw diskError(error);
    }
  }

  /**
   * Takes a whole file in, as `store` does. Its old path is gone afterwards.
   * @param path in `incoming`
   */
  async adopt(path: string, name: string): Promise<StoredFile> {
    for (let number = 0; number <= MAX_NUMBER; number += 1) {
      const free = numbered(name, number);
      const target = join(this.#options.directory, free);
      try {
        await link(path, target); // fails where there is one, and follows no link
      } catch (error) {
        if (isCode(error, 'EEXIST')) continue;
        throw error;
      }
      await unlink(path);
      const found = await lstat(target);
      return { name: free, bytes: found.size, modifiedAt: Math.round(found.mtimeMs) };
    }
    throw new AirlockError(
      'quota_exceeded',
      `There are ${MAX_NUMBER} files of the name ${JSON.stringify(name)}`,
    );
  }
}

async function fill(
  handle: FileHandle,
  content: AsyncIterable<Uint8Array>,
  { maxBytes, room }: { maxBytes: number; room: number },
): Promise<void> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new AirlockError('too_large', `A file is at most ${maxBytes} bytes`, { extra: { maxBytes } });
    }
    if (bytes > room) throw overQuota(room);
    await handle.writeFile(chunk);
  }
}

export function overQuota(room: number): AirlockError {
  const left = Math.max(0, room);
  return new AirlockError('quota_exceeded', `The session may store ${left} bytes more`, {
    extra: { room: left },
  });
}

function notFound(name: string): AirlockError {
  return new AirlockError(
    'artifact_not_found',
    `The session has no file ${JSON.stringify(name.slice(0, 300))}`,
  );
}

function diskError(error: unknown): unknown {
  if (!isCode(error, 'ENOSPC', 'EDQUOT')) return error;
  return new AirlockError('disk_full', `There is no room for the file: ${messageOf(error)}`, {
    cause: error,
  });
}

function isCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

function closed(): void {
  // It was closed, or removed, already.
}
