/**
 * `npm run bench`: this service and what a user would pick instead, side by side. bench/README.md says more.
 *
 *   --only 3,4,growth-floor   these rows and plots
 *   --quick                   a few rounds of each: whether all works, not how fast; writes nothing
 *   --engine chrome           full Chrome in place of headless-shell
 *
 * The exit code is 1 when a result was wrong, never because something was slow.
 */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findChrome } from '../src/sessions/find-chrome.ts';
import { processesWith } from '../test/support/processes.ts';
import { Bench } from './bench.ts';
import { growths } from './growths.ts';
import { commit, load, machineFacts } from './machine.ts';
import { markdown, merge, type RowRecord, readResults, record, writeResults } from './report.ts';
import { Skipped } from './row.ts';
import { rows } from './rows.ts';

const RESULTS = join(import.meta.dirname, 'results');
const CHROMEDRIVERS = [
  '/usr/bin/chromedriver',
  '/usr/lib/chromium/chromedriver',
  '/usr/local/bin/chromedriver',
];

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    engine: { type: 'string', default: 'headless-shell' },
  },
});
const wanted = values.only?.split(',').map((name) => name.trim());
const known = [...rows.map((row) => String(row.number)), ...growths.map((growth) => growth.name)];
const unknown = wanted?.filter((name) => !known.includes(name)) ?? [];
if (unknown.length > 0) fail(`--only knows ${known.join(', ')}; not ${unknown.join(', ')}`);
const isWanted = (name: string): boolean => wanted === undefined || wanted.includes(name);

const engine = values.engine === 'chrome' ? 'chrome' : 'headless-shell';
const chrome = findChrome({ engine });
if (chrome === undefined) fail(`there is no ${engine} here; sh scripts/setup.sh --bench installs it`);

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(130);
    console.error('bench: cleaning up; once more to leave at once');
    stop.abort(new Error(`ended by ${signal}`));
  });
}

if (load() > cpus().length * 0.7) {
  console.error(
    `bench: the load is ${load().toFixed(1)} on ${cpus().length} cores: times will be worse than they are`,
  );
}
let wrong = 0;
const bench = await Bench.open({
  chrome,
  chromedriver: CHROMEDRIVERS.find((path) => existsSync(path)),
  quick: values.quick,
  signal: stop.signal,
});
try {
  await runRows();
  await runGrowths();
} finally {
  await bench[Symbol.asyncDispose]();
}
const left = await processesWith(bench.root);
if (left.length > 0) fail(`left running: ${left.map(({ pid, args }) => `${pid} ${args}`).join('\n')}`);
process.exitCode = wrong > 0 || stop.signal.aborted ? 1 : 0;

async function runRows(): Promise<void> {
  const done: RowRecord[] = [];
  for (const row of rows.filter(({ number }) => isWanted(String(number)))) {
    await attempt(`${row.number}: ${row.title}`, async () => {
      const before = load();
      const result = await row.run(bench);
      const about = {
        number: row.number,
        title: row.title,
        measuredAt: new Date().toISOString(),
        commit: commit(),
        load: [before, load()] as const,
      };
      done.push(record(about, result));
    });
  }
  if (done.length === 0) return;
  const results = { machine: machineFacts(bench.chrome.path, bench.chromedriver), rows: done };
  console.log(`\n${markdown(results)}`);
  if (bench.quick) return;
  await mkdir(RESULTS, { recursive: true });
  const base = join(RESULTS, engine === 'chrome' ? 'latest-chrome' : 'latest');
  await writeResults(base, merge(await readResults(`${base}.json`), results));
  console.log(`written to ${base}.md`);
}

async function runGrowths(): Promise<void> {
  for (const growth of growths.filter(({ name }) => isWanted(name))) {
    await attempt(growth.name, async () => {
      const files = await growth.run(bench, bench.quick ? bench.root : RESULTS);
      for (const file of files) console.log(`  ${file}`);
    });
  }
}

/** One row or plot; what is wrong in it does not end the others. */
async function attempt(name: string, work: () => Promise<void>): Promise<void> {
  if (stop.signal.aborted) return;
  console.log(`${new Date().toTimeString().slice(0, 8)} ${name}`);
  try {
    await work();
  } catch (error) {
    if (error instanceof Skipped) return console.log(`  skipped: ${error.message}`);
    if (!stop.signal.aborted) wrong += 1;
    console.error(`  WRONG: ${error instanceof Error ? error.stack : String(error)}`);
  }
}

function fail(message: string): never {
  console.error(`bench: ${message}`);
  process.exit(2);
}
