import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import type { Growth } from '../growths.ts';
import { check } from '../json-client.ts';
import { timed } from '../measure.ts';
import { peakMiB, residentMiB } from '../memory.ts';
import { plot } from '../plot.ts';
import type { Point } from '../statistics.ts';

const AXIS = { label: 'nodes of the heap', scale: 'log' } as const;
const LIMIT_MS = 300_000;
/** An object and its string: two nodes each. */
const NODES_OF_ONE = 2;

/** How long a heap snapshot and its figures take, and what the service needs for them, as the heap grows. */
export const heapGrowth: Growth = {
  name: 'growth-heap',
  async run(bench: Bench, dir: string) {
    const takes: Point[] = [];
    const summaries: Point[] = [];
    const memory: Point[] = [];
    const files: Point[] = [];
    for (const wanted of bench.quick ? [100_000] : [100_000, 300_000, 1_000_000, 3_000_000]) {
      bench.signal.throwIfAborted();
      await using service = await bench.plainService();
      const session = await service.session();
      await service.navigate(session, `${bench.fixture.url}/small`);
      const objects = Math.round(wanted / NODES_OF_ONE);
      await service.value(
        session,
        `globalThis.kept = Array.from({ length: ${objects} }, (_, i) => ({ name: 'n' + i })), 1`,
      );
      const before = await residentMiB(service.pid);
      const body = { timeoutMs: LIMIT_MS };
      const [takeMs, taken] = await timed(() => service.post(`${session}/heap/snapshots`, body));
      const nodes = taken.expect(201).number('nodes');
      check(nodes >= wanted * 0.9, `the heap has ${nodes} nodes, not ${wanted}`);
      const path = `${session}/heap/snapshots/${taken.text('id')}?timeoutMs=${LIMIT_MS}`;
      const [summaryMs, summary] = await timed(() => service.get(path));
      summary.expect(200).is('nodes', nodes);
      takes.push([nodes, takeMs / 1000]);
      summaries.push([nodes, summaryMs / 1000]);
      files.push([nodes, taken.number('bytes') / 1024 ** 2]);
      memory.push([nodes, (await peakMiB(service.pid)) - before]);
      await service.close(session);
    }
    const svg = plot('Heap snapshot: cost as the heap grows', 'Objects with a string each. One run each.', [
      {
        title: 'Time',
        x: AXIS,
        y: { label: 'seconds', scale: 'log' },
        lines: [
          { name: 'take', points: takes },
          { name: 'read and sum up', points: summaries },
        ],
      },
      {
        title: 'Memory and disk',
        x: AXIS,
        y: { label: 'MiB', scale: 'log' },
        lines: [
          { name: 'service, at its peak', points: memory },
          { name: 'file', points: files },
        ],
      },
    ]);
    const file = join(dir, 'growth-heap.svg');
    await writeFile(file, svg);
    return [file];
  },
};
