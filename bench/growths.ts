import type { Bench } from './bench.ts';
import { floorGrowth } from './growth/floor.ts';
import { heapGrowth } from './growth/heap.ts';
import { sessionsGrowth } from './growth/sessions.ts';
import { snapshotGrowth } from './growth/snapshot.ts';

/** A plot of cost as work grows. */
export interface Growth {
  /** For `--only`: growth-snapshot. */
  readonly name: string;
  /** @returns the files that it wrote into `dir` */
  run(bench: Bench, dir: string): Promise<string[]>;
}

export const growths: readonly Growth[] = [snapshotGrowth, floorGrowth, sessionsGrowth, heapGrowth];
