/** Ways for the service itself to die, with sessions open; each with a service of its own. */
import { spawn } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeLeftovers, leftovers } from '../../test/support/outside.ts';
import { eventually } from '../../test/support/processes.ts';
import { TestService } from '../../test/support/service.ts';
import type { Death } from './session-deaths.ts';
import { expectNothing, GRACE_MS, Residue, type Stage } from './stage.ts';

/** Throws in the service, outside of every handler, when it gets SIGUSR2. */
const THROW_ON_SIGNAL =
  '--import=data:text/javascript,process.on(%27SIGUSR2%27,()=>setTimeout(()=>{throw%20new%20Error(%27injected%27)}))';

export const serviceDeaths: Readonly<Record<string, Death>> = {
  'SIGKILL of the service': async (stage) => {
    await using first = await start(stage);
    await open(stage, first);
    await first.stop('SIGKILL');
    await sweptByNext(stage, first);
  },

  'SIGTERM of the service': async (stage) => {
    await using service = await start(stage);
    await open(stage, service);
    await exits(service, 'SIGTERM', 0);
    await expectNothing(service);
  },

  'SIGINT of the service': async (stage) => {
    await using service = await start(stage);
    await open(stage, service);
    await exits(service, 'SIGINT', 0);
    await expectNothing(service);
  },

  'second signal': async (stage) => {
    await using service = await start(stage);
    await open(stage, service);
    const [busy] = (await service.get('/v1/sessions')).body.sessions;
    // What runs for ever would hold the first signal up until the end of --drain.
    const running = service.post(`/v1/sessions/${busy.id}/eval`, { expression: 'new Promise(() => {})' });
    service.child.kill('SIGTERM');
    await exits(service, 'SIGTERM', 0);
    await running;
    await expectNothing(service);
  },

  'uncaught exception': async (stage) => {
    await using service = await start(stage, [], { NODE_OPTIONS: THROW_ON_SIGNAL });
    await open(stage, service);
    await service.stop('SIGUSR2');
    if (!service.log.includes('injected')) throw new Residue(`it died of something else: ${service.log}`);
    await sweptByNext(stage, service);
  },

  'SIGKILL while many sessions start': async (stage) => {
    await using service = await start(stage);
    const starting = Array.from({ length: stage.options.many }, () =>
      service.session().catch(() => undefined),
    );
    // When the first is there, the others are in every stage of being made.
    await Promise.race(starting);
    await service.stop('SIGKILL');
    await Promise.all(starting);
    await sweptByNext(stage, service);
  },

  'a stranger with the pid of the dead service': async (stage) => {
    await using service = await start(stage);
    await open(stage, service);
    await service.stop('SIGKILL');
    const stranger = spawn('/bin/sleep', ['300'], { stdio: 'ignore' });
    try {
      await rewriteOwners(service, stranger.pid ?? 0);
      await sweptByNext(stage, service);
      if (stranger.exitCode !== null || stranger.signalCode !== null)
        throw new Residue('the stranger was killed');
    } finally {
      stranger.kill('SIGKILL');
    }
  },

  'a browser that does not start': async (stage) => {
    // A real program that is no Chrome.
    await using service = await start(stage, ['--engine', 'chrome', '--chrome', '/bin/true']);
    const { status, body, text } = await service.post('/v1/sessions');
    if (status !== 503 || body.code !== 'browser_unavailable') throw new Residue(`a launch answered ${text}`);
    await expectNothing(service);
  },
};

function start(
  stage: Stage,
  flags: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<TestService> {
  return TestService.start([...stage.options.flags, ...flags], { env });
}

/** Two sessions with pages, beside what the pool holds. */
async function open(stage: Stage, service: TestService): Promise<void> {
  await Promise.all([stage.session({}, service), stage.session({}, service)]);
}

async function exits(service: TestService, signal: NodeJS.Signals, code: number): Promise<void> {
  const exit = await service.stop(signal);
  if (exit !== code) throw new Residue(`after ${signal} the exit code is ${exit}: ${service.log}`);
}

/** The service is dead: its processes go by themselves, and the next one removes what it left before it listens. */
async function sweptByNext(stage: Stage, dead: TestService): Promise<void> {
  const processes = async () => (await leftovers(dead.root, [])).processes;
  await eventually(processes, (left) => left.length === 0, GRACE_MS);
  const next = await TestService.start([...stage.options.flags, '--pool', '0'], { root: dead.root });
  try {
    const left = describeLeftovers(await leftovers(next.root, [next.pid]));
    if (left !== '') throw new Residue(`the next start leaves ${left}`);
  } finally {
    await next.stop();
  }
}

/** As if the pid of the dead service had been given to another process since. */
async function rewriteOwners(service: TestService, pid: number): Promise<void> {
  const runtime = join(service.root, 'r');
  for (const name of (await readdir(runtime)).filter((one) => one.startsWith('airlock-chrome-'))) {
    const file = join(runtime, name, 'owner.json');
    const record: { service: { pid: number } } = JSON.parse(await readFile(file, 'utf8'));
    record.service.pid = pid;
    await writeFile(file, JSON.stringify(record));
  }
}
