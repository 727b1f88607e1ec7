import { readFile } from 'node:fs/promises';
import { treeOf } from '../test/support/outside.ts';

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

async function proportional(pid: number): Promise<number> {
  return kilobytes(`/proc/${pid}/smaps_rollup`, 'Pss').catch(() => 0); // gone meanwhile
}

async function kilobytes(path: string, field: string): Promise<number> {
  const text = await readFile(path, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
}
