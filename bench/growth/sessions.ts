import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import type { Growth } from '../growths.ts';
import { runTogether } from '../many-sessions.ts';
import { plot } from '../plot.ts';
import { type Point, quantile } from '../statistics.ts';

const AXIS = { label: 'sessions at once', scale: 'linear' } as const;

/** How much work comes out, and how long one operation waits, as sessions grow. */
export const sessionsGrowth: Growth = {
  name: 'growth-sessions',
  async run(bench: Bench, dir: string) {
    const perSecond: Point[] = [];
    const latency = new Map<string, Point[]>();
    for (const sessions of bench.quick ? [1, 2] : [1, 5, 10, 20]) {
      await using service = await bench.plainService(['--max-sessions', '32']);
      const measured = await runTogether(bench, service, sessions, bench.some(25, 1));
      perSecond.push([sessions, measured.perSecond]);
      for (const [name, samples] of Object.entries(measured.times)) {
        latency.set(name, [...(latency.get(name) ?? []), [sessions, quantile(samples, 0.5)]]);
      }
    }
    const cores = cpus().length;
    const svg = plot(
      'Sessions at once',
      `Each in a loop of navigate, snapshot, click, eval; ${cores} cores for service, browsers, pages and clients together.`,
      [
        {
          title: 'Work done',
          x: AXIS,
          y: { label: 'operations per second', scale: 'linear' },
          lines: [{ name: 'all sessions', points: perSecond }],
        },
        {
          title: 'Waiting for one',
          x: AXIS,
          y: { label: 'median, milliseconds', scale: 'log' },
          lines: [...latency].map(([name, points]) => ({ name, points })),
        },
      ],
    );
    const file = join(dir, 'growth-sessions.svg');
    await writeFile(file, svg);
    return [file];
  },
};
