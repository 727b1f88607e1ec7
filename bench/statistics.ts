/** The figures of a series. Nothing here knows what was measured. */

/** The value below which the share `q` (0 to 1) of the samples lies, between neighbours in proportion; NaN of none. */
export function quantile(samples: readonly number[], q: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/**
 * What one series is to another, pair by pair: sample n of both was taken in the same round, so that whatever slowed
 * the machine down in that round is in both and falls out of the ratio.
 * @throws RangeError the series are not of the same length
 */
export function pairwiseRatios(ours: readonly number[], theirs: readonly number[]): number[] {
  if (ours.length !== theirs.length) throw new RangeError(`${ours.length} and ${theirs.length} samples`);
  return ours.map((value, i) => value / (theirs[i] ?? Number.NaN));
}

/** A point: x and y. */
export type Point = readonly [number, number];

/**
 * The slope of a line through points by Theil and Sen: the median of the slopes of all pairs. A burst or a dip does not
 * move it, as it would move least squares. Quadratic in the number of points: some hundreds at most.
 */
export function slope(points: readonly Point[]): number {
  const slopes: number[] = [];
  for (const [i, [x1, y1]] of points.entries()) {
    for (const [x2, y2] of points.slice(i + 1)) {
      if (x2 !== x1) slopes.push((y2 - y1) / (x2 - x1));
    }
  }
  return median(slopes);
}

/** How a series of y over x goes on at its end. */
export interface Trend {
  /** Growth over the last half, by its slope, in units of y. */
  readonly growth: number;
  /** The most that counts as flat. */
  readonly allowed: number;
  readonly flat: boolean;
}

/**
 * Whether a series has come to rest: over its last half it grows by no more than `share` of its size, or by no more than
 * `least`, below which growth says nothing.
 */
export function trend(points: readonly Point[], limit: { share: number; least: number }): Trend {
  const half = thin(points.slice(points.length >> 1), 400);
  const first = half[0]?.[0] ?? 0;
  const last = half.at(-1)?.[0] ?? 0;
  const growth = half.length < 3 ? 0 : slope(half) * (last - first);
  const size = half.length === 0 ? 0 : median(half.map(([, y]) => y));
  const allowed = Math.max(limit.least, limit.share * size);
  return { growth, allowed, flat: growth <= allowed };
}

/** Every n-th point, so that at most `most` are left. */
function thin(points: readonly Point[], most: number): Point[] {
  const step = Math.ceil(points.length / most) || 1;
  return points.filter((_, i) => i % step === 0);
}
