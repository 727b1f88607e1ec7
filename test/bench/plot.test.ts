import { expect, test } from 'vitest';
import { type Panel, plot } from '../../bench/plot.ts';

const panel = (lines: Panel['lines'], scale: 'linear' | 'log' = 'log'): Panel => ({
  title: 'Time',
  x: { label: 'elements', scale },
  y: { label: 'ms', scale },
  lines,
});

/** Every number in a position. */
function places(svg: string): number[] {
  const attributes = [...svg.matchAll(/ (?:x|y|cx|cy)="([^"]*)"/g)].map((match) => match[1]);
  const paths = [...svg.matchAll(/ d="([^"]*)"/g)].flatMap((match) => match[1]?.match(/[^MLVH ]+/g) ?? []);
  return [...attributes, ...paths].map(Number);
}

test('everything is inside of the picture, and nothing has no place', () => {
  const lines = [
    {
      name: 'one',
      points: [
        [1, 0.02],
        [1e5, 9000],
      ] as const,
    },
    {
      name: 'two',
      points: [
        [1, 3],
        [1e5, 8900],
      ] as const,
      dashed: true,
    },
  ];
  const svg = plot('Title', 'note', [panel(lines), panel(lines)]);
  const [, width = 0, height = 0] = (/viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? []).map(Number);
  expect(places(svg).length).toBeGreaterThan(40);
  for (const place of places(svg)) {
    expect(place).toBeGreaterThanOrEqual(0);
    expect(place).toBeLessThanOrEqual(Math.max(width, height));
  }
});

test('names of lines that end at the same place do not cover each other', () => {
  const points = [
    [1, 10],
    [10, 100],
  ] as const;
  const names = ['a', 'b', 'c', 'd'];
  const svg = plot('Title', '', [panel(names.map((name) => ({ name, points })))]);
  const rows = names.map((name) => Number(new RegExp(`y="([\\d.]+)"[^>]*>${name}</text>`).exec(svg)?.[1]));
  const gaps = rows
    .toSorted((a, b) => a - b)
    .flatMap((y, i, all) => (i === 0 ? [] : [y - (all[i - 1] ?? 0)]));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(12);
});

test('text cannot break out of the markup, and a panel without points still draws', () => {
  const svg = plot('a < b & c', '', [panel([{ name: '<x>', points: [] }], 'linear')]);
  expect(svg).toContain('a &lt; b &amp; c');
  expect(svg).not.toMatch(/NaN|Infinity|<x>/);
});
