/**
 * `npm run residual:stress`: sessions and services die in every way there is, with real pages open, and after each death
 * nothing is left: no process, no workspace, no entry of Chromium in a temp directory. Looked at from outside, through
 * /proc and readdir. At the end the open descriptors and the memory of the service that lived through all of it are flat.
 *
 *   --cycles N         deaths in all; the ways take turns. Default 20: each about once
 *   --only NAME        one way to die, by a part of its name
 *   --many N           how many sessions "many" are. Default 20
 *   --shared-machine   other Chromiums die here too, so what appears in the system's temp directory is not held against us
 *
 * Exit code 1, with a line that says what is left, when anything is.
 */
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { residentMiB } from '../bench/memory.ts';
import { median, type Point, trend } from '../bench/statistics.ts';
import { serveExamples } from '../examples/serve.ts';
import { messageOf } from '../src/errors.ts';
import { descriptorsOf, litterIn } from '../test/support/outside.ts';
import { TestService } from '../test/support/service.ts';
import { canMount, fullDisk } from './residual-stress/full-disk.ts';
import { serviceDeaths } from './residual-stress/service-deaths.ts';
import { type Death, sessionDeaths } from './residual-stress/session-deaths.ts';
import { Residue, Stage } from './residual-stress/stage.ts';

/** Sockets of our own requests, a timer, a file of the moment. */
const SPARE_DESCRIPTORS = 8;
/** Memory settles over the first cycles: code is compiled, heaps take their size. */
const FLAT_MEMORY = { share: 0.05, least: 16 };

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '20' },
    only: { type: 'string' },
    many: { type: 'string', default: '20' },
    'shared-machine': { type: 'boolean', default: false },
  },
});
const cycles = Number(values.cycles);
const deaths = deathsToDie();
if (!Number.isInteger(cycles) || cycles < 1 || deaths.length === 0) {
  console.error('residual-stress: --cycles takes a number, --only a part of the name of a death');
  process.exit(2);
}

/** The ways in turn: the two tables mixed, so that a short run has some of both. */
function deathsToDie(): [string, Death][] {
  const sessions = Object.entries(sessionDeaths);
  const services = Object.entries(serviceDeaths);
  const all: [string, Death][] = [];
  while (sessions.length + services.length > 0) {
    all.push(...sessions.splice(0, 2), ...services.splice(0, 1));
  }
  if (canMount()) all.push(['full disk', fullDisk]);
  else console.log('skipped: full disk (needs root, to mount a small file system)');
  return all.filter(([name]) => name.includes(values.only ?? ''));
}

async function main(): Promise<void> {
  const examples = await serveExamples(0);
  const flags = ['--allow', new URL(examples.url).host, '--max-sessions', '40'];
  const service = await TestService.start([...flags, '--pool', '0']);
  try {
    const pages = [`${examples.url}/todomvc/`, `${examples.url}/swagger/`];
    await run(new Stage(service, { pages, flags, many: Number(values.many) }));
  } finally {
    await service[Symbol.asyncDispose]();
    examples.close();
  }
}

async function run(stage: Stage): Promise<void> {
  const { service } = stage;
  const litter = await litterIn(tmpdir());
  // The first session brings what stays: code, caches, a name server's socket.
  await stage.close(await stage.session());
  const allowed = (await descriptorsOf(service.pid)) + SPARE_DESCRIPTORS;
  const memory: Point[] = [];
  const times = new Map<string, number[]>();
  for (let cycle = 1; cycle <= cycles; cycle++) {
    const [name, death] = deaths[(cycle - 1) % deaths.length] ?? [];
    if (name === undefined || death === undefined) return;
    stage.cycle = cycle;
    const start = performance.now();
    await within(`cycle ${cycle} (${name})`, async () => {
      await death(stage);
      await expectNoLitter(litter);
      await stage.descriptors(allowed);
    });
    const ms = performance.now() - start;
    memory.push([cycle, await residentMiB(service.pid)]);
    times.set(name, [...(times.get(name) ?? []), ms]);
    const figures = `${await descriptorsOf(service.pid)} descriptors, ${memory.at(-1)?.[1].toFixed(0)} MiB`;
    console.log(`${cycle}/${cycles} ${name}: nothing left (${(ms / 1000).toFixed(1)} s; ${figures})`);
  }
  conclude(memory, times, allowed);
}

/** Adds where it happened to what went wrong. */
async function within(where: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new Residue(`${where}: ${messageOf(error)}`, { cause: error });
  }
}

/** Chromium's entries in the system's own temp directory have not grown by one. */
async function expectNoLitter(before: ReadonlySet<string>): Promise<void> {
  if (values['shared-machine']) return;
  const grown = [...(await litterIn(tmpdir()))].filter((name) => !before.has(name));
  if (grown.length > 0) throw new Residue(`${tmpdir()} has ${grown.join(', ')} more than before`);
}

function conclude(memory: readonly Point[], times: ReadonlyMap<string, number[]>, allowed: number): void {
  console.log('\n| death | times | median |\n| --- | --- | --- |');
  for (const [name, ms] of times) {
    console.log(`| ${name} | ${ms.length} | ${(median(ms) / 1000).toFixed(1)} s |`);
  }
  const { growth, allowed: most, flat } = trend(memory, FLAT_MEMORY);
  const [first, last] = [memory[0]?.[1] ?? 0, memory.at(-1)?.[1] ?? 0];
  console.log(
    `\nMemory of the service: ${first.toFixed(0)} to ${last.toFixed(0)} MiB, ${growth.toFixed(1)} MiB over the last half (at most ${most.toFixed(1)}).`,
  );
  console.log(`Descriptors: never more than ${allowed} after a death.`);
  if (!flat) throw new Residue(`the memory of the service grew by ${growth.toFixed(1)} MiB in the last half`);
  console.log(`residual-stress: ${memory.length} deaths, nothing left`);
}

try {
  await main();
} catch (error) {
  console.error(`residual-stress: ${messageOf(error)}`);
  process.exitCode = 1;
}
