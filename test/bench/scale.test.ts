import { expect, test } from 'vitest';
import { linearScale, logScale } from '../../bench/scale.ts';

test('a linear axis starts at 0, ends at a round value and names some on the way', () => {
  const scale = linearScale([3, 17]);
  expect(scale.ticks).toEqual([0, 5, 10, 15, 20]);
  expect([scale.at(0), scale.at(10), scale.at(20)]).toEqual([0, 0.5, 1]);
});

test('a linear axis of fractions has no dust of binary numbers in its names', () => {
  expect(linearScale([0.6]).ticks).toEqual([0, 0.2, 0.4, 0.6]);
});

test('a logarithmic axis holds all values, and gives each factor the same room', () => {
  const scale = logScale([95, 99_000]);
  expect(scale.ticks).toEqual([10, 100, 1000, 10_000, 100_000]);
  expect(scale.at(10_000) - scale.at(1000)).toBeCloseTo(scale.at(1000) - scale.at(100));
  for (const value of [95, 99_000]) {
    expect(scale.at(value)).toBeGreaterThanOrEqual(0);
    expect(scale.at(value)).toBeLessThanOrEqual(1);
  }
});

test('few decades are told apart by 1, 2 and 5', () => {
  expect(logScale([1, 16, 256]).ticks).toEqual([1, 2, 5, 10, 20, 50, 100, 200, 500]);
});

test('one value alone has a place on either axis', () => {
  for (const scale of [linearScale([7]), logScale([7])]) {
    expect(scale.at(7)).toBeGreaterThanOrEqual(0);
    expect(scale.at(7)).toBeLessThanOrEqual(1);
  }
  expect(linearScale([0]).at(0)).toBe(0);
});
