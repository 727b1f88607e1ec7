/** Names of the hosts file, which the system's own programs honour before DNS and c-ares' queries do not. */

import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';

/** Where this system keeps it. */
export const systemHostsFile =
  process.platform === 'win32'
    ? join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts';

/** A block list in hosts form may have a hundred thousand lines (some 4 MB); more than this is not read. */
const sizeLimitBytes = 16 * 1024 * 1024;

/** Reads a hosts file and reads it again when it has changed. */
export class HostsFile {
  readonly #path: string;
  readonly #checkMs: number;
  #names: ReadonlyMap<string, readonly string[]> = new Map();
  #stamp = '';
  #checkedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  /** @param checkMs how often, at most, the file's date is looked at */
  constructor(path = systemHostsFile, checkMs = 2000) {
    this.#path = path;
    this.#checkMs = checkMs;
  }

  /** The addresses of `name` (lower case), in the order of the file; empty when it does not name it. */
  async lookup(name: string): Promise<readonly string[]> {
    if (performance.now() - this.#checkedAt >= this.#checkMs) {
      this.#reading ??= this.#refresh().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#names.get(name) ?? [];
  }

  async #refresh(): Promise<void> {
    try {
      const { mtimeMs, size } = await stat(this.#path);
      const stamp = `${mtimeMs}/${size}`;
      if (stamp !== this.#stamp) {
        this.#names = size > sizeLimitBytes ? new Map() : parseHosts(await readFile(this.#path, 'utf8'));
        this.#stamp = stamp;
      }
    } catch {
      // No such file, or not readable: the system's own resolver goes on to DNS as well.
      this.#names = new Map();
      this.#stamp = '';
    }
    this.#checkedAt = performance.now();
  }
}

/** Lines of `address name name… # comment` (hosts(5)). Addresses with a zone are left out: they cannot be judged. */
export function parseHosts(text: string): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address, ...aliases] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/);
    if (address === undefined || address.includes('%') || isIP(address) === 0) continue;
    for (const alias of aliases) {
      const name = alias.toLowerCase().replace(/\.$/, '');
      const known = names.get(name) ?? [];
      if (!known.includes(address)) names.set(name, [...known, address]);
    }
  }
  return names;
}
