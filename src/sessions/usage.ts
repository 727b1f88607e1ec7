import { readFile } from 'node:fs/promises';
import { ProcessIndex } from '../residual/process-index.ts';
import { hasOwnNetwork } from './own-network.ts';

export interface Usage {
  /** Chrome's process and all that descend from it. */
  readonly processes: number;
  /** Proportional set size of them all, so that shared pages count once; 0 where the system cannot tell. */
  readonly memoryBytes: number;
  /** Whether the renderers run under a system call filter, as the kernel sees it: not what a flag says. */
  readonly sandbox: boolean;
  /** Whether Chrome is in a network namespace of its own, again as the kernel sees it. */
  readonly strictNetwork: boolean;
}

/** What one Chrome takes of the machine now. */
export async function usageOf(pid: number): Promise<Usage> {
  const index = await ProcessIndex.read();
  const own = index.get(pid);
  const tree = [...(own ? [own] : []), ...index.descendants(pid)];
  const sizes = await Promise.all(tree.map((entry) => proportionalSize(entry.pid)));
  const renderer = tree.find((entry) => entry.command.includes('--type=renderer'));
  return {
    processes: tree.length,
    memoryBytes: sizes.reduce((sum, size) => sum + size, 0),
    strictNetwork: await hasOwnNetwork(pid),
    sandbox: renderer !== undefined && (await isFiltered(renderer.pid)),
  };
}

/** PSS from `/proc/<pid>/smaps_rollup` (Linux 4.14), in bytes; 0 for a process that has gone meanwhile. */
async function proportionalSize(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
}

/** `Seccomp: 2` in `/proc/<pid>/status`: a filter is on, which for Chrome's renderers means its sandbox. */
async function isFiltered(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return /^Seccomp:\s+2$/m.test(text);
}
