import { tmpdir } from 'node:os';
import { type ResidualReport, residualReport } from '../residual/report.ts';
import type { RuntimeDir } from '../residual/runtime-dir.ts';
import { type SweepResult, sweep } from '../residual/sweep.ts';

export interface SweeperOptions {
  readonly runtimeDir: RuntimeDir;
  /** Ids of the sessions and pooled browsers of this process. */
  readonly liveSessions: () => ReadonlySet<string>;
  readonly onSwept: (result: SweepResult) => void;
  readonly onFault: (error: unknown) => void;
}

/** How often (residual law). */
const EVERY_MS = 60_000;
/** What has no known owner is left alone until it is this old. */
const MIN_AGE_SEC = 60;

/** Removes what dead services and stray Chromes left: at birth, every minute, and at shutdown. */
export class Sweeper implements AsyncDisposable {
  readonly #options: SweeperOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<unknown> = Promise.resolve();
  /** What the last sweep could not remove. */
  #failed: SweepResult['failed'] = [];

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  /** The sweep at birth, before anything listens; then the clock starts. */
  async start(): Promise<void> {
    await this.#sweep(true);
    this.#timer = setInterval(() => {
      this.request();
    }, EVERY_MS);
    this.#timer.unref();
  }

  /** Paths that should be gone and are not. */
  get failed(): readonly { path: string; why: string }[] {
    return this.#failed;
  }

  /** Sweeps at once, after what runs: something was found that should be gone. */
  request(): void {
    this.#running = this.#running.then(() => this.#sweep(false)).catch(this.#options.onFault);
  }

  report(): Promise<ResidualReport> {
    const { runtimeDir, liveSessions } = this.#options;
    return residualReport(runtimeDir, {
      tempDir: tmpdir(),
      liveSessions: liveSessions(),
      minAgeSec: MIN_AGE_SEC,
    });
  }

  /** Stops the clock and sweeps a last time. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
    await this.#sweep(false);
  }

  async #sweep(born: boolean): Promise<void> {
    const { runtimeDir, liveSessions, onSwept } = this.#options;
    const result = await sweep(runtimeDir, {
      tempDir: tmpdir(),
      liveSessions: liveSessions(),
      minAgeSec: MIN_AGE_SEC,
      born,
    });
    this.#failed = result.failed;
    if (result.wiped.length > 0 || result.killed > 0 || result.failed.length > 0) onSwept(result);
  }
}
