import { readdir, readFile } from 'node:fs/promises';

const MIB = 1024;

/** Resident memory of a process in MiB. */
export async function residentMiB(pid: number): Promise<number> {
  return (await kilobytes(`/proc/${pid}/status`, 'VmRSS')) / MIB;
}

/** Resident memory of a process at its highest, in MiB. */
export async function peakMiB(pid: number): Promise<number> {
  return (await kilobytes(`/proc/${pid}/status`, 'VmHWM')) / MIB;
}

/** Proportional set size of a process and all below it, in MiB: a page that two share counts half for each. */
export async function treeMiB(root: number): Promise<number> {
  const sizes = await Promise.all((await treeOf(root)).map((pid) => proportional(pid)));
  return sizes.reduce((sum, size) => sum + size, 0) / MIB;
}

/** A process and all that descend from it, by parent. */
export async function treeOf(root: number): Promise<number[]> {
  const children = new Map<number, number[]>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = await parentOf(name);
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

async function parentOf(pid: string): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The name stands in parentheses and may hold some itself.
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

async function proportional(pid: number): Promise<number> {
  return kilobytes(`/proc/${pid}/smaps_rollup`, 'Pss').catch(() => 0); // gone meanwhile
}

async function kilobytes(path: string, field: string): Promise<number> {
  const text = await readFile(path, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
}
