import { setTimeout as delay } from 'node:timers/promises';
import { processesWith } from '../../test/support/processes.ts';
import type { Airlock } from '../airlock.ts';
import type { Bench } from '../bench.ts';
import { check } from '../json-client.ts';
import { treeMiB } from '../memory.ts';
import { BareChrome } from '../peers/bare-chrome.ts';
import { type Row, ratio } from '../row.ts';

/** After a start Chrome still frees and loads things for some seconds. */
const SETTLE_MS = 5000;

/** An idle session against a bare Chrome that nobody is attached to. Both live at once, so they share alike. */
export const idleMemory: Row = {
  number: 11,
  title: 'memory of an idle session',
  async run(bench: Bench) {
    await using service = await bench.plainService();
    const [ours, bare]: [number[], number[]] = [[], []];
    for (let round = 0; round < bench.some(8, 1); round++) {
      bench.signal.throwIfAborted();
      await using chrome = await BareChrome.start(bench);
      const session = await service.session();
      await delay(bench.some(SETTLE_MS, 500));
      const [a, b] = await Promise.all([treeMiB(await chromeOf(service, session)), treeMiB(chrome.pid)]);
      check(a > 10 && b > 10, `${a} and ${b} MiB are no Chromes`);
      ours.push(a);
      bare.push(b);
      await service.close(session);
    }
    return {
      series: [
        { name: 'Airlock', unit: 'MiB', samples: ours },
        { name: 'bare Chrome', unit: 'MiB', samples: bare },
      ],
      verdicts: [ratio('/ bare Chrome', ours, bare, { atMost: 1.05 })],
      notes: ['Proportional set size of all processes of the browser.'],
    };
  },
};

/** The process of a session's browser: the one that was started with its workspace and has no parent of its kind. */
async function chromeOf(service: Airlock, session: string): Promise<number> {
  const id = session.slice('/v1/sessions/'.length);
  const found = (await processesWith(id)).find(({ ppid }) => ppid === service.pid);
  check(found !== undefined, `${session} has no browser`);
  return found.pid;
}
