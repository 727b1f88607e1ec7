import type { Bench } from './bench.ts';

/** One turn of one side: does its work, checks the answer, and gives the figure, in milliseconds unless it says. */
export type Turn<T = number> = () => Promise<T>;

export interface Rounds {
  readonly rounds: number;
  /** Rounds before those that count. */
  readonly warmUp: number;
}

/**
 * Lets the sides take turns (A B A B …), so that a drift of the machine is in all of them alike, and gives the samples
 * of each. Sample n of every side is of the same round. More than two are shuffled in each round, because a turn leaves the
 * caches of the processor to the next one; none has two turns in a row.
 * @throws the reason of the bench's signal, between two turns
 */
export async function alternate<Side extends string, T = number>(
  bench: Bench,
  sides: Readonly<Record<Side, Turn<T>>>,
  { rounds, warmUp }: Rounds,
): Promise<Record<Side, T[]>> {
  const entries = Object.entries<Turn<T>>(sides);
  const samples = Object.fromEntries(entries.map(([side]) => [side, [] as T[]]));
  for (let round = -warmUp; round < rounds; round++) {
    shuffle(entries);
    for (const [side, turn] of entries) {
      bench.signal.throwIfAborted();
      const sample = await turn();
      if (round >= 0) samples[side]?.push(sample);
    }
  }
  return samples as Record<Side, T[]>;
}

/** In place, and never so that the last becomes the first. */
function shuffle<T>(items: T[]): void {
  const last = items.at(-1);
  do {
    for (let at = items.length - 1; at > 0; at--) {
      const other = Math.floor(Math.random() * (at + 1));
      const [a, b] = [items[at] as T, items[other] as T];
      items[at] = b;
      items[other] = a;
    }
  } while (items.length > 1 && items[0] === last);
}

/** How long `work` takes, in milliseconds, and what it gives. */
export async function timed<T>(work: () => Promise<T>): Promise<[number, T]> {
  const start = performance.now();
  const result = await work();
  return [performance.now() - start, result];
}

/** Calls that follow one another, in milliseconds. */
export interface Succession {
  /** The first: it comes after the turns of the other sides, to processes that have been idle meanwhile. */
  readonly first: number;
  /** The mean of all. */
  readonly each: number;
}

/** Makes `count` calls, each when the one before has its answer: what a caller with more than one thing to ask does. */
export async function inSuccession(count: number, call: () => Promise<void>): Promise<Succession> {
  const [first] = await timed(call);
  const [others] = await timed(async () => {
    for (let n = 1; n < count; n++) await call();
  });
  return { first, each: (first + others) / count };
}

/** A call of each turn. */
export function each(turns: readonly Succession[]): number[] {
  return turns.map((turn) => turn.each);
}

/** The first call of each turn. */
export function first(turns: readonly Succession[]): number[] {
  return turns.map((turn) => turn.first);
}
