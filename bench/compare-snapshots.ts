/** Rows 5 and 6: a page as text, against Playwright's. */
import type { Bench } from './bench.ts';
import { check } from './json-client.ts';
import { alternate, each, inSuccession } from './measure.ts';
import { PlaywrightPeer } from './peers/playwright.ts';
import { type RowResult, ratio } from './row.ts';

/** All of a page in one answer, so that both sides give the same. */
const WHOLE = 'maxChars=10000000';

export interface SnapshotCase {
  readonly path: string;
  /** At least so many elements, as the page counts them. */
  readonly elements: number;
  /** Text that every snapshot must have. */
  readonly holds: readonly string[];
  /** Elements that can be acted on: each has a ref in ours. */
  readonly refs: number;
  readonly atMost: number;
  readonly rounds: number;
  /** Snapshots that follow one another in each turn. */
  readonly calls: number;
}

export async function compareSnapshots(bench: Bench, asked: SnapshotCase): Promise<RowResult> {
  const url = bench.fixture.url + asked.path;
  await using service = await bench.plainService();
  await using playwright = await PlaywrightPeer.start(bench);
  const session = await service.session();
  await service.navigate(session, url);
  await playwright.load(url);
  const elements = Number(await service.value(session, 'document.querySelectorAll("*").length'));
  check(elements >= asked.elements, `${url} has ${elements} elements`);
  const sizes = { ours: 0, ai: 0, plain: 0 };
  const turn = (snapshot: () => Promise<void>) => () => inSuccession(asked.calls, snapshot);
  const samples = await alternate(
    bench,
    {
      airlock: turn(async () => {
        const answer = await service.get(`${session}/snapshot?${WHOLE}`);
        const text = answer.expect(200).is('truncated', false).text('text');
        holdsAll(text, asked.holds);
        const refs = text.match(/\[ref=e\d+\]/g)?.length ?? 0;
        check(refs >= asked.refs, `${refs} refs, not ${asked.refs}`);
        sizes.ours = text.length;
      }),
      ai: turn(async () => {
        const text = await playwright.page.ariaSnapshot({ mode: 'ai' });
        holdsAll(text, asked.holds);
        sizes.ai = text.length;
      }),
      plain: turn(async () => {
        const text = await playwright.page.locator('body').ariaSnapshot();
        holdsAll(text, asked.holds);
        sizes.plain = text.length;
      }),
    },
    { rounds: asked.rounds, warmUp: bench.some(Math.max(2, Math.ceil(asked.rounds / 10)), 2) },
  );
  await service.close(session);
  return {
    series: [
      { name: 'Airlock', unit: 'ms', samples: each(samples.airlock) },
      { name: 'Playwright, with refs', unit: 'ms', samples: each(samples.ai) },
      { name: 'Playwright, plain', unit: 'ms', samples: each(samples.plain) },
    ],
    verdicts: [
      ratio('/ Playwright, with refs', each(samples.airlock), each(samples.ai), { atMost: asked.atMost }),
      ratio('/ Playwright, plain', each(samples.airlock), each(samples.plain), { atMost: asked.atMost }),
      { name: 'characters / with refs', value: sizes.ours / sizes.ai, target: { atMost: 0.8 } },
    ],
    notes: [`${elements} elements; ${sizes.ours}, ${sizes.ai} and ${sizes.plain} characters.`],
  };
}

function holdsAll(text: string, wanted: readonly string[]): void {
  for (const part of wanted) check(text.includes(part), `a snapshot lacks ${part}`);
}
