/**
 * Two network namespaces joined by a pair of virtual cables. This side, in which the tests run, has loopback and one end;
 * the far side owns every address of the world, and nothing else can be reached. So whatever leaves this machine by any
 * way but loopback goes through one device, and is counted there by the kernel.
 *
 * The namespaces are made by scripts/test-slow.sh, and end with their processes: nothing has to be taken down.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FAR_SIDE = fileURLToPath(new URL('./far-side.ts', import.meta.url));
const MAC = { near: '02:00:00:00:00:01', far: '02:00:00:00:00:02' };
/** Of the wire itself; whatever else is behind the far end. */
const NEAR = { four: '192.0.2.2', six: '2001:db8:1::2' };
const FAR = { four: '192.0.2.1', six: '2001:db8:1::1' };
const NAME_SERVER = '198.51.100.53';

/** True in the namespaces of scripts/test-slow.sh. */
export const inLab = process.env['AIRLOCK_TEST_LAB'] === '1';

/** Puts up one end. Neighbours are fixed and no address is made up, so that an idle wire carries nothing. */
function endCommands(own: typeof NEAR, other: typeof NEAR, mac: string): string[][] {
  const lines = [
    'ip link set lo up',
    'ip link set wire addrgenmode none',
    `ip addr add ${own.four}/30 dev wire`,
    `ip addr add ${own.six}/64 dev wire nodad`,
    'ip link set wire up',
    `ip neigh replace ${other.four} lladdr ${mac} dev wire nud permanent`,
    `ip -6 neigh replace ${other.six} lladdr ${mac} dev wire nud permanent`,
  ];
  return lines.map((line) => line.split(' '));
}

export class Lab implements AsyncDisposable {
  /** What arrived on the far side, in order: `dns NAME`, `tcp PORT NAME`, `udp PORT`. */
  readonly seen: string[] = [];
  readonly #far: ChildProcess;

  private constructor(far: ChildProcess) {
    this.#far = far;
    far.on('message', (what) => {
      this.seen.push(String(what));
    });
  }

  static async start(): Promise<Lab> {
    const far = spawn('unshare', ['--net', process.execPath, FAR_SIDE], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const lab = new Lab(far);
    await ownNetwork(far.pid);
    const wire = `ip link add wire address ${MAC.near} type veth peer name wire address ${MAC.far} netns ${far.pid}`;
    const farRoutes = [
      'ip route add local default dev lo table main',
      'ip -6 route add local default dev lo table main',
    ];
    const nearRoutes = [`ip route add default via ${FAR.four}`, `ip -6 route add default via ${FAR.six}`];
    await run('ip', wire.split(' ').slice(1));
    far.send([...endCommands(FAR, NEAR, MAC.near), ...farRoutes.map((line) => line.split(' '))]);
    const near = [...endCommands(NEAR, FAR, MAC.far), ...nearRoutes.map((line) => line.split(' '))];
    for (const [program = '', ...args] of near) await run(program, args);
    const names = join(tmpdir(), `resolv-${process.pid}.conf`);
    await writeFile(names, `nameserver ${NAME_SERVER}\n`);
    await run('mount', ['--bind', names, '/etc/resolv.conf']);
    if (!lab.seen.includes('ready')) await Promise.race([once(far, 'message'), once(far, 'exit')]);
    if (!lab.seen.includes('ready')) throw new Error('the far side did not come up');

    lab.seen.length = 0;
    return lab;
  }

  /** Packets that left by the wire, of every kind, since it was put up. */
  async packets(): Promise<number> {
    const line = /^\s*wire:(.*)$/m.exec(await readFile('/proc/self/net/dev', 'utf8'))?.[1] ?? '';
    return Number(line.trim().split(/\s+/)[9]);
  }

  /** Waits until nothing has left for two seconds: the kernel's own multicast reports end by themselves. */
  async quiet(): Promise<number> {
    for (let last = await this.packets(); ; ) {
      await delay(2000);
      const now = await this.packets();
      if (now === last) return now;
      last = now;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#far, 'exit');
    this.#far.disconnect();
    await ended;
  }
}

/** Resolves when `pid` is in another network namespace. */
async function ownNetwork(pid: number | undefined): Promise<void> {
  const net = async (of: number | string | undefined) =>
    (await run('readlink', [`/proc/${of}/ns/net`])).stdout;
  const ours = await net('self');
  while ((await net(pid)) === ours) await delay(10);
}
