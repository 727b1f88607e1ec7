import type { Bench } from '../bench.ts';
import { runTogether } from '../many-sessions.ts';
import type { Row } from '../row.ts';
import { quantile } from '../statistics.ts';

/** Twenty callers at once, each with a browser of its own in a loop of navigate, snapshot, click, eval. */
export const manySessions: Row = {
  number: 13,
  title: '20 sessions at once: navigate, snapshot, click, eval',
  async run(bench: Bench) {
    await using service = await bench.plainService(['--max-sessions', '32']);
    const sessions = bench.some(20, 3);
    const { times, perSecond } = await runTogether(bench, service, sessions, bench.some(20, 2));
    const kinds = Object.entries(times);
    const worst = Math.max(...kinds.map(([, ms]) => quantile(ms, 0.99) / quantile(ms, 0.5)));
    return {
      series: kinds.map(([name, samples]) => ({ name, unit: 'ms', samples })),
      verdicts: [
        { name: 'operations per second', value: perSecond, unit: 'per second' },
        { name: 'p99 / p50, the worst operation', value: worst, target: { atMost: 5 } },
      ],
      notes: [
        `${sessions} sessions, no error. That it scales with cores is in the plot of growth: on this machine the browsers themselves take all of them.`,
      ],
    };
  },
};
