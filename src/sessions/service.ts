import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { AirlockError } from '../errors.ts';
import { setState } from '../page/state.ts';
import type { StorageState } from '../page/storage-schema.ts';
import { decideUrl } from '../policy/decide.ts';
import type { Decision } from '../policy/decision.ts';
import { narrowPolicy, type Policy } from '../policy/policy.ts';
import { type Receipt, Receipts } from '../residual/receipts.ts';
import type { SweepResult } from '../residual/sweep.ts';
import { Admission } from './admission.ts';
import { BrowserSource, type BrowserSourceOptions } from './browser-source.ts';
import { checkSpec } from './check-spec.ts';
import { Audience, Idempotency, type Once } from './idempotency.ts';
import { type Reach, reachOf } from './reach.ts';
import { type CloseReason, Session } from './session.ts';
import type { SessionSpec } from './spec.ts';
import { Sweeper } from './sweeper.ts';

export interface ServiceOptions extends BrowserSourceOptions {
  readonly version: string;
  readonly stateDir: string;
  /** The ceiling: no session gets more. */
  readonly policy: Policy;
  readonly maxSessions: number;
  readonly ttlSec: number;
  readonly idleSec: number;
  /** A sweep found something to remove. */
  readonly onSwept: (result: SweepResult) => void;
}

export interface CreateRequest {
  readonly spec: SessionSpec;
  /** Aborted when the caller hangs up; what was made by then is removed again. */
  readonly client: AbortSignal;
  /** How long to wait for a place when all are taken. */
  readonly waitMs?: number;
}

interface ServiceEvents {
  opened: [session: Session, startSeconds: number];
  closed: [Receipt];
}

/** Answers of POST /v1/sessions that are given again for the same Idempotency-Key (api.md: 24 h). */
const IDEMPOTENCY_TTL_MS = 24 * 3600 * 1000;

/** For the state that a session begins with. */
const STATE_TIMEOUT_MS = 30_000;

/** All sessions of this process: who may have one, which are open, how the ended ones ended. */
export class Service extends EventEmitter<ServiceEvents> {
  readonly options: ServiceOptions;
  readonly receipts = new Receipts();
  readonly sweeper: Sweeper;
  readonly browsers: BrowserSource;
  readonly admission: Admission;
  readonly #sessions = new Map<string, Session>();
  readonly #starting = new Set<Promise<unknown>>();
  readonly #audiences = new Map<string, Audience>();
  readonly #byKey = new Idempotency<Session>(IDEMPOTENCY_TTL_MS);
  readonly #stopping = new AbortController();

  constructor(options: ServiceOptions) {
    super();
    this.options = options;
    this.browsers = new BrowserSource(options);
    this.admission = new Admission({ maxSessions: options.maxSessions });
    this.sweeper = new Sweeper({
      runtimeDir: options.runtimeDir,
      liveSessions: () => new Set([...this.#sessions.keys(), ...this.browsers.ids]),
      onSwept: options.onSwept,
      onFault: options.onFault,
    });
  }

  get draining(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Why no session can be created now; empty when one can. */
  notReady(): string[] {
    const reasons: string[] = [];
    if (this.draining) reasons.push('draining');
    if (this.admission.full) reasons.push('full');
    if (!this.browsers.look().found) reasons.push('no browser');
    if (this.sweeper.failed.length > 0) reasons.push('residue that cannot be removed');
    return reasons;
  }

  /** What the policy of the service says of a navigation, narrowed by `inner` where given. Connects to nothing. */
  judge(url: string, inner: Policy | undefined): Decision {
    const { policy, self } = this.options;
    const judged = inner === undefined ? policy : narrowPolicy(policy, inner);
    // Nobody navigates to a WebSocket: it is what a page opens.
    const use = /^wss?:/i.test(url.trim()) ? 'subresource' : 'navigation';
    return decideUrl(url, judged, { self, use, method: 'GET' });
  }

  /**
   * @throws AirlockError `capacity`, `draining`, `browser_unavailable`, `invalid_policy`, `invalid_request` and
   * `policy_denied` (the proxy), `disk_full`, `cancelled`
   */
  create(request: CreateRequest): Promise<Session> {
    const made = this.#create(request);
    this.#starting.add(made);
    const done = () => this.#starting.delete(made);
    made.then(done, done);
    return made;
  }

  /**
   * `create`, or the session that a request with this Idempotency-Key made before.
   * @throws AirlockError `idempotency_key_reused`
   */
  createOnce(key: string, request: CreateRequest): Once<Session> {
    // Whoever asks again in time waits for the same session, and has it also when the first caller has gone.
    const audience = this.#audiences.get(key) ?? new Audience();
    const once = this.#byKey.once(key, request.spec, () => {
      this.#audiences.set(key, audience);
      const made = this.create({ ...request, client: audience.gone });
      const done = () => this.#audiences.delete(key);
      made.then(done, done);
      return made;
    });
    // Only now: whoever is refused, for another body, does not wait for it.
    audience.join(request.client);
    return once;
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
    if (session) {
      throw new AirlockError('session_gone', `Session ${id} is closing: ${session.closeReason}`, {
        extra: { sessionId: id, reason: session.closeReason },
      });
    }
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

  /**
   * No new sessions from now on. What runs may finish within `drainMs`, or until `hurry` aborts; then all sessions are
   * closed, also those that are being made.
   */
  async stop(drainMs: number, hurry: AbortSignal): Promise<Receipt[]> {
    this.#stopping.abort(new AirlockError('draining', 'The service is shutting down'));
    await Promise.allSettled(this.#starting);
    const quiet = Promise.all(this.list().map((session) => session.whenQuiet()));
    const late = delay(drainMs, undefined, { signal: hurry }).catch(() => undefined);
    await Promise.race([quiet, late]);
    const [receipts] = await Promise.all([this.closeAll('shutdown'), this.browsers.close()]);
    return receipts;
  }

  async #create({ spec, client, waitMs = 0 }: CreateRequest): Promise<Session> {
    this.#stopping.signal.throwIfAborted();
    const startedAt = performance.now();
    checkSpec(spec, this.options);
    const reach = reachOf(spec, this.options);
    const cancelled = new AbortController();
    const onClient = () => cancelled.abort(new AirlockError('cancelled', 'The client went away'));
    if (client.aborted) onClient();
    client.addEventListener('abort', onClient, { once: true });
    const signal = AbortSignal.any([cancelled.signal, this.#stopping.signal]);
    try {
      await this.admission.enter(waitMs, signal);
      const session = await this.#start(spec, reach, signal);
      this.emit('opened', session, (performance.now() - startedAt) / 1000);
      return session;
    } finally {
      client.removeEventListener('abort', onClient);
    }
  }

  /** The place that admission gave is given back when the session ends, or at once if none comes of it. */
  async #start(spec: SessionSpec, reach: Reach, signal: AbortSignal): Promise<Session> {
    const { options } = this;
    let session: Session;
    try {
      const browser = await this.browsers.take(spec, reach, signal);
      session = new Session(browser, spec, {
        ttlSec: spec.ttlSec ?? options.ttlSec,
        idleSec: spec.idleSec ?? options.idleSec,
        diskQuotaBytes: options.diskQuotaBytes,
      });
    } catch (error) {
      this.admission.leave();
      throw error;
    }
    this.#sessions.set(session.id, session);
    session.once('closed', (receipt) => {
      this.receipts.add(receipt);
      this.#sessions.delete(session.id);
      this.admission.leave();
      // What is left is swept for, and until it is gone the service is not ready.
      if (!receipt.zero) this.sweeper.request();
      this.emit('closed', receipt);
    });
    if (signal.aborted) {
      await session.close('client_gone');
      throw signal.reason;
    }
    if (spec.storageState !== undefined) await this.#restore(session, spec.storageState, signal);
    return session;
  }

  /** A session that would be without a part of its state is none. */
  async #restore(session: Session, state: StorageState, client: AbortSignal): Promise<void> {
    try {
      await session.run({ timeoutMs: STATE_TIMEOUT_MS, client }, (op) => setState(op, state));
    } catch (error) {
      await session.close(client.aborted ? 'client_gone' : 'launch_failed');
      client.throwIfAborted();
      throw error;
    }
  }
}

function gone(receipt: Receipt): AirlockError {
  return new AirlockError('session_gone', `Session ${receipt.sessionId} has ended: ${receipt.reason}`, {
    extra: { sessionId: receipt.sessionId, reason: receipt.reason, receipt },
  });
}
