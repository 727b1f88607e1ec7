import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface ProcessLine {
  readonly pid: number;
  readonly ppid: number;
  readonly state: string;
  readonly args: string;
}

/** All processes whose command line holds `text`, as `ps` sees them; zombies have no command line and are not among them. */
export async function processesWith(text: string): Promise<ProcessLine[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=,stat=,args=', '-ww'], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, pid, ppid, state = '', args = '']) => ({ pid: Number(pid), ppid: Number(ppid), state, args }))
    .filter((line) => line.args.includes(text) && !line.args.startsWith('ps '));
}

/** Polls until `holds`, for things that the system reports by being asked only. Throws with the last value. */
export async function eventually<T>(
  read: () => Promise<T>,
  holds: (value: T) => boolean,
  limitMs = 15_000,
): Promise<T> {
  const end = Date.now() + limitMs;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > end) throw new Error(`never held; last seen: ${JSON.stringify(value)}`);
    await delay(50);
  }
}

/** All processes that descend from one, as `ps` sees them. */
export async function childTree(pid: number): Promise<ProcessLine[]> {
  const all = await processesWith('');
  const found: ProcessLine[] = [];
  const queue = [pid];
  for (let parent = queue.shift(); parent !== undefined; parent = queue.shift()) {
    for (const child of all.filter((one) => one.ppid === parent)) {
      found.push(child);
      queue.push(child.pid);
    }
  }
  return found;
}
