/** From a value to a place on an axis, and the values that are named on it. */
export interface Scale {
  /** 0 at the start of the axis, 1 at its end. */
  at(value: number): number;
  readonly ticks: readonly number[];
}

/** Equal steps are equal distances. Starts at 0, and ends at a round value. */
export function linearScale(values: readonly number[]): Scale {
  const top = Math.max(...values, 0) || 1;
  const rough = top / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * ([1, 2, 5, 10].find((factor) => factor * unit >= rough) ?? 10);
  const end = Math.ceil(top / step - 1e-9) * step;
  const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, i) => tidy(i * step));
  return { ticks, at: (value) => value / end };
}

/** Equal factors are equal distances. Values of 0 and less have no place on it and must not be given. */
export function logScale(values: readonly number[]): Scale {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const all = steps(low, high, [1, 2, 5]);
  // Over many decades the powers of ten are enough.
  const wide = Math.log10(high / low) > 2.5;
  const ticks = wide ? steps(low, high, [1]) : all;
  const start = Math.log10(Math.min(low, ticks[0] ?? low));
  const end = Math.log10(Math.max(high, ticks.at(-1) ?? high));
  const length = end - start || 1;
  return { ticks, at: (value) => (Math.log10(value) - start) / length };
}

/** The round values from the last one below `low` to the first one above `high`. */
function steps(low: number, high: number, factors: readonly number[]): number[] {
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const factor of factors) found.push(tidy(factor * 10 ** power));
  }
  const first = found.findLastIndex((value) => value <= low);
  const last = found.findIndex((value) => value >= high);
  return found.slice(Math.max(0, first), last === -1 ? undefined : last + 1);
}

/** Without the dust of binary fractions. */
function tidy(value: number): number {
  return Number(value.toPrecision(12));
}
