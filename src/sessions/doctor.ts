import { execFile } from 'node:child_process';
import { access, constants, readFile, stat, statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import { messageOf } from '../errors.ts';
import { canFindSockets } from '../policy/sock-diag.ts';
import { devShmIsSmall } from './chrome-flags.ts';
import { whyNoOwnNetwork } from './own-network.ts';
import type { Service } from './service.ts';

export interface Check {
  readonly name: string;
  readonly status: 'pass' | 'warn' | 'fail';
  /** What was found. */
  readonly found: string;
  /** What to do about it; absent when there is nothing to do. */
  readonly fix?: string;
}

const GIB = 1024 ** 3;

/**
 * Looks at everything that a session needs of the machine. With `launch`, starts and closes one Chrome as well.
 * Never throws: a check that fails to run is itself a finding.
 */
export async function diagnose(service: Service, launch: boolean): Promise<Check[]> {
  const checks = await Promise.all([
    checkBrowser(service),
    checkSandbox(service),
    guarded('strict network', () => checkStrictNetwork(service.options.strictNetwork)),
    guarded('peer lookup', checkPeerLookup),
    guarded('shared memory', checkSharedMemory),
    guarded('fonts', checkFonts),
    guarded('disk', () => checkDisk(service.options.runtimeDir.path)),
    guarded('state directory', () => checkStateDir(service.options.stateDir)),
    guarded('clock', checkClock),
    guarded('surroundings', checkSurroundings),
  ]);
  if (launch) checks.push(await guarded('launch', () => checkLaunch(service)));
  return checks;
}

async function guarded(name: string, check: () => Promise<Omit<Check, 'name'>>): Promise<Check> {
  try {
    return { name, ...(await check()) };
  } catch (error) {
    return { name, status: 'warn', found: `could not be checked: ${messageOf(error)}` };
  }
}

async function checkBrowser(service: Service): Promise<Check> {
  const { found, why } = service.browsers.look();
  if (found) return { name: 'browser', status: 'pass', found: `${found.engine}: ${found.path}` };
  return {
    name: 'browser',
    status: 'fail',
    found: why ?? `no browser for the engine ${service.options.engine}`,
    fix: 'Run scripts/setup.sh, or start with --chrome PATH.',
  };
}

async function checkSandbox(service: Service): Promise<Check> {
  const name = 'sandbox';
  if (!service.options.noSandbox) return { name, status: 'pass', found: 'Chrome runs in its own sandbox' };
  const root = process.getuid?.() === 0;
  return {
    name,
    status: 'warn',
    found: root ? 'off: Chrome has no sandbox for root' : 'off: --no-sandbox was given',
    fix: root ? 'Run the service as another user.' : 'Start without --no-sandbox where the kernel allows it.',
  };
}

/** Where it is not asked for, that it cannot be had is no fault. */
async function checkStrictNetwork(on: boolean): Promise<Omit<Check, 'name'>> {
  const why = await whyNoOwnNetwork();
  if (on && why !== undefined) {
    return {
      status: 'fail',
      found: why,
      fix: 'Start without --strict-network, or where namespaces can be made.',
    };
  }
  if (on) return { status: 'pass', found: 'on: each Chrome has a network namespace of its own' };
  return {
    status: 'pass',
    found: why === undefined ? 'off; it can be had here' : `off; it cannot be had here: ${why}`,
  };
}

/** How a floor learns whose a connection is. */
async function checkPeerLookup(): Promise<Omit<Check, 'name'>> {
  if (process.platform !== 'linux') return { status: 'pass', found: 'cannot be had on this system' };
  if (await canFindSockets()) return { status: 'pass', found: 'over netlink (sock_diag)' };
  return {
    status: 'warn',
    found: 'in /proc/net/tcp, which is slower: Node has no ffi, or there is no netlink',
    fix: 'Start it with the Node that npm installs, where netlink sockets are allowed.',
  };
}

async function checkSharedMemory(): Promise<Omit<Check, 'name'>> {
  if (process.platform !== 'linux') return { status: 'pass', found: 'not used on this system' };
  const { bsize, blocks } = await statfs('/dev/shm');
  const found = `/dev/shm has ${Math.round((bsize * blocks) / 1024 ** 2)} MiB`;
  if (!devShmIsSmall()) return { status: 'pass', found };
  return {
    status: 'warn',
    found: `${found}; Chrome is told to use files instead, which is slower`,
    fix: 'Give the container --shm-size=1g.',
  };
}

async function checkFonts(): Promise<Omit<Check, 'name'>> {
  const { stdout } = await promisify(execFile)('fc-list', [':', 'family'], { timeout: 5000 });
  const families = new Set(stdout.split('\n').filter((line) => line !== '')).size;
  if (families > 0) return { status: 'pass', found: `${families} font families` };
  return { status: 'warn', found: 'no fonts: text is drawn as boxes', fix: 'Install fonts-liberation.' };
}

async function checkDisk(path: string): Promise<Omit<Check, 'name'>> {
  const { bavail, bsize } = await statfs(path);
  const free = bavail * bsize;
  const found = `${(free / GIB).toFixed(1)} GiB free at ${path}`;
  if (free > GIB) return { status: 'pass', found };
  return { status: free > GIB / 10 ? 'warn' : 'fail', found, fix: 'Free space, or move --runtime-dir.' };
}

async function checkStateDir(path: string): Promise<Omit<Check, 'name'>> {
  await access(path, constants.W_OK);
  const { mode } = await stat(path);
  const found = `${path} has mode ${(mode & 0o777).toString(8)}`;
  if ((mode & 0o077) === 0) return { status: 'pass', found };
  return { status: 'warn', found, fix: `chmod 700 ${path}` };
}

async function checkClock(): Promise<Omit<Check, 'name'>> {
  const year = new Date().getUTCFullYear();
  if (year >= 2025) return { status: 'pass', found: new Date().toISOString() };
  return {
    status: 'fail',
    found: `the clock says ${year}: certificates will not be valid`,
    fix: 'Set the clock.',
  };
}

async function checkSurroundings(): Promise<Omit<Check, 'name'>> {
  const facts: string[] = [
    `${process.platform} ${process.arch}`,
    `node ${process.version}`,
    `uid ${process.getuid?.()}`,
  ];
  const has = (path: string) =>
    access(path).then(
      () => true,
      () => false,
    );
  if ((await has('/.dockerenv')) || (await has('/run/.containerenv'))) facts.push('container');
  const release = await readFile('/proc/sys/kernel/osrelease', 'utf8').catch(() => '');
  if (/microsoft/i.test(release)) facts.push('WSL');
  if (process.pid === 1) facts.push('runs as process 1');
  if (process.env['CI']) facts.push('CI');
  return { status: 'pass', found: facts.join(', ') };
}

async function checkLaunch(service: Service): Promise<Omit<Check, 'name'>> {
  const started = performance.now();
  try {
    const session = await service.create({ spec: {}, client: new AbortController().signal });
    const ready = Math.round(performance.now() - started);
    const receipt = await session.close('deleted');
    if (!receipt.zero) return { status: 'fail', found: `closing left something: ${JSON.stringify(receipt)}` };
    return {
      status: 'pass',
      found: `ready in ${ready} ms, closed to zero in ${Math.round(receipt.durationMs)} ms`,
    };
  } catch (error) {
    return {
      status: 'fail',
      found: messageOf(error),
      fix: 'The message above is from Chrome or the service itself.',
    };
  }
}
