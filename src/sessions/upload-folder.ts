import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AirlockError, messageOf } from '../errors.ts';
import type { UploadFile, Uploads } from '../page/actions/upload-files.ts';
import { isFileName } from '../page/file-name.ts';
import { overQuota } from './files.ts';

/** Bytes of all files of one request. */
export const MAX_UPLOAD_BYTES = 100 * 1024 * 1024;

/**
 * The files that come with one request, in a directory of their own in the session's workspace: Chrome reads them whenever the
 * page does, so they stay until the session ends, unless the upload fails before it has them.
 */
export class UploadFolder implements Uploads {
  readonly files: UploadFile[] = [];
  given = false;
  readonly #path: string;
  readonly #room: () => Promise<number>;
  #bytes = 0;

  /**
   * @param workspace path of the session's workspace
   * @param room bytes that the session may still store
   */
  constructor(workspace: string, room: () => Promise<number>) {
    this.#path = join(workspace, 'uploads', randomUUID());
    this.#room = room;
  }

  /**
   * Stores a file as it comes in. Two of one name do not meet: each has a directory of its own.
   * @throws AirlockError `invalid_request` (a name that is none), `too_large`, `quota_exceeded`, `disk_full`
   */
  async add(name: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    if (!isFileName(name)) {
      const detail = `/files: ${JSON.stringify(name.slice(0, 100))} is no name of a file`;
      throw new AirlockError('invalid_request', detail, { extra: { pointer: '/files' } });
    }
    const directory = join(this.#path, String(this.files.length));
    const path = join(directory, name);
    try {
      const room = await this.#room();
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await pipeline(this.#counted(content, room), createWriteStream(path, { flags: 'wx', mode: 0o600 }));
      const { size } = await stat(path);
      this.files.push({ path, name, size });
    } catch (error) {
      throw storeError(error);
    }
  }

  async *#counted(content: AsyncIterable<Uint8Array>, room: number): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const chunk of content) {
      bytes += chunk.length;
      this.#bytes += chunk.length;
      if (this.#bytes > MAX_UPLOAD_BYTES) throw tooLarge(MAX_UPLOAD_BYTES);
      if (bytes > room) throw overQuota(room);
      yield chunk;
    }
  }

  /** Removes everything again. */
  async discard(): Promise<void> {
    await rm(this.#path, { recursive: true, force: true });
  }
}

export function tooLarge(maxBytes: number): AirlockError {
  return new AirlockError('too_large', `The files of one request may have ${maxBytes} bytes together`, {
    extra: { maxBytes },
  });
}

function storeError(error: unknown): unknown {
  if (error instanceof AirlockError) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new AirlockError('disk_full', `The file could not be stored: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return error;
}
