import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AirlockError, messageOf } from '../errors.ts';
import { isFileName, type UploadFile, type Uploads } from '../page/actions/upload-files.ts';

/** Bytes of all files of one request. */
export const MAX_UPLOAD_BYTES = 100 * 1024 * 1024;

/**
 * The files that come with one request, in a directory of their own below that of the session: Chrome reads them whenever the
 * page does, so they stay until the session ends, unless the upload fails before it has them.
 */
export class UploadFolder implements Uploads {
  readonly files: UploadFile[] = [];
  given = false;
  readonly #path: string;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(filesDir: string, maxBytes = MAX_UPLOAD_BYTES) {
    this.#path = join(filesDir, 'uploads', randomUUID());
    this.#maxBytes = maxBytes;
  }

  /**
   * Stores a file as it comes in. Two of one name do not meet: each has a directory of its own.
   * @throws AirlockError `invalid_request` (a name that is none), `too_large`, `disk_full`
   */
  async add(name: string, content: Readable): Promise<void> {
    if (!isFileName(name)) {
      const detail = `/files: ${JSON.stringify(name.slice(0, 100))} is no name of a file`;
      throw new AirlockError('invalid_request', detail, { extra: { pointer: '/files' } });
    }
    const directory = join(this.#path, String(this.files.length));
    const path = join(directory, name);
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await pipeline(
        content,
        (source) => this.#counted(source),
        createWriteStream(path, { flags: 'wx', mode: 0o600 }),
      );
      const { size } = await stat(path);
      this.files.push({ path, name, size });
    } catch (error) {
      throw storeError(error);
    }
  }

  async *#counted(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      this.#bytes += chunk.length;
      if (this.#bytes > this.#maxBytes) throw tooLarge(this.#maxBytes);
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
