import type { Bench } from './bench.ts';

/** A plot of cost as work grows. */
export interface Growth {
  /** For `--only`: growth-snapshot. */
  readonly name: string;
  /** @returns the files that it wrote into `dir` */
  run(bench: Bench, dir: string): Promise<string[]>;
}

export const growths: readonly Growth[] = [];
