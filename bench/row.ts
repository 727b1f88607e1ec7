import type { Bench } from './bench.ts';
import { median, pairwiseRatios, quantile } from './statistics.ts';

/** One line of the table of docs: a piece of work, measured on our side and on a peer's. */
export interface Row {
  /** As in the list of bench/README.md. */
  readonly number: number;
  readonly title: string;
  /** @throws Skipped when it cannot run here */
  run(bench: Bench): Promise<RowResult>;
}

/** A row that cannot be measured here; not a failure. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}

export interface RowResult {
  readonly series: readonly Series[];
  readonly verdicts: readonly Verdict[];
  /** What a reader must know beside the figures. */
  readonly notes?: readonly string[];
}

export interface Series {
  readonly name: string;
  readonly unit: string;
  readonly samples: readonly number[];
}

/** A figure beside its target. */
export interface Verdict {
  /** What is compared: `/ chromedriver`, `operations per second`. */
  readonly name: string;
  readonly value: number;
  /** The middle half of the pairwise ratios, for a ratio. */
  readonly spread?: readonly [number, number];
  readonly unit?: string;
  /** Absent for a figure that has none. */
  readonly target?: Target;
}

export type Target = { readonly atMost: number } | { readonly atLeast: number };

/** Ours to a peer's, pair by pair. */
export function ratio(
  name: string,
  ours: readonly number[],
  theirs: readonly number[],
  target?: Target,
): Verdict {
  const ratios = pairwiseRatios(ours, theirs);
  return {
    name,
    value: median(ratios),
    spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
    ...(target && { target }),
  };
}

/** Whether a target is met; undefined where there is none. */
export function isMet({ value, target }: Verdict): boolean | undefined {
  if (target === undefined) return undefined;
  return 'atMost' in target ? value <= target.atMost : value >= target.atLeast;
}
