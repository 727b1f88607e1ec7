/**
 * Socket inodes from /proc/net/tcp and tcp6 (proc(5)), which any program of Linux may read. Slow: for a table the kernel
 * walks its whole hash of sockets (measured: 5 ms with 262 144 buckets and nothing in them, 20 ms with 2 900 sockets).
 */

import { readFile } from 'node:fs/promises';
import { endianness } from 'node:os';
import type { SocketEnd, SocketEnds } from './socket-ends.ts';

/** The tables that were read last; for all sessions, since they are of the whole machine. */
let latest: readonly string[] = [];
let forget: NodeJS.Timeout | undefined;
/** How long a table is kept, in milliseconds: as long as a burst of connections may take. */
const KEEP_MS = 500;

/**
 * Inodes as far as the tables that were read last tell. A table that has the answer serves again: a socket keeps its two
 * ends for life, and whoever still holds its inode still holds this connection.
 */
export function knownInodes(wanted: ReadonlySet<SocketEnds>): Map<SocketEnds, string> {
  const inodes = new Map<SocketEnds, string>();
  for (const table of latest) lookUp(table, wanted, inodes);
  return inodes;
}

/** Inodes of the wanted sockets, as they are now. */
export async function tableInodes(wanted: ReadonlySet<SocketEnds>): Promise<Map<SocketEnds, string>> {
  const inodes = new Map<SocketEnds, string>();
  const tables: string[] = [];
  // An IPv6 socket that uses IPv4 is in the other table, its addresses mapped.
  for (const path of ['/proc/self/net/tcp', '/proc/self/net/tcp6']) {
    const table = await readTable(path);
    tables.push(table);
    lookUp(table, wanted, inodes);
    if (inodes.size === wanted.size) break;
  }
  latest = tables;
  clearTimeout(forget);
  forget = setTimeout(() => {
    latest = [];
  }, KEEP_MS);
  forget.unref();
  return inodes;
}

function lookUp(table: string, wanted: ReadonlySet<SocketEnds>, inodes: Map<SocketEnds, string>): void {
  for (const ends of wanted) {
    for (const prefix of ['', mappedPrefix]) {
      if (inodes.has(ends)) break;
      const columns = `: ${prefix}${written(ends.local)} ${prefix}${written(ends.remote)} `;
      const inode = inodeOf(table, columns);
      if (inode !== undefined) inodes.set(ends, inode);
    }
  }
}

async function readTable(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch {
    // A kernel without IPv6 has no tcp6.
    return '';
  }
}

/**
 * Of the line `sl: local remote st tx:rx tr:when retrnsmt uid timeout inode …`. The table is searched and not split:
 * a busy machine has thousands of lines. A socket without an owner has inode 0.
 */
function inodeOf(table: string, ends: string): string | undefined {
  const at = table.indexOf(ends);
  if (at === -1) return undefined;
  const [, , , , , , inode] = table.slice(at + ends.length, at + ends.length + 120).split(/\s+/);
  return inode === undefined || inode === '0' ? undefined : inode;
}

const mappedPrefix = endianness() === 'LE' ? '0000000000000000FFFF0000' : '00000000000000000000FFFF';

/** 127.0.0.1, 8080 → `0100007F:1F90`: words in the machine's byte order, the port in the usual one. */
function written({ address, port }: SocketEnd): string {
  const bytes = address.map((byte) => byte.toString(16).padStart(2, '0').toUpperCase());
  if (endianness() === 'LE') bytes.reverse();
  return `${bytes.join('')}:${port.toString(16).padStart(4, '0').toUpperCase()}`;
}
