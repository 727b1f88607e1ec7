import type { Bench } from './bench.ts';

/** One turn of one side: does its work, checks the answer, and gives the figure, in milliseconds unless it says. */
export type Turn = () => Promise<number>;

export interface Rounds {
  readonly rounds: number;
  /** Rounds before those that count. */
  readonly warmUp: number;
}

/**
 * Lets the sides take turns (A B A B …), so that a drift of the machine is in all of them alike, and gives the samples
 * of each. Sample n of every side is of the same round.
 * @throws the reason of the bench's signal, between two turns
 */
export async function alternate<Side extends string>(
  bench: Bench,
  sides: Readonly<Record<Side, Turn>>,
  { rounds, warmUp }: Rounds,
): Promise<Record<Side, number[]>> {
  const entries = Object.entries<Turn>(sides);
  const samples = Object.fromEntries(entries.map(([side]) => [side, [] as number[]]));
  for (let round = -warmUp; round < rounds; round++) {
    for (const [side, turn] of entries) {
      bench.signal.throwIfAborted();
      const sample = await turn();
      if (round >= 0) samples[side]?.push(sample);
    }
  }
  return samples as Record<Side, number[]>;
}

/** How long `work` takes, in milliseconds, and what it gives. */
export async function timed<T>(work: () => Promise<T>): Promise<[number, T]> {
  const start = performance.now();
  const result = await work();
  return [performance.now() - start, result];
}
