import { processesWith } from '../../test/support/processes.ts';
import type { Bench } from '../bench.ts';
import { check } from '../json-client.ts';
import { alternate, timed } from '../measure.ts';
import { PuppeteerPeer } from '../peers/puppeteer.ts';
import { type Row, ratio } from '../row.ts';
import { median } from '../statistics.ts';

/** From DELETE to the receipt, which proves that no process and no file is left; puppeteer closes, and we remove. */
export const close: Row = {
  number: 10,
  title: 'close to proven zero',
  async run(bench: Bench) {
    const url = `${bench.fixture.url}/many`;
    await using service = await bench.plainService();
    const samples = await alternate(
      bench,
      {
        async airlock() {
          const session = await service.session();
          await service.navigate(session, url);
          const [ms] = await timed(() => service.close(session));
          const left = await processesWith(session.slice('/v1/sessions/'.length));
          check(left.length === 0, `after the receipt there is ${left[0]?.args}`);
          return ms;
        },
        async puppeteer() {
          const peer = await PuppeteerPeer.start(bench);
          await peer.load(url);
          return (await timed(() => peer[Symbol.asyncDispose]()))[0];
        },
      },
      { rounds: bench.some(30), warmUp: 2 },
    );
    return {
      series: [
        { name: 'Airlock', unit: 'ms', samples: samples.airlock },
        { name: 'puppeteer close + rm', unit: 'ms', samples: samples.puppeteer },
      ],
      verdicts: [
        { name: 'milliseconds', value: median(samples.airlock), unit: 'ms', target: { atMost: 400 } },
        ratio('/ puppeteer close + rm', samples.airlock, samples.puppeteer, { atMost: 1.5 }),
      ],
    };
  },
};
