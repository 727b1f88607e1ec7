import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Airlock } from '../airlock.ts';
import type { Bench } from '../bench.ts';
import { check } from '../json-client.ts';
import { alternate, timed } from '../measure.ts';
import { ChromedriverPeer } from '../peers/chromedriver.ts';
import { type Row, ratio, Skipped } from '../row.ts';

/** A session that was made ahead, against the other REST service, which starts its browser when it is asked. */
export const createWarm: Row = {
  number: 1,
  title: 'create a session from the warm pool',
  async run(bench: Bench) {
    if (!(await Airlock.knows('--pool'))) throw new Skipped('this version has no warm pool');
    await using service = await bench.service(['--pool', '1']);
    await using driver = await ChromedriverPeer.start(bench);
    await poolIsFull(service);
    const samples = await alternate(
      bench,
      {
        async airlock() {
          const [ms, session] = await timed(() => service.session());
          check((await service.value(session, '1+1')) === 2, 'a session from the pool does not work');
          await service.close(session);
          // Not in the other's turn: the next browser of the pool starts now.
          await poolIsFull(service);
          return ms;
        },
        async chromedriver() {
          const [ms, session] = await timed(() => driver.open());
          check((await driver.value(session, '1+1')) === 2, 'a session of chromedriver does not work');
          await driver.close(session);
          return ms;
        },
      },
      { rounds: bench.some(25), warmUp: 1 },
    );
    return {
      series: [
        { name: 'Airlock', unit: 'ms', samples: samples.airlock },
        { name: 'chromedriver', unit: 'ms', samples: samples.chromedriver },
      ],
      verdicts: [ratio('/ chromedriver', samples.airlock, samples.chromedriver, { atMost: 0.05 })],
    };
  },
};

/** Until a browser waits: its workspace is there, and the machine has come to rest after its start. */
async function poolIsFull(service: Airlock): Promise<void> {
  const runtime = join(service.process.root, 'r');
  for (let turn = 0; ; turn++) {
    const names = await readdir(runtime);
    if (names.some((name) => name.startsWith('airlock-chrome-'))) break;
    check(turn < 600, 'the pool stays empty');
    await delay(50);
  }
  await delay(1500);
}
