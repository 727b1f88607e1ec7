import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { AirlockError } from '../../errors.ts';
import { isFileName } from '../file-name.ts';

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
  const path = join(filesDir, name);
  const stats = isFileName(name) ? await lstat(path).catch(() => undefined) : undefined;
  if (stats?.isFile()) return { path, name, size: stats.size };
  const told = JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
  throw new AirlockError('artifact_not_found', `The session has no file ${told}; nothing was touched`, {
    extra: { file: name },
  });
}
