import type { Bench } from '../bench.ts';
import { check } from '../json-client.ts';
import { alternate, each, first, inSuccession } from '../measure.ts';
import { BareHttp } from '../peers/bare-http.ts';
import { ChromedriverPeer } from '../peers/chromedriver.ts';
import { PuppeteerPeer } from '../peers/puppeteer.ts';
import { type Row, ratio } from '../row.ts';

/** Of each turn. */
const CALLS = 10;

/** The smallest operation: what a request costs by itself. */
export const evalRow: Row = {
  number: 3,
  title: 'eval of 1+1 over HTTP',
  async run(bench: Bench) {
    const url = `${bench.fixture.url}/small`;
    await using service = await bench.plainService();
    await using raw = await PuppeteerPeer.start(bench);
    await using driver = await ChromedriverPeer.start(bench);
    const session = await service.session();
    await service.navigate(session, url);
    await raw.load(url);
    const cdp = await raw.cdp();
    await using bare = await BareHttp.start(bench, url);
    const other = await driver.open();
    await driver.load(other, url);
    const turn = (name: string, call: () => Promise<unknown>) => () =>
      inSuccession(CALLS, async () => {
        const value = await call();
        check(value === 2, `${name} gave ${String(value)}`);
      });
    const samples = await alternate(
      bench,
      {
        airlock: turn('eval', () => service.value(session, '1+1')),
        cdp: turn('CDP', async () => {
          const { result } = await cdp.send('Runtime.evaluate', { expression: '1+1', returnByValue: true });
          return result.value;
        }),
        bare: turn('the bare server', () => bare.value('1+1')),
        chromedriver: turn('execute/sync', () => driver.value(other, '1+1')),
      },
      { rounds: bench.some(200, 5), warmUp: bench.some(30, 2) },
    );
    await driver.close(other);
    await service.close(session);
    return {
      series: [
        { name: 'Airlock', unit: 'ms', samples: each(samples.airlock) },
        { name: 'Airlock, after a pause', unit: 'ms', samples: first(samples.airlock) },
        { name: 'CDP, raw', unit: 'ms', samples: each(samples.cdp) },
        { name: 'CDP, raw, after a pause', unit: 'ms', samples: first(samples.cdp) },
        { name: 'bare HTTP over CDP', unit: 'ms', samples: each(samples.bare) },
        { name: 'chromedriver', unit: 'ms', samples: each(samples.chromedriver) },
        { name: 'chromedriver, after a pause', unit: 'ms', samples: first(samples.chromedriver) },
      ],
      verdicts: [
        ratio('/ CDP, raw', each(samples.airlock), each(samples.cdp), { atMost: 2 }),
        ratio('/ CDP, raw, after a pause', first(samples.airlock), first(samples.cdp), { atMost: 2 }),
        ratio('/ chromedriver', each(samples.airlock), each(samples.chromedriver), { atMost: 0.3 }),
        ratio('/ chromedriver, after a pause', first(samples.airlock), first(samples.chromedriver)),
        ratio('/ bare HTTP over CDP', each(samples.airlock), each(samples.bare)),
        ratio('bare HTTP over CDP / CDP, raw', each(samples.bare), each(samples.cdp)),
        ratio(
          'bare HTTP over CDP / chromedriver, after a pause',
          first(samples.bare),
          first(samples.chromedriver),
        ),
      ],
      notes: [
        `${CALLS} calls follow one another in each turn, and the figure is their mean. The first of them comes after a pause, in which the other sides have their turns.`,
        "Bare HTTP over CDP: Node's own HTTP server in a process of its own, which hands each request to CDP and does nothing else. It is the least that such a service takes.",
      ],
    };
  },
};
