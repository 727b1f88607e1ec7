/** What row 13 and the plot of sessions measure: many callers at once, each with a browser of its own. */
import type { Airlock } from './airlock.ts';
import type { Bench } from './bench.ts';
import { check } from './json-client.ts';
import { timed } from './measure.ts';

export type OperationName = 'navigate' | 'snapshot' | 'click' | 'eval';

export interface Together {
  /** Milliseconds by operation. */
  readonly times: Record<OperationName, number[]>;
  /** Operations of all sessions together. */
  readonly perSecond: number;
}

/** Opens sessions, lets each do its loops, checks every answer, closes them. */
export async function runTogether(
  bench: Bench,
  service: Airlock,
  sessions: number,
  loops: number,
): Promise<Together> {
  const times: Together['times'] = { navigate: [], snapshot: [], click: [], eval: [] };
  const open = await Promise.all(Array.from({ length: sessions }, () => service.session()));
  // One loop of each before the clock runs: the first operation of a session brings its code into the page.
  const unmeasured: Together['times'] = { navigate: [], snapshot: [], click: [], eval: [] };
  await Promise.all(open.map((session) => loop(bench, service, session, 'w', unmeasured)));
  const [ms] = await timed(() =>
    Promise.all(
      open.map(async (session, n) => {
        for (let i = 0; i < loops; i++) await loop(bench, service, session, `${n}-${i}`, times);
      }),
    ),
  );
  await Promise.all(open.map((session) => service.close(session)));
  return { times, perSecond: (sessions * loops * 4 * 1000) / ms };
}

async function loop(
  bench: Bench,
  service: Airlock,
  session: string,
  name: string,
  times: Together['times'],
): Promise<void> {
  bench.signal.throwIfAborted();
  const [navigate] = await timed(() => service.navigate(session, `${bench.fixture.url}/loop?n=${name}`));
  const [snapshot, seen] = await timed(() => service.get(`${session}/snapshot`));
  check(seen.expect(200).text('text').includes(`Loop ${name}`), `${session} saw another page`);
  const [click, clicked] = await timed(() => service.post(`${session}/click`, { target: '#b' }));
  clicked.expect(200).is('ok', true);
  const [evaluated, clicks] = await timed(() => service.value(session, 'clicks'));
  check(clicks === 1, `${session} counts ${String(clicks)} clicks`);
  times.navigate.push(navigate);
  times.snapshot.push(snapshot);
  times.click.push(click);
  times.eval.push(evaluated);
}
