import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FoundChrome } from '../src/sessions/find-chrome.ts';
import { TestService } from '../test/support/service.ts';
import { Airlock } from './airlock.ts';
import { Fixture } from './fixture.ts';

export interface BenchOptions {
  readonly chrome: FoundChrome;
  /** Path of chromedriver, where there is one. */
  readonly chromedriver: string | undefined;
  /** A few rounds of each row: whether it works, not how fast. */
  readonly quick: boolean;
  /** Aborted when the user has had enough; rows then clean up and end. */
  readonly signal: AbortSignal;
}

/** What a row needs: the browser, the pages, a service, a place for peers. All that is started has an owner. */
export class Bench implements AsyncDisposable {
  readonly chrome: FoundChrome;
  readonly chromedriver: string | undefined;
  readonly quick: boolean;
  readonly signal: AbortSignal;
  readonly fixture: Fixture;
  /** Everything of the peers is below here. Short: a socket path of Chrome ends at 107 bytes. */
  readonly root: string;

  private constructor(options: BenchOptions, fixture: Fixture, root: string) {
    this.chrome = options.chrome;
    this.chromedriver = options.chromedriver;
    this.quick = options.quick;
    this.signal = options.signal;
    this.fixture = fixture;
    this.root = root;
  }

  static async open(options: BenchOptions): Promise<Bench> {
    return new Bench(options, await Fixture.start(), await mkdtemp(join(tmpdir(), 'ab-')));
  }

  /** A number of rounds, or with `--quick` a small one. */
  some(full: number, quick = 2): number {
    return this.quick ? quick : full;
  }

  /** Starts a service that may reach the pages, on the browser of the bench. */
  async service(flags: readonly string[] = [], env: Record<string, string> = {}): Promise<Airlock> {
    const allowed = this.fixture.hosts.flatMap((host) => ['--allow', host]);
    const engine = ['--engine', this.chrome.engine, '--chrome', this.chrome.path];
    return new Airlock(await TestService.start([...engine, ...allowed, ...flags], { env }));
  }

  /** A service without a warm pool, so that nothing starts beside what is measured. */
  async plainService(flags: readonly string[] = [], env: Record<string, string> = {}): Promise<Airlock> {
    const pool = (await Airlock.knows('--pool')) ? ['--pool', '0'] : [];
    return this.service([...pool, ...flags], env);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fixture[Symbol.asyncDispose]();
    await rm(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}
