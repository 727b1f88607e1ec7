import { expect, test } from 'vitest';
import { median, type Point, pairwiseRatios, quantile, slope, trend } from '../../bench/statistics.ts';

test('quantiles lie between their neighbours in proportion, and do not change what they are given', () => {
  const samples = [4, 1, 3, 2];
  expect([median(samples), quantile(samples, 0.25), quantile(samples, 1)]).toEqual([2.5, 1.75, 4]);
  expect(samples).toEqual([4, 1, 3, 2]);
  expect(median([])).toBeNaN();
});

test('a drift that hits both sides is in no ratio', () => {
  const theirs = [10, 20, 40, 80];
  const ours = theirs.map((value) => value * 1.5);
  expect(pairwiseRatios(ours, theirs)).toEqual([1.5, 1.5, 1.5, 1.5]);
  expect(() => pairwiseRatios([1], [1, 2])).toThrow(RangeError);
});

test('a burst does not move the slope', () => {
  const points = Array.from({ length: 21 }, (_, i): Point => [i, i === 10 ? 1e6 : 2 * i]);
  expect(slope(points)).toBe(2);
});

const limit = { share: 0.05, least: 4 };
const curve = (y: (x: number) => number) => Array.from({ length: 100 }, (_, x): Point => [x, y(x)]);

test('a curve that rises at first and then rests is flat; one that rises to its end is not', () => {
  expect(
    trend(
      curve((x) => Math.min(x, 40) + 100),
      limit,
    ).flat,
  ).toBe(true);
  const leak = trend(
    curve((x) => x + 100),
    limit,
  );
  expect([leak.flat, leak.growth]).toEqual([false, 49]);
});

test('a curve that falls, or is too short to say, is flat', () => {
  expect(
    trend(
      curve((x) => 1000 - x),
      limit,
    ).flat,
  ).toBe(true);
  expect(trend([[1, 1]], limit)).toMatchObject({ growth: 0, flat: true });
  expect(trend([], limit).flat).toBe(true);
});
