import type { Bench } from '../bench.ts';
import { check } from '../json-client.ts';
import { alternate, timed } from '../measure.ts';
import { ChromedriverPeer } from '../peers/chromedriver.ts';
import { PuppeteerPeer } from '../peers/puppeteer.ts';
import { type Row, ratio } from '../row.ts';

/** Find a button by CSS, scroll, wait until it rests, hit-test, click, and prove that the click reached it. */
export const click: Row = {
  number: 4,
  title: 'find and click a button',
  async run(bench: Bench) {
    const url = `${bench.fixture.url}/button`;
    const rounds = { rounds: bench.some(100, 3), warmUp: bench.some(10, 1) };
    await using service = await bench.plainService();
    await using raw = await PuppeteerPeer.start(bench);
    await using driver = await ChromedriverPeer.start(bench);
    const session = await service.session();
    await service.navigate(session, url);
    await raw.load(url);
    const other = await driver.open();
    await driver.load(other, url);
    const samples = await alternate(
      bench,
      {
        async airlock() {
          const [ms, answer] = await timed(() => service.post(`${session}/click`, { target: '#b' }));
          answer.expect(200).is('ok', true);
          return ms;
        },
        puppeteer: async () => (await timed(() => raw.page.click('#b')))[0],
        chromedriver: async () => (await timed(() => driver.click(other, '#b')))[0],
      },
      rounds,
    );
    const counted = [
      await service.value(session, 'clicks'),
      await raw.page.evaluate('clicks'),
      await driver.value(other, 'clicks'),
    ];
    const wanted = rounds.rounds + rounds.warmUp;
    check(
      counted.every((clicks) => clicks === wanted),
      `of ${wanted} clicks each arrived: ${counted.join(', ')}`,
    );
    await driver.close(other);
    await service.close(session);
    return {
      series: [
        { name: 'Airlock', unit: 'ms', samples: samples.airlock },
        { name: 'puppeteer', unit: 'ms', samples: samples.puppeteer },
        { name: 'chromedriver', unit: 'ms', samples: samples.chromedriver },
      ],
      verdicts: [
        ratio('/ puppeteer page.click', samples.airlock, samples.puppeteer, { atMost: 1.2 }),
        ratio('/ chromedriver', samples.airlock, samples.chromedriver, { atMost: 0.3 }),
      ],
      notes: [
        'Airlock waits for the button to rest over two frames, hit-tests it and proves that the click arrived; page.click does none of it.',
      ],
    };
  },
};
