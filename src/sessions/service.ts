import { execFile } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { promisify } from 'node:util';
import { LRUCache } from 'lru-cache';
import { AirlockError } from '../errors.ts';
import { decideUrl } from '../policy/decide.ts';
import type { Decision } from '../policy/decision.ts';
import { narrowPolicy, type Policy, parsePolicy } from '../policy/policy.ts';
import type { SelfRegistry } from '../policy/self.ts';
import { type Receipt, Receipts } from '../residual/receipts.ts';
import type { RuntimeDir } from '../residual/runtime-dir.ts';
import type { SweepResult } from '../residual/sweep.ts';
import { Browser } from './browser.ts';
import { type Engine, type FoundChrome, findAll, findChrome } from './find-chrome.ts';
import { type CloseReason, Session } from './session.ts';
import { newSessionId } from './session-id.ts';
import type { SessionSpec } from './spec.ts';
import { Sweeper } from './sweeper.ts';

export interface ServiceOptions {
  readonly version: string;
  readonly stateDir: string;
  readonly runtimeDir: RuntimeDir;
  /** The ceiling: no session gets more. */
  readonly policy: Policy;
  readonly self: SelfRegistry;
  readonly engine: Engine;
  /** Path of a browser that the operator named. */
  readonly chrome: string | undefined;
  readonly noSandbox: boolean;
  readonly maxSessions: number;
  readonly node: string | undefined;
  readonly ttlSec: number;
  readonly idleSec: number;
  readonly onFault: (error: unknown) => void;
  /** A sweep found something to remove. */
  readonly onSwept: (result: SweepResult) => void;
}

interface ServiceEvents {
  opened: [Session];
  closed: [Receipt];
}

/** Answers of POST /v1/sessions that are given again for the same Idempotency-Key (api.md: 24 h). */
const IDEMPOTENCY_TTL_MS = 24 * 3600 * 1000;

/** All sessions of this process: who may have one, which are open, how the ended ones ended. */
export class Service extends EventEmitter<ServiceEvents> {
  readonly options: ServiceOptions;
  readonly receipts = new Receipts();
  readonly startedAt = Date.now();
  readonly sweeper: Sweeper;
  readonly #sessions = new Map<string, Session>();
  readonly #startingIds = new Set<string>();
  readonly #starting = new Set<Promise<unknown>>();
  readonly #byKey = new LRUCache<string, Promise<Session>>({ max: 1000, ttl: IDEMPOTENCY_TTL_MS });
  readonly #stopping = new AbortController();

  constructor(options: ServiceOptions) {
    super();
    this.options = options;
    this.sweeper = new Sweeper({
      runtimeDir: options.runtimeDir,
      liveSessions: () => this.liveIds(),
      onSwept: options.onSwept,
      onFault: options.onFault,
    });
  }

  get draining(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Sessions that are open or being made. */
  get load(): number {
    return this.#sessions.size + this.#starting.size;
  }

  /** The browser for an engine, looked for anew each time: it may be installed while the service runs. */
  chrome(engine: Engine = this.options.engine): FoundChrome | undefined {
    return findChrome({
      engine,
      ...(this.options.chrome === undefined ? {} : { configured: this.options.chrome }),
    });
  }

  /**
   * @param client aborted when the caller hangs up; what was made by then is removed again
   * @throws AirlockError `capacity`, `draining`, `browser_unavailable`, `invalid_policy`, `disk_full`
   */
  create(spec: SessionSpec, client: AbortSignal, idempotencyKey?: string): Promise<Session> {
    const known = idempotencyKey === undefined ? undefined : this.#byKey.get(idempotencyKey);
    if (known) return known;
    const made = this.#create(spec, client);
    if (idempotencyKey !== undefined) {
      this.#byKey.set(idempotencyKey, made);
      made.catch(() => this.#byKey.delete(idempotencyKey));
    }
    return made;
  }

  /** Why no session can be created now; empty when one can. */
  notReady(): string[] {
    const reasons: string[] = [];
    if (this.draining) reasons.push('draining');
    if (this.load >= this.options.maxSessions) reasons.push('full');
    if (!this.chrome()) reasons.push('no browser');
    if (this.sweeper.failed.length > 0) reasons.push('residue that cannot be removed');
    return reasons;
  }

  /** The browsers of this machine with their versions. */
  async browsers(): Promise<{ engine: string; path: string; version?: string }[]> {
    const found = findAll(this.options.chrome);
    return Promise.all(
      found.map(async ({ engine, path }) => {
        const version = await versionOf(path);
        return { engine, path, ...(version === undefined ? {} : { version }) };
      }),
    );
  }

  /** Ids of all that this process has open or is making: what no sweep may touch. */
  liveIds(): ReadonlySet<string> {
    return new Set([...this.#sessions.keys(), ...this.#startingIds]);
  }

  /** What the policy of the service says of a navigation, narrowed by `inner` where given. Connects to nothing. */
  judge(url: string, inner: Policy | undefined): Decision {
    const { policy, self } = this.options;
    const judged = inner === undefined ? policy : narrowPolicy(policy, inner);
    return decideUrl(url, judged, { self, use: 'navigation', method: 'GET' });
  }

  list(): Session[] {
    return [...this.#sessions.values()];
  }

  /** @throws AirlockError `session_not_found`; `session_gone` with reason and receipt for one that ended */
  get(id: string): Session {
    const session = this.#sessions.get(id);
    if (session && session.state === 'ready') return session;
    const receipt = this.receipts.get(id);
    if (receipt) throw gone(receipt);
    if (session)
      throw new AirlockError('session_gone', `Session ${id} is closing`, { extra: { sessionId: id } });
    throw new AirlockError('session_not_found', `There is no session ${id}`);
  }

  /**
   * Closes a session. A second call for one that was deleted gives the same receipt.
   * @throws AirlockError `session_not_found`; `session_gone` for one that ended on its own
   */
  async close(id: string): Promise<Receipt> {
    const session = this.#sessions.get(id);
    if (session) return session.close('deleted');
    const receipt = this.receipts.get(id);
    if (receipt?.reason === 'deleted') return receipt;
    if (receipt) throw gone(receipt);
    throw new AirlockError('session_not_found', `There is no session ${id}`);
  }

  closeAll(reason: CloseReason): Promise<Receipt[]> {
    return Promise.all(this.list().map((session) => session.close(reason)));
  }

  /** No new sessions from now on; closes all, also those that are being made. */
  async stop(): Promise<Receipt[]> {
    this.#stopping.abort(new AirlockError('draining', 'The service is shutting down'));
    await Promise.allSettled(this.#starting);
    return this.closeAll('shutdown');
  }

  async #create(spec: SessionSpec, client: AbortSignal): Promise<Session> {
    this.#stopping.signal.throwIfAborted();
    const { maxSessions } = this.options;
    if (this.load >= maxSessions) {
      throw new AirlockError('capacity', `${maxSessions} sessions are open, which is the limit`, {
        retryAfterSec: 5,
      });
    }
    const policy = this.#policyFor(spec);
    const cancelled = new AbortController();
    const onClient = () => cancelled.abort(new AirlockError('cancelled', 'The client went away'));
    if (client.aborted) onClient();
    client.addEventListener('abort', onClient, { once: true });
    const starting = this.#start(spec, policy, AbortSignal.any([cancelled.signal, this.#stopping.signal]));
    this.#starting.add(starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(starting);
      client.removeEventListener('abort', onClient);
    }
  }

  async #start(spec: SessionSpec, policy: Policy, signal: AbortSignal): Promise<Session> {
    const { options } = this;
    const engine = spec.engine ?? options.engine;
    const chrome = this.chrome(engine);
    if (!chrome)
      throw new AirlockError('browser_unavailable', `No browser for the engine ${engine} was found`);
    const id = newSessionId(options.node);
    this.#startingIds.add(id);
    const browser = await Browser.start(
      {
        id,
        chrome,
        noSandbox: options.noSandbox,
        policy,
        self: options.self,
        runtimeDir: options.runtimeDir,
        spec,
        onFault: options.onFault,
      },
      signal,
    ).finally(() => this.#startingIds.delete(id));
    const session = new Session(browser, spec, {
      ttlSec: Math.min(spec.ttlSec ?? options.ttlSec, options.ttlSec),
      idleSec: Math.min(spec.idleSec ?? options.idleSec, options.idleSec),
    });
    this.#sessions.set(session.id, session);
    session.once('closed', (receipt) => {
      this.receipts.add(receipt);
      this.#sessions.delete(session.id);
      this.emit('closed', receipt);
    });
    if (signal.aborted) {
      await session.close('client_gone');
      throw signal.reason;
    }
    this.emit('opened', session);
    return session;
  }

  #policyFor(spec: SessionSpec): Policy {
    return spec.policy === undefined
      ? this.options.policy
      : narrowPolicy(this.options.policy, parsePolicy(spec.policy));
  }
}

function gone(receipt: Receipt): AirlockError {
  return new AirlockError('session_gone', `Session ${receipt.sessionId} has ended: ${receipt.reason}`, {
    extra: { sessionId: receipt.sessionId, reason: receipt.reason, receipt },
  });
}

/** The answer of `chrome --version`, which starts no browser; `undefined` when it gives none. */
async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 5000, env: {} });
    return stdout.trim();
  } catch {
    return undefined; // the doctor says more
  }
}
