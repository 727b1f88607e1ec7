import type { Bench } from '../bench.ts';
import { check } from '../json-client.ts';
import { alternate, timed } from '../measure.ts';
import { BareHttp } from '../peers/bare-http.ts';
import { ChromedriverPeer } from '../peers/chromedriver.ts';
import { PuppeteerPeer } from '../peers/puppeteer.ts';
import { type Row, ratio } from '../row.ts';

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
    const samples = await alternate(
      bench,
      {
        async airlock() {
          const [ms, value] = await timed(() => service.value(session, '1+1'));
          check(value === 2, `eval gave ${String(value)}`);
          return ms;
        },
        async cdp() {
          const [ms, answer] = await timed(() =>
            cdp.send('Runtime.evaluate', { expression: '1+1', returnByValue: true }),
          );
          check(answer.result.value === 2, `CDP gave ${String(answer.result.value)}`);
          return ms;
        },
        async bare() {
          const [ms, value] = await timed(() => bare.value('1+1'));
          check(value === 2, `the bare server gave ${String(value)}`);
          return ms;
        },
        async chromedriver() {
          const [ms, value] = await timed(() => driver.value(other, '1+1'));
          check(value === 2, `execute/sync gave ${String(value)}`);
          return ms;
        },
      },
      { rounds: bench.some(500, 5), warmUp: bench.some(100, 2) },
    );
    await driver.close(other);
    await service.close(session);
    return {
      series: [
        { name: 'Airlock', unit: 'ms', samples: samples.airlock },
        { name: 'CDP, raw', unit: 'ms', samples: samples.cdp },
        { name: 'bare HTTP over CDP', unit: 'ms', samples: samples.bare },
        { name: 'chromedriver', unit: 'ms', samples: samples.chromedriver },
      ],
      verdicts: [
        ratio('/ CDP, raw', samples.airlock, samples.cdp, { atMost: 2 }),
        ratio('/ bare HTTP over CDP', samples.airlock, samples.bare),
        ratio('bare HTTP over CDP / CDP, raw', samples.bare, samples.cdp),
        ratio('/ chromedriver', samples.airlock, samples.chromedriver, { atMost: 0.3 }),
      ],
      notes: [
        "Bare HTTP over CDP: Node's own HTTP server in a process of its own, which hands each request to CDP and does nothing else. It is the least that such a service takes.",
      ],
    };
  },
};
