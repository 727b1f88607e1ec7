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
        /** The same button as a new element, that nobody has looked at. */
        async unseen() {
          await service.value(session, 'b.replaceWith(b.cloneNode(true)), 0');
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
      counted.every((clicks, index) => clicks === (index === 0 ? 2 * wanted : wanted)),
      `of ${wanted} clicks each, twice as many of ours, arrived: ${counted.join(', ')}`,
    );
    await driver.close(other);
    await service.close(session);
    return {
      series: [
        { name: 'Airlock', unit: 'ms', samples: samples.airlock },
        { name: 'Airlock, an element that nobody looked at', unit: 'ms', samples: samples.unseen },
        { name: 'puppeteer', unit: 'ms', samples: samples.puppeteer },
        { name: 'chromedriver', unit: 'ms', samples: samples.chromedriver },
      ],
      verdicts: [
        ratio('/ puppeteer page.click', samples.airlock, samples.puppeteer, { atMost: 1.2 }),
        ratio('/ chromedriver', samples.airlock, samples.chromedriver, { atMost: 0.3 }),
        ratio('an element that nobody looked at / chromedriver', samples.unseen, samples.chromedriver),
      ],
      notes: [
        'Airlock sees that the button rests over two frames, hit-tests it and proves that the click arrived; page.click does none of it. The button was looked at before, as after a snapshot; one that was not costs a frame.',
      ],
    };
  },
};
