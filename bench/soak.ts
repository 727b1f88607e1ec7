/**
 * `npm run soak -- --minutes 30`: callers open sessions, work in them and let them die in every way; the memory, the
 * descriptors, the processes and the directories of the service are watched all the while and drawn.
 *
 *   --minutes N    how long. Default 30
 *   --callers N    at once. Default 3
 *
 * Exit code 1 when an answer was wrong, when a curve still rises over the last half, or when anything is left at the end.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/errors.ts';
import { findChrome } from '../src/sessions/find-chrome.ts';
import { describeLeftovers, descriptorsOf, leftovers, treeOf } from '../test/support/outside.ts';
import type { Airlock } from './airlock.ts';
import { Bench } from './bench.ts';
import { check } from './json-client.ts';
import { residentMiB } from './memory.ts';
import { type Panel, plot } from './plot.ts';
import { call } from './soak-caller.ts';
import { median, type Point, trend } from './statistics.ts';

const RESULTS = join(import.meta.dirname, 'results');

/** What is watched, and how much growth over the last half of the run is still flat. */
const watched = {
  memory: { label: 'MiB', title: 'Memory of the service', share: 0.05, least: 12 },
  descriptors: { label: 'open descriptors', title: 'Descriptors of the service', share: 0.1, least: 8 },
  processes: { label: 'processes', title: 'Processes of browsers', share: 0.2, least: 8 },
  workspaces: { label: 'directories', title: 'Workspaces', share: 0.2, least: 2 },
} as const;
type Watched = keyof typeof watched;
type Curves = Record<Watched, Point[]>;

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, callers: { type: 'string', default: '3' } },
});
const minutes = Number(values.minutes);
const callers = Number(values.callers);
if (!(minutes > 0) || !(callers > 0)) fail('--minutes and --callers take numbers');
const chrome = findChrome({ engine: 'headless-shell' }) ?? findChrome({});
if (chrome === undefined) fail('there is no Chrome here; sh scripts/setup.sh installs one');

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => stop.abort(new Error(`ended by ${signal}`)));
}
const bench = await Bench.open({ chrome, chromedriver: undefined, quick: false, signal: stop.signal });
try {
  const service = await bench.service();
  try {
    await soak(service);
    check(existsSync(join(service.process.root, 'r')), 'the runtime directory is gone');
    await service.process.stop();
    const left = describeLeftovers(await leftovers(service.process.root, [service.pid]));
    check(left === '', `at the end there is ${left}`);
  } finally {
    await service[Symbol.asyncDispose]();
  }
} catch (error) {
  console.error(`soak: ${messageOf(error)}`);
  process.exitCode = 1;
} finally {
  await bench[Symbol.asyncDispose]();
}

async function soak(service: Airlock): Promise<void> {
  const deaths = new Map<string, number>();
  const end = new AbortController();
  const until = AbortSignal.any([end.signal, stop.signal]);
  const died = (how: string): void => {
    deaths.set(how, (deaths.get(how) ?? 0) + 1);
  };
  const working = Array.from({ length: callers }, (_, i) => call({ bench, service, until, died }, i * 2));
  // One caller that fails ends the run; its fault is thrown below.
  for (const one of working) one.catch(() => end.abort());
  const curves = await watch(service, until);
  end.abort();
  await Promise.all(working);
  console.log([...deaths].map(([how, count]) => `${how}: ${count}`).join(', '));
  await draw(curves, deaths);
  judge(curves);
}

/** Looks at the service until the time is over. */
async function watch(service: Airlock, until: AbortSignal): Promise<Curves> {
  const curves: Curves = { memory: [], descriptors: [], processes: [], workspaces: [] };
  const start = performance.now();
  const everyMs = Math.max(1000, (minutes * 60_000) / 600);
  for (let turn = 1; !until.aborted; turn++) {
    const minute = (performance.now() - start) / 60_000;
    if (minute >= minutes) break;
    curves.memory.push([minute, await residentMiB(service.pid)]);
    curves.descriptors.push([minute, await descriptorsOf(service.pid)]);
    curves.processes.push([minute, (await treeOf(service.pid)).length - 1]);
    curves.workspaces.push([minute, await workspacesOf(service)]);
    if (turn % 20 === 0) console.log(`${minute.toFixed(1)} min: ${lastOf(curves)}`);
    await delay(everyMs, undefined, { signal: until }).catch(() => undefined);
  }
  return curves;
}

function lastOf(curves: Curves): string {
  return Object.entries(curves)
    .map(([name, points]) => `${name} ${points.at(-1)?.[1].toFixed(0)}`)
    .join(', ');
}

async function workspacesOf(service: Airlock): Promise<number> {
  const names = await readdir(join(service.process.root, 'r'));
  return names.filter((name) => name.startsWith('airlock-chrome-')).length;
}

async function draw(curves: Curves, deaths: ReadonlyMap<string, number>): Promise<void> {
  const panels = Object.entries(watched).map(([name, { label, title }]): Panel => {
    const points = curves[name as Watched];
    return {
      title,
      x: { label: 'minutes', scale: 'linear' },
      y: { label, scale: 'linear' },
      lines: [
        { name: 'seen', points },
        { name: 'median of 1 min', points: smooth(points), dashed: true },
      ],
    };
  });
  const total = [...deaths.values()].reduce((sum, count) => sum + count, 0);
  const note = `${callers} callers, ${total} sessions, which died in ${deaths.size} ways: ${[...deaths.keys()].join(', ')}.`;
  await mkdir(RESULTS, { recursive: true });
  const file = join(RESULTS, 'soak.svg');
  await writeFile(file, plot(`Soak of ${minutes} minutes`, note, panels));
  console.log(file);
}

/** The median of each minute, which deaths and births do not move. */
function smooth(points: readonly Point[]): Point[] {
  const byMinute = Map.groupBy(points, ([minute]) => Math.floor(minute));
  return [...byMinute].map(([minute, some]) => [minute + 0.5, median(some.map(([, value]) => value))]);
}

/** @throws WrongResult a curve still rises over the last half of the run */
function judge(curves: Curves): void {
  const rising: string[] = [];
  for (const [name, limit] of Object.entries(watched)) {
    const { growth, allowed, flat } = trend(curves[name as Watched], limit);
    const line = `${limit.title}: ${growth.toFixed(1)} ${limit.label} over the last half (at most ${allowed.toFixed(1)})`;
    console.log(line);
    if (!flat) rising.push(line);
  }
  check(rising.length === 0, `not flat: ${rising.join('; ')}`);
  check(!stop.signal.aborted, 'the run was ended before its time');
}

function fail(message: string): never {
  console.error(`soak: ${message}`);
  process.exit(2);
}
