import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { chromeEnvironment } from '../../src/residual/environment.ts';
import { chromeFlags, devShmIsSmall } from '../../src/sessions/chrome-flags.ts';
import type { Bench } from '../bench.ts';

/** A port that Chrome refuses to connect to, for a Chrome that is started as the service does and loads nothing. */
const NO_FLOOR = { floorAddress: '127.0.0.1', floorPort: 1 };

/** The flags that lead all traffic to the floor. */
const FLOOR_FLAGS = ['--proxy-server=', '--proxy-bypass-list=', '--host-resolver-rules='];

/** A directory for one Chrome of a peer, with the flags and the environment that the service gives to its own. */
export class PeerHome implements AsyncDisposable {
  readonly dir: string;
  readonly profile: string;
  readonly env: Record<string, string>;
  readonly #bench: Bench;

  private constructor(bench: Bench, dir: string) {
    this.#bench = bench;
    this.dir = dir;
    this.profile = join(dir, 'profile');
    this.env = chromeEnvironment({ home: join(dir, 'home'), tmp: join(dir, 'tmp') });
  }

  static async make(bench: Bench): Promise<PeerHome> {
    const dir = await mkdtemp(join(bench.root, 'p-'));
    for (const name of ['home', 'tmp']) await mkdir(join(dir, name));
    return new PeerHome(bench, dir);
  }

  /** The flags of the service, every one. Such a Chrome reaches no network. */
  get flags(): string[] {
    return this.flagsWithFloor(NO_FLOOR);
  }

  /** The flags of the service, for a Chrome whose traffic goes to `floor`. */
  flagsWithFloor(floor: { floorAddress: string; floorPort: number }): string[] {
    const { engine } = this.#bench.chrome;
    return chromeFlags({
      engine,
      profileDir: this.profile,
      ...floor,
      noSandbox: process.getuid?.() === 0,
      headless: true,
      smallDevShm: devShmIsSmall(),
    });
  }

  /** The flags of the service but for those of the floor: it reaches the pages without a proxy. */
  get directFlags(): string[] {
    return this.flags.filter((flag) => !FLOOR_FLAGS.some((name) => flag.startsWith(name)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}
