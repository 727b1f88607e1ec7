import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { AirlockError } from '../../errors.ts';

/** A file of the session's own directory. */
export interface UploadFile {
  readonly path: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/** Files that came with a request. */
export interface Uploads {
  readonly files: readonly UploadFile[];
  /** Set when Chrome has been told of them: from then on a page may read them at any time. */
  given: boolean;
}

/** Where files of a session are that a caller may name, in its directory. */
const PLACES = ['', 'downloads'];

/** Names of files are names only: nothing in one leads anywhere else. */
export function isFileName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  const odd = /[/\\\u0000-\u001f\u007f]/;
  return name !== '' && !name.startsWith('.') && !odd.test(name) && Buffer.byteLength(name) <= 255;
}

/**
 * The files of a session by their names. Chrome makes an empty file of one that is missing, and tells nobody; so each is
 * looked at before Chrome hears of any.
 * @throws AirlockError `artifact_not_found` for a name of no regular file
 */
export async function findUploadFiles(filesDir: string, names: readonly string[]): Promise<UploadFile[]> {
  const found: UploadFile[] = [];
  for (const name of names) found.push(await findOne(filesDir, name));
  return found;
}

async function findOne(filesDir: string, name: string): Promise<UploadFile> {
  if (isFileName(name)) {
    for (const place of PLACES) {
      const path = join(filesDir, place, name);
      const stats = await lstat(path).catch(() => undefined);
      if (stats?.isFile()) return { path, name, size: stats.size };
    }
  }
  const told = JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
  throw new AirlockError('artifact_not_found', `The session has no file ${told}; nothing was touched`, {
    extra: { file: name },
  });
}
