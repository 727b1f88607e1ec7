import { COLLECTED_ON_DEMAND } from '../airlock.ts';
import type { Bench } from '../bench.ts';
import { residentMiB } from '../memory.ts';
import type { Row } from '../row.ts';
import { type Point, trend } from '../statistics.ts';

/** At one time, so that the run is not mostly waiting. */
const LANES = 3;
/** Flat: over the last half no more than this. */
const LIMIT = { share: 0.05, least: 4 };

/** Readings are this many cycles apart. */
const STEP = 20;

/**
 * The service's own memory while sessions come and go. V8 lets garbage grow for some hundred sessions before it collects all
 * of it, so what tells of a leak is the memory after a collection; what it holds before is shown beside it.
 */
export const cycles: Row = {
  number: 12,
  title: 'service memory over 1 000 create/close cycles',
  async run(bench: Bench) {
    const total = bench.some(1000, 6);
    await using service = await bench.plainService([], COLLECTED_ON_DEMAND);
    const before: number[] = [];
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
        if (done % STEP !== 0) continue;
        const at = done;
        before.push(await residentMiB(service.pid));
        await service.collect();
        points.push([at, await residentMiB(service.pid)]);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    const { growth, allowed } = trend(points, LIMIT);
    return {
      series: [
        { name: 'Airlock, resident after a collection', unit: 'MiB', samples: points.map(([, mib]) => mib) },
        { name: 'before it', unit: 'MiB', samples: before },
      ],
      verdicts: [
        {
          name: `growth over the last ${total / 2}`,
          value: growth,
          unit: 'MiB',
          target: { atMost: allowed },
        },
      ],
      notes: [
        `Resident memory from ${points[0]?.[1].toFixed(0)} to ${points.at(-1)?.[1].toFixed(0)} MiB. It is collected every ${STEP} cycles here; by itself V8 lets it grow by some 100 MiB over 800 cycles, and falls back.`,
      ],
    };
  },
};
