import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Airlock } from '../airlock.ts';
import type { Bench } from '../bench.ts';
import type { Growth } from '../growths.ts';
import { check } from '../json-client.ts';
import { alternate, timed } from '../measure.ts';
import { PlaywrightPeer } from '../peers/playwright.ts';
import { plot } from '../plot.ts';
import { median, type Point } from '../statistics.ts';

const ELEMENTS_OF_A_CARD = 12;
const LIMIT_MS = 300_000;
const AXIS = { label: 'elements of the page', scale: 'log' } as const;

/** How time and size of a snapshot grow with the page. */
export const snapshotGrowth: Growth = {
  name: 'growth-snapshot',
  async run(bench: Bench, dir: string) {
    const sizes = bench.quick ? [100, 1000] : [100, 1000, 10_000, 100_000];
    const ours: Sizes = { ms: [], chars: [] };
    const theirs: Sizes = { ms: [], chars: [] };
    await using service = await bench.plainService();
    await using playwright = await PlaywrightPeer.start(bench);
    const session = await service.session();
    for (const size of sizes) {
      const url = `${bench.fixture.url}/cards?n=${Math.round(size / ELEMENTS_OF_A_CARD)}`;
      await service.navigate(session, url);
      await playwright.load(url);
      const elements = Number(await service.value(session, 'document.querySelectorAll("*").length'));
      const samples = await alternate(
        bench,
        {
          airlock: () => takeOurs(service, session, (chars) => keep(ours.chars, elements, chars)),
          playwright: () => takeTheirs(playwright, (chars) => keep(theirs.chars, elements, chars)),
        },
        { rounds: size > 50_000 ? bench.some(3, 1) : bench.some(9, 1), warmUp: 1 },
      );
      ours.ms.push([elements, median(samples.airlock)]);
      theirs.ms.push([elements, median(samples.playwright)]);
    }
    await service.close(session);
    const lines = (of: keyof Sizes) => [
      { name: 'Airlock', points: ours[of] },
      { name: 'Playwright (refs)', points: theirs[of] },
      { name: 'linear', points: linear(ours[of]), dashed: true },
    ];
    const svg = plot(
      'Snapshot: cost as the page grows',
      'Nested cards, the whole page in one answer. Medians.',
      [
        { title: 'Time', x: AXIS, y: { label: 'milliseconds', scale: 'log' }, lines: lines('ms') },
        { title: 'Size', x: AXIS, y: { label: 'characters', scale: 'log' }, lines: lines('chars') },
      ],
    );
    const file = join(dir, 'growth-snapshot.svg');
    await writeFile(file, svg);
    return [file];
  },
};

interface Sizes {
  readonly ms: Point[];
  readonly chars: Point[];
}

async function takeOurs(service: Airlock, session: string, size: (chars: number) => void): Promise<number> {
  const path = `${session}/snapshot?maxChars=10000000&timeoutMs=${LIMIT_MS}`;
  const [ms, answer] = await timed(() => service.get(path));
  const text = answer.expect(200).text('text');
  check(text.includes('Card 0') && text.includes('Buy'), 'a snapshot lacks its cards');
  size(text.length);
  return ms;
}

async function takeTheirs(playwright: PlaywrightPeer, size: (chars: number) => void): Promise<number> {
  const [ms, text] = await timed(() => playwright.page.ariaSnapshot({ mode: 'ai', timeout: LIMIT_MS }));
  check(text.includes('Card 0'), 'a snapshot of Playwright lacks its cards');
  size(text.length);
  return ms;
}

/** One point for each size of page: the last answer's. */
function keep(points: Point[], elements: number, chars: number): void {
  if (points.at(-1)?.[0] === elements) points.pop();
  points.push([elements, chars]);
}

/** What the largest page would cost a page of each size, if all cost the same by element. */
function linear(points: readonly Point[]): Point[] {
  const [lastX, lastY] = points.at(-1) ?? [1, 1];
  return points.map(([x]) => [x, (lastY * x) / lastX]);
}
