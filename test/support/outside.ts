/**
 * What is there of a service and its sessions, seen from outside: by /proc and by readdir, never by asking it. Linux.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Everything of a service that could be left: all of it is below one directory, its TMPDIR (see TestService). */
export interface Leftovers {
  /** `1234 /usr/lib/…`: processes that name the directory, were started with a home in it, or are its zombies. */
  readonly processes: string[];
  readonly workspaces: string[];
  /** What Chromium leaves in temp directories. */
  readonly litter: string[];
}

const MARKER = 'airlock-chrome-';
const LITTER = /^\.?(?:org\.chromium\.Chromium|com\.google\.Chrome)\./;

/**
 * @param root the directory of the service
 * @param except processes that may be there: the service itself, who looks, and what the caller started
 */
export async function leftovers(root: string, except: readonly number[]): Promise<Leftovers> {
  return {
    processes: await processesOf(root, new Set([process.pid, ...except])),
    workspaces: (await namesIn(join(root, 'r'))).filter((name) => name.startsWith(MARKER)),
    litter: (await namesIn(root)).filter((name) => LITTER.test(name)).map((name) => join(root, name)),
  };
}

/** Entries of Chromium in a temp directory that others use too. */
export async function litterIn(directory: string): Promise<Set<string>> {
  return new Set((await namesIn(directory)).filter((name) => LITTER.test(name)));
}

/** One line for people; empty when nothing is left. */
export function describeLeftovers({ processes, workspaces, litter }: Leftovers): string {
  const parts = [
    processes.length > 0 ? `${processes.length} processes: ${processes.join('; ')}` : '',
    workspaces.length > 0 ? `${workspaces.length} workspaces: ${workspaces.join(', ')}` : '',
    litter.length > 0 ? `${litter.length} entries of Chromium: ${litter.join(', ')}` : '',
  ];
  return parts.filter((part) => part !== '').join(' | ');
}

/** How many files, pipes and sockets a process has open. */
export async function descriptorsOf(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}

async function processesOf(root: string, except: ReadonlySet<number>): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || except.has(pid)) continue;
    const command = (await textOf(pid, 'cmdline')).replaceAll('\0', ' ').trim();
    if (command.includes(root)) found.push(`${pid} ${command.slice(0, 200)}`);
    else if (isHomeIn(await textOf(pid, 'environ'), root))
      found.push(`${pid} ${command} (by its environment)`);
    else if (isZombieOf(await textOf(pid, 'stat'), except)) found.push(`${pid} is a zombie`);
  }
  return found;
}

function isHomeIn(environ: string, root: string): boolean {
  return environ.split('\0').some((entry) => /^(?:HOME|TMPDIR)=/.test(entry) && entry.includes(`${root}/r/`));
}

function isZombieOf(stat: string, parents: ReadonlySet<number>): boolean {
  // The name stands in parentheses and may itself hold some.
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' && parents.has(Number(parent)) && Number(parent) !== process.pid;
}

/** Empty when the process is gone, or is not ours to read. */
async function textOf(pid: number, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
}

/** Empty when there is no such directory. */
async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}
