import type { Bench } from '../bench.ts';
import { check } from '../json-client.ts';
import { alternate, timed } from '../measure.ts';
import { PeerHome } from '../peers/home.ts';
import { launchPuppeteer } from '../peers/puppeteer.ts';
import { type Row, ratio } from '../row.ts';

/** A session with all that makes it safe, against the start of the same browser alone. */
export const createCold: Row = {
  number: 2,
  title: 'create a session cold',
  async run(bench: Bench) {
    await using service = await bench.plainService();
    const samples = await alternate(
      bench,
      {
        async airlock() {
          const [ms, session] = await timed(() => service.session());
          check((await service.value(session, '1+1')) === 2, 'a new session does not work');
          await service.close(session);
          return ms;
        },
        puppeteer: () => launchOnce(bench),
      },
      { rounds: bench.some(30), warmUp: 2 },
    );
    return {
      series: [
        { name: 'Airlock', unit: 'ms', samples: samples.airlock },
        { name: 'puppeteer.launch', unit: 'ms', samples: samples.puppeteer },
      ],
      verdicts: [ratio('/ puppeteer.launch', samples.airlock, samples.puppeteer, { atMost: 1.15 })],
      notes: [
        'Airlock: workspace, floor, Chrome, URL guard and the proof that its traffic comes out at the floor, over HTTP.',
      ],
    };
  },
};

async function launchOnce(bench: Bench): Promise<number> {
  const [ms, { browser, home }] = await timed(async () => {
    const made = await PeerHome.make(bench);
    return { browser: await launchPuppeteer(bench, made, made.flags), home: made };
  });
  try {
    const [page] = await browser.pages();
    check((await page?.evaluate('1+1')) === 2, 'a browser of puppeteer does not work');
  } finally {
    await browser.close();
    await home[Symbol.asyncDispose]();
  }
  return ms;
}
