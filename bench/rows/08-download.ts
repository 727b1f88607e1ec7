import type { Bench } from '../bench.ts';
import { check } from '../json-client.ts';
import { alternate } from '../measure.ts';
import { PuppeteerPeer } from '../peers/puppeteer.ts';
import { type Row, ratio } from '../row.ts';

const LIMIT_MS = 120_000;

/** A page that reads a large body to its end as it comes, and says how fast. */
export const download: Row = {
  number: 8,
  title: 'a 200 MB body through the floor',
  async run(bench: Bench) {
    const megabytes = bench.some(200, 20);
    const url = bench.fixture.url;
    await using service = await bench.plainService();
    await using direct = await PuppeteerPeer.start(bench);
    const session = await service.session();
    await service.navigate(session, `${url}/small`);
    await direct.load(`${url}/small`);
    const expression = reader(megabytes);
    const samples = await alternate(
      bench,
      {
        airlock: async () => speed(await service.value(session, expression, LIMIT_MS), megabytes),
        direct: async () => speed(await direct.page.evaluate(expression), megabytes),
      },
      { rounds: bench.some(9, 1), warmUp: 1 },
    );
    const counters = (await service.get(session)).expect(200);
    const through = counters.number('floor.bytesIn');
    check(through >= megabytes * 1024 * 1024, `the floor counts ${through} bytes`);
    await service.close(session);
    return {
      series: [
        { name: 'Airlock', unit: 'MB/s', samples: samples.airlock },
        { name: 'no proxy', unit: 'MB/s', samples: samples.direct },
      ],
      verdicts: [ratio('/ no proxy', samples.airlock, samples.direct, { atLeast: 0.6 })],
    };
  },
};

function reader(megabytes: number): string {
  return `(async () => {
    const start = performance.now();
    const response = await fetch('/big?mb=${megabytes}');
    const reader = response.body.getReader();
    let bytes = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value.length;
    return [bytes, performance.now() - start];
  })()`;
}

/** Megabytes per second, of a body that came whole. */
function speed(answer: unknown, megabytes: number): number {
  const [bytes, ms] = Array.isArray(answer) ? answer.map(Number) : [];
  check(bytes === megabytes * 1024 * 1024 && ms !== undefined, `${String(bytes)} bytes came`);
  return bytes / 1000 / ms;
}
