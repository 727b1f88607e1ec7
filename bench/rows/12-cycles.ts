import type { Bench } from '../bench.ts';
import { residentMiB } from '../memory.ts';
import type { Row } from '../row.ts';
import { type Point, trend } from '../statistics.ts';

/** At one time, so that the run is not mostly waiting. */
const LANES = 3;
/** Flat: over the last half no more than this. */
const LIMIT = { share: 0.05, least: 4 };

/** The service's own memory while sessions come and go. */
export const cycles: Row = {
  number: 12,
  title: 'service memory over 1 000 create/close cycles',
  async run(bench: Bench) {
    const total = bench.some(1000, 6);
    await using service = await bench.plainService();
    const points: Point[] = [];
    let started = 0;
    let done = 0;
    const lane = async (): Promise<void> => {
      while (started < total) {
        bench.signal.throwIfAborted();
        started += 1;
        const session = await service.session();
        await service.value(session, '1+1');
        await service.close(session);
        done += 1;
        if (done % 5 === 0) points.push([done, await residentMiB(service.pid)]);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    const { growth, allowed } = trend(points, LIMIT);
    return {
      series: [{ name: 'Airlock, resident', unit: 'MiB', samples: points.map(([, mib]) => mib) }],
      verdicts: [
        {
          name: `growth over the last ${total / 2}`,
          value: growth,
          unit: 'MiB',
          target: { atMost: allowed },
        },
      ],
      notes: [`Resident memory from ${points[0]?.[1].toFixed(0)} to ${points.at(-1)?.[1].toFixed(0)} MiB.`],
    };
  },
};
