import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import type { Growth } from '../growths.ts';
import { check } from '../json-client.ts';
import { timed } from '../measure.ts';
import { peakMiB, residentMiB } from '../memory.ts';
import { PuppeteerPeer } from '../peers/puppeteer.ts';
import { plot } from '../plot.ts';
import type { Point } from '../statistics.ts';

const AXIS = { label: 'nodes of the heap', scale: 'log' } as const;
const LIMIT_MS = 300_000;
/** An object and its string: two nodes each. */
const NODES_OF_ONE = 2;
/** The renderer of Chrome 156 dies of a snapshot of five million, over raw CDP too, whatever the nodes are. */
const MOST = 4_000_000;

/** How long a heap snapshot and its figures take, and what the service needs for them, as the heap grows. */
export const heapGrowth: Growth = {
  name: 'growth-heap',
  async run(bench: Bench, dir: string) {
    const takes: Point[] = [];
    const raws: Point[] = [];
    const summaries: Point[] = [];
    const memory: Point[] = [];
    const files: Point[] = [];
    for (const wanted of bench.quick ? [100_000] : [100_000, 300_000, 1_000_000, MOST]) {
      bench.signal.throwIfAborted();
      await using service = await bench.plainService();
      const session = await service.session();
      await service.navigate(session, `${bench.fixture.url}/small`);
      const objects = Math.round(wanted / NODES_OF_ONE);
      const fill = `globalThis.kept = Array.from({ length: ${objects} }, (_, i) => ({ name: 'n' + i })), 1`;
      await service.value(session, fill);
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
      raws.push([nodes, (await rawTake(bench, fill)) / 1000]);
    }
    const svg = plot('Heap snapshot: cost as the heap grows', 'Objects with a string each. One run each.', [
      {
        title: 'Time',
        x: AXIS,
        y: { label: 'seconds', scale: 'log' },
        lines: [
          { name: 'take', points: takes },
          { name: 'take, raw CDP', points: raws },
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

/** Milliseconds that Chrome itself takes, its answer read and thrown away. */
async function rawTake(bench: Bench, fill: string): Promise<number> {
  await using raw = await PuppeteerPeer.start(bench);
  await raw.load(`${bench.fixture.url}/small`);
  await raw.page.evaluate(fill);
  const cdp = await raw.cdp();
  let characters = 0;
  cdp.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => {
    characters += chunk.length;
  });
  const [ms] = await timed(() =>
    cdp.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false }, { timeout: LIMIT_MS }),
  );
  check(characters > 100_000, `a heap snapshot of ${characters} characters`);
  return ms;
}
