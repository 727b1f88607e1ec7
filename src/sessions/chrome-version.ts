import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { LRUCache } from 'lru-cache';

/** By the state of the file: a browser may be updated while the service runs. */
const known = new LRUCache<string, string>({ max: 32 });

/** The answer of `chrome --version`, which starts no browser; `undefined` when it gives none. */
export async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeMs } = await stat(path);
    const key = `${path} ${ino} ${size} ${mtimeMs}`;
    const answer = known.get(key);
    if (answer !== undefined) return answer;
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 5000, env: {} });
    const version = stdout.trim();
    known.set(key, version);
    return version;
  } catch {
    return undefined; // the doctor says more
  }
}
