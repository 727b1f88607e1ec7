import type { Bench } from '../bench.ts';
import { check } from '../json-client.ts';
import { alternate, timed } from '../measure.ts';
import { MANY } from '../pages.ts';
import { PuppeteerPeer } from '../peers/puppeteer.ts';
import { type Row, ratio } from '../row.ts';

/** A page of 100 sub-resources over four origins; every load opens its connections anew, as a first visit does. */
export const pageLoad: Row = {
  number: 7,
  title: 'load a page of 100 sub-resources through the floor',
  async run(bench: Bench) {
    const url = `${bench.fixture.url}/many`;
    await using service = await bench.plainService();
    await using direct = await PuppeteerPeer.start(bench);
    const session = await service.session();
    const samples = await alternate(
      bench,
      {
        async airlock() {
          await bench.fixture.reset();
          const [ms] = await timed(() => service.navigate(session, url));
          await allCame(bench, 'through the floor');
          return ms;
        },
        async direct() {
          await bench.fixture.reset();
          const [ms] = await timed(() => direct.load(url));
          await allCame(bench, 'direct');
          return ms;
        },
      },
      { rounds: bench.some(120, 2), warmUp: 5 },
    );
    await service.close(session);
    return {
      series: [
        { name: 'Airlock', unit: 'ms', samples: samples.airlock },
        { name: 'no proxy', unit: 'ms', samples: samples.direct },
      ],
      verdicts: [ratio('/ no proxy', samples.airlock, samples.direct, { atMost: 1.1 })],
    };
  },
};

/** The server saw the page and each of its parts once. */
async function allCame(bench: Bench, how: string): Promise<void> {
  const counts = await bench.fixture.counts();
  const parts = [...counts].filter(([path]) => path.startsWith('/many/'));
  const once = parts.every(([, count]) => count === 1) && counts.get('/many') === 1;
  check(once && parts.length === MANY, `${how}, ${parts.length} of ${MANY} parts were asked for once`);
}
