import type { Bench } from '../bench.ts';
import { check } from '../json-client.ts';
import { alternate, timed } from '../measure.ts';
import { firstConnection } from '../peers/first-connection.ts';
import { PeerHome } from '../peers/home.ts';
import { launchPuppeteer } from '../peers/puppeteer.ts';
import { type Row, ratio } from '../row.ts';

/** A session with all that makes it safe, against the start of the same browser alone. */
export const createCold: Row = {
  number: 2,
  title: 'create a session cold',
  async run(bench: Bench) {
    await using service = await bench.plainService();
    // Of each start of puppeteer's: when its page has answered.
    const usable: number[] = [];
    const warmUp = 2;
    const samples = await alternate(
      bench,
      {
        async airlock() {
          const [ms, session] = await timed(() => service.session());
          check((await service.value(session, '1+1')) === 2, 'a new session does not work');
          await service.close(session);
          return ms;
        },
        async puppeteer() {
          const { launched, answered } = await launchOnce(bench);
          usable.push(answered);
          return launched;
        },
        connection: () => firstConnection(bench),
      },
      { rounds: bench.some(30), warmUp },
    );
    const answered = usable.slice(warmUp);
    return {
      series: [
        { name: 'Airlock', unit: 'ms', samples: samples.airlock },
        { name: 'puppeteer.launch', unit: 'ms', samples: samples.puppeteer },
        { name: 'puppeteer.launch and first evaluate', unit: 'ms', samples: answered },
        { name: 'the first connection of a Chrome', unit: 'ms', samples: samples.connection },
      ],
      verdicts: [
        ratio('/ puppeteer.launch and first evaluate', samples.airlock, answered, { atMost: 1.15 }),
        ratio('/ puppeteer.launch', samples.airlock, samples.puppeteer, { atMost: 1.15 }),
        ratio('/ the first connection of a Chrome', samples.airlock, samples.connection),
        ratio('the first connection of a Chrome / puppeteer.launch', samples.connection, samples.puppeteer),
      ],
      notes: [
        'Airlock: workspace, floor, Chrome, URL guard and the proof that its traffic comes out at the floor, over HTTP; the page can be used. puppeteer.launch answers before the renderer of its page has started, so its first evaluate is timed too. The first connection of a Chrome, with the address on its command line, is the earliest moment at which it can be seen where its traffic goes.',
      ],
    };
  },
};

async function launchOnce(bench: Bench): Promise<{ launched: number; answered: number }> {
  const [launched, { browser, home }] = await timed(async () => {
    const made = await PeerHome.make(bench);
    return { browser: await launchPuppeteer(bench, made, made.flags), home: made };
  });
  try {
    const [more, value] = await timed(async () => (await browser.pages())[0]?.evaluate('1+1'));
    check(value === 2, 'a browser of puppeteer does not work');
    return { launched, answered: launched + more };
  } finally {
    await browser.close();
    await home[Symbol.asyncDispose]();
  }
}
