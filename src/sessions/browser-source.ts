import { AirlockError } from '../errors.ts';
import { parsePolicy } from '../policy/policy.ts';
import type { SelfRegistry } from '../policy/self.ts';
import { hasDisplay } from '../residual/environment.ts';
import { Profile } from '../residual/profile.ts';
import type { RuntimeDir } from '../residual/runtime-dir.ts';
import { Browser } from './browser.ts';
import { versionOf } from './chrome-version.ts';
import { type Engine, type FoundChrome, findAll, findChrome } from './find-chrome.ts';
import { Pool } from './pool.ts';
import type { Reach } from './reach.ts';
import { newSessionId } from './session-id.ts';
import type { SessionSpec } from './spec.ts';

export interface BrowserSourceOptions {
  readonly runtimeDir: RuntimeDir;
  /** Holds the profiles that stay. */
  readonly dataDir: string;
  /** What one session may hold on disk, in bytes. */
  readonly diskQuotaBytes: number;
  readonly self: SelfRegistry;
  /** For sessions that ask for none, and for the pool. */
  readonly engine: Engine;
  /** Path of a browser that the operator named. */
  readonly chrome: string | undefined;
  readonly noSandbox: boolean;
  /** Each Chrome gets a network namespace of its own. */
  readonly strictNetwork: boolean;
  /** Name servers that the floors ask; the system's when empty. */
  readonly dns: readonly string[];
  /** Browsers held ready. */
  readonly pool: number;
  /** Prefix of session ids. */
  readonly node: string | undefined;
  readonly onFault: (error: unknown) => void;
}

/** A pooled browser belongs to nobody yet, so nothing may leave it. */
const NOTHING: Reach = { policy: parsePolicy({ mode: 'allowlist', allow: [] }) };

/** Where sessions get their browsers: out of the pool, or started for them. */
export class BrowserSource {
  readonly #options: BrowserSourceOptions;
  readonly #pool: Pool;
  /** Ids of browsers that are being started. */
  readonly #starting = new Set<string>();
  /** Starts that a caller waits for. */
  #awaited = 0;

  constructor(options: BrowserSourceOptions) {
    this.#options = options;
    this.#pool = new Pool({
      size: options.pool,
      engine: options.engine,
      start: (signal) => this.#start(options.engine, NOTHING, {}, signal),
      busy: () => this.#awaited > 0,
      onFault: options.onFault,
    });
  }

  /** Begins to fill the pool. */
  open(): void {
    if (this.#options.pool > 0 && this.look().found) this.#pool.fill();
  }

  /** Ids that belong to this process and to no session: what no sweep may touch. */
  get ids(): string[] {
    return [...this.#starting, ...this.#pool.ids];
  }

  get pooled(): number {
    return this.#pool.ids.length;
  }

  /** The browser for an engine, looked for anew each time: it may be installed while the service runs. */
  find(engine: Engine = this.#options.engine): FoundChrome | undefined {
    const { chrome } = this.#options;
    return findChrome({ engine, ...(chrome === undefined ? {} : { configured: chrome }) });
  }

  /** As `find`, for who only wants to know: a path that was configured and leads nowhere is told in `why`. */
  look(): { found?: FoundChrome | undefined; why?: string } {
    try {
      return { found: this.find() };
    } catch (error) {
      if (error instanceof AirlockError) return { why: error.message };
      throw error;
    }
  }

  /** The browsers of this machine with their versions. */
  async list(): Promise<{ engine: string; path: string; version?: string }[]> {
    return Promise.all(
      this.#all().map(async ({ engine, path }) => {
        const version = await versionOf(path);
        return { engine, path, ...(version === undefined ? {} : { version }) };
      }),
    );
  }

  #all(): FoundChrome[] {
    const named = this.#options.chrome;
    return findAll(named !== undefined && this.look().why !== undefined ? undefined : named);
  }

  /**
   * A browser for one session, which reaches what `reach` says and looks as `spec` says.
   * @throws AirlockError `browser_unavailable`, `disk_full`, `floor_down`, `profile_busy`, `invalid_request`, or the
   * reason of `signal`
   */
  async take(spec: SessionSpec, reach: Reach, signal: AbortSignal): Promise<Browser> {
    const engine = engineOf(spec, this.#options.engine);
    const profile = await this.#profile(spec);
    // A pooled browser has a profile of its own, and no window.
    const ready = profile || spec.headless === false ? undefined : this.#pool.take(engine);
    if (ready) {
      try {
        await ready.assign(reach, spec, signal);
        return ready;
      } catch (error) {
        await ready.reap('launch_failed');
        signal.throwIfAborted();
        // It died in the pool, unnoticed until now: the caller gets a fresh one.
        if (error instanceof AirlockError) throw error;
      }
    }
    this.#awaited += 1;
    try {
      return await this.#start(engine, reach, spec, signal, profile);
    } finally {
      this.#awaited -= 1;
    }
  }

  /** Ends what no session has. */
  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #profile({ profile, onBusy }: SessionSpec): Promise<Profile | undefined> {
    if (profile === undefined) return undefined;
    try {
      return await Profile.take(this.#options.dataDir, profile);
    } catch (error) {
      const busy = error instanceof AirlockError && error.code === 'profile_busy';
      if (busy && onBusy === 'ephemeral') return undefined;
      throw error;
    }
  }

  /** The profile goes back when the browser has ended, or comes to nothing. */
  async #start(
    engine: Engine,
    reach: Reach,
    spec: SessionSpec,
    signal: AbortSignal,
    profile?: Profile,
  ): Promise<Browser> {
    const { runtimeDir, self, noSandbox, strictNetwork, dns, node, diskQuotaBytes, onFault } = this.#options;
    const id = newSessionId(node);
    this.#starting.add(id);
    try {
      const chrome = this.find(engine);
      if (!chrome)
        throw new AirlockError('browser_unavailable', `No browser for the engine ${engine} was found`, {
          // Another engine helps where there is one.
          ...(this.look().found ? { advice: 'engine' as const } : {}),
        });
      const terms = { noSandbox, strictNetwork, dns, reach, self, runtimeDir, spec, diskQuotaBytes, onFault };
      return await Browser.start({ id, chrome, ...terms, ...(profile && { profile }) }, signal);
    } catch (error) {
      profile?.[Symbol.dispose]();
      throw error;
    } finally {
      this.#starting.delete(id);
    }
  }
}

/**
 * The engine of a session: a window is of full Chrome, unless the caller names an engine.
 * @throws AirlockError `invalid_request` for options that exclude each other; `browser_unavailable` without a display
 */
function engineOf(spec: SessionSpec, usual: Engine): Engine {
  if (spec.onBusy !== undefined && spec.profile === undefined) {
    throw new AirlockError('invalid_request', '/onBusy: is about a profile, and none is named', {
      extra: { pointer: '/onBusy' },
    });
  }
  if (spec.headless !== false) return spec.engine ?? usual;
  if (spec.engine === 'headless-shell') {
    throw new AirlockError(
      'invalid_request',
      '/headless: the headless shell has no window; use the engine chrome',
      {
        extra: { pointer: '/headless' },
      },
    );
  }
  if (hasDisplay()) return 'chrome';
  throw new AirlockError(
    'browser_unavailable',
    'There is no display to open a window on: the service runs with neither DISPLAY nor WAYLAND_DISPLAY',
    { retryable: false, extra: { pointer: '/headless' }, advice: 'display' },
  );
}
