import { EventEmitter } from 'node:events';
import { AirlockError } from '../errors.ts';
import { answerByPolicy } from '../page/dialogs.ts';
import { judged } from '../page/navigate.ts';
import { type DecisionView, type DownloadView, Operation, type PageEnvironment } from '../page/operation.ts';
import { ReadingStore } from '../page/reading/store.ts';
import type { RefTable } from '../page/refs.ts';
import { freeHungRenderers } from '../page/renderer.ts';
import { SnapshotStore } from '../page/snapshot/store.ts';
import type { Tab } from '../page/tab.ts';
import type { Tabs } from '../page/tabs.ts';
import type { DecisionRecord } from '../policy/decision-log.ts';
import type { ConnectFailure } from '../policy/failure-log.ts';
import { narrowPolicy, type Policy } from '../policy/policy.ts';
import type { Receipt } from '../residual/receipts.ts';
import { answerInTime } from './answer-in-time.ts';
import type { Browser } from './browser.ts';
import { deadline } from './deadline.ts';
import { diagnosed, explained } from './diagnosis.ts';
import { EventRing } from './events.ts';
import { Lane } from './lane.ts';
import { watchQuota } from './quota.ts';
import { SessionOrigins } from './session-origins.ts';
import type { SessionSpec } from './spec.ts';
import { tellOfTab } from './tab-events.ts';
import { UploadFolder } from './upload-folder.ts';

export type SessionState = 'ready' | 'closing' | 'closed' | 'crashed';

/** Why a session ended; the `reason` of its receipt. */
export type CloseReason =
  | 'deleted'
  | 'ttl'
  | 'idle'
  | 'quota'
  | 'crashed'
  | 'shutdown'
  | 'client_gone'
  | 'launch_failed'
  | 'floor_down';

export interface SessionLimits {
  ttlSec: number;
  idleSec: number;
}

export interface SessionInit extends SessionLimits {
  /** What the workspace may hold, in bytes. */
  readonly diskQuotaBytes: number;
}

export interface RunRequest {
  /** Id of the tab; the active one when absent. */
  readonly tab?: string | undefined;
  readonly timeoutMs: number;
  /** Aborted when the client hangs up. */
  readonly client: AbortSignal;
}

interface SessionEvents {
  closed: [Receipt];
  /** An operation got its turn, after this many seconds of waiting. */
  turn: [waitedSeconds: number];
}

/** Opening, showing and closing a tab is Chrome's own work; no page can hold it up. */
const TAB_TIMEOUT_MS = 10_000;

/** One caller's browser: what runs in it, how long it lives, how it ends. */
export class Session extends EventEmitter<SessionEvents> implements PageEnvironment {
  readonly id: string;
  readonly browser: Browser;
  readonly createdAt = Date.now();
  readonly events = new EventRing();
  readonly snapshots = new SnapshotStore();
  readonly readings = new ReadingStore();
  readonly dialogs: PageEnvironment['dialogs'];
  readonly origins: SessionOrigins;
  labels: Readonly<Record<string, string>>;
  readonly #limits: SessionLimits;
  readonly #lane = new Lane();
  readonly #ending = new AbortController();
  #state: SessionState = 'ready';
  #lastUsed = Date.now();
  #clock: NodeJS.Timeout | undefined;
  #closing: Promise<Receipt> | undefined;
  #closeReason: CloseReason | undefined;

  constructor(browser: Browser, spec: SessionSpec, init: SessionInit) {
    super();
    this.id = browser.id;
    this.browser = browser;
    this.dialogs = spec.dialogs ?? 'report';
    this.labels = spec.labels ?? {};
    this.origins = new SessionOrigins(browser.originPages, browser.profile, browser.onFault);
    this.#limits = { ttlSec: init.ttlSec, idleSec: init.idleSec };
    for (const tab of this.tabs.list()) this.#adopt(tab);
    this.tabs.on('opened', (tab) => this.#adopt(tab));
    void browser.exited.then(() => this.#ended('crashed'));
    browser.floor.onDown(() => this.#ended('floor_down'));
    watchQuota(
      () => browser.diskUsage(),
      init.diskQuotaBytes,
      this.#ending.signal,
      () => this.#ended('quota'),
    );
    browser.floor.log.onDenial(({ time: _, ...record }) => this.events.push('denial', record));
    browser.downloads.onChange((download) => this.events.push('download', { ...download }));
    this.#armClock();
  }

  get state(): SessionState {
    return this.#state;
  }

  /** Why it is closing, or was closed; `undefined` while it is open. */
  get closeReason(): CloseReason | undefined {
    return this.#closeReason;
  }

  get tabs(): Tabs {
    return this.browser.tabs;
  }

  get refs(): RefTable {
    return this.browser.refs;
  }

  get filesDir(): string {
    return this.browser.workspace.files;
  }

  /** A place for the files that come with one request. */
  uploadFolder(): UploadFolder {
    return new UploadFolder(this.browser.workspace.path, () => this.browser.files.room());
  }

  get laneDepth(): number {
    return this.#lane.depth;
  }

  /** `Date.now()` milliseconds at which the session ends whatever it does. */
  get expiresAt(): number {
    return this.createdAt + this.#limits.ttlSec * 1000;
  }

  /** `Date.now()` milliseconds at which it ends if no request comes. */
  get idleExpiresAt(): number {
    return this.#lastUsed + this.#limits.idleSec * 1000;
  }

  setLimits(limits: Partial<SessionLimits>): void {
    Object.assign(this.#limits, limits);
    this.touch();
    this.#armClock();
  }

  /** Every request about the session counts as use. */
  touch(): void {
    this.#lastUsed = Date.now();
  }

  judgeNavigation(url: string, tab?: string): DecisionView {
    const decision = this.browser.judge.announce({ url, method: 'GET', use: 'navigation', tab });
    return { target: url, ...decision };
  }

  /** Narrows the network policy of the live session. @throws AirlockError `invalid_policy` */
  async narrowPolicy(inner: Policy): Promise<{ policy: Policy; connectionsClosed: number }> {
    const policy = narrowPolicy(this.browser.floor.policy, inner);
    const { connectionsClosed } = await this.#inTime(this.browser.setPolicy(policy));
    return { policy, connectionsClosed };
  }

  denialsSince(time: number): DecisionView[] {
    return this.browser.floor.log
      .query({ verdict: 'deny' })
      .filter((record: DecisionRecord) => record.time >= time)
      .map((record: DecisionRecord) => ({
        verdict: record.verdict,
        reason: record.reason,
        target: record.target,
        ...(record.rule === undefined ? {} : { rule: record.rule }),
        ...(record.address === undefined ? {} : { address: record.address }),
      }));
  }

  failuresSince(time: number): ConnectFailure[] {
    return this.browser.floor.failures.since(time);
  }

  downloadsSince(time: number): DownloadView[] {
    return this.browser.downloads.since(time);
  }

  holdInput(): () => void {
    return this.browser.holdInput();
  }

  /**
   * Runs `work` as one operation on a tab, when its turn in the lane comes, within the deadline (waiting counts).
   * @throws AirlockError what `work` throws, with a `diagnosis` of the page; `timeout`, `cancelled`, `session_gone`,
   * `browser_crashed`, `lane_full`, `tab_not_found`, `dialog_open`
   */
  run<T>(request: RunRequest, work: (op: Operation) => Promise<T>): Promise<T> {
    return this.#operate(request, work, (signal, turn) => this.#lane.run(signal, turn), true);
  }

  /**
   * As `run`, without waiting for the lane: for what looks at a page that may be busy, or stops it.
   * @throws AirlockError as `run`, `lane_full` excepted
   */
  runBeside<T>(request: RunRequest, work: (op: Operation) => Promise<T>): Promise<T> {
    return this.#operate(request, work, (_signal, turn) => turn(), false);
  }

  async #operate<T>(
    request: RunRequest,
    work: (op: Operation) => Promise<T>,
    queue: (signal: AbortSignal, turn: () => Promise<T>) => Promise<T>,
    frees: boolean,
  ): Promise<T> {
    this.#assertOpen();
    this.touch();
    const startedAt = Date.now();
    using limit = deadline({
      timeoutMs: request.timeoutMs,
      client: request.client,
      session: this.#ending.signal,
    });
    let tab: Tab | undefined;
    try {
      const running = queue(limit.signal, async () => {
        this.emit('turn', (Date.now() - startedAt) / 1000);
        tab = this.tabs.get(request.tab);
        using op = new Operation({
          tab,
          env: this,
          signal: limit.signal,
          timeoutMs: Math.max(1, request.timeoutMs - (Date.now() - startedAt)),
        });
        try {
          return await work(op);
        } catch (error) {
          // Keeps the lane until the page can take the next operation; the caller has the answer before.
          if (frees && isTimeout(error)) await freeHungRenderers(tab);
          throw error;
        }
      });
      return await answerInTime(running, limit.signal);
    } catch (error) {
      const reason = await explained(error, tab, this.#ending.signal);
      throw diagnosed(reason, tab, this.denialsSince(startedAt));
    } finally {
      this.touch();
    }
  }

  /**
   * Opens a tab on about:blank.
   * @param url where the caller wants to go in it: judged first, so that a denied one opens nothing
   * @throws AirlockError `tab_limit`, `policy_denied`, `session_gone`, `timeout`
   */
  async openTab(url: string | undefined, activate: boolean): Promise<Tab> {
    this.#assertOpen();
    if (url !== undefined) judged(this, url);
    const tab = await this.#inTime(this.browser.openTab());
    if (activate) await this.activateTab(tab.id);
    return tab;
  }

  /** @throws AirlockError `tab_not_found`, `timeout` */
  async activateTab(id: string): Promise<Tab> {
    const tab = this.tabs.get(id);
    await this.#inTime(tab.session.send('Page.bringToFront', undefined, { timeout: 0 }));
    return this.tabs.activate(tab.id);
  }

  /**
   * Closes a tab without asking its page, and waits until it is gone.
   * @throws AirlockError `tab_not_found`, `timeout`
   */
  async closeTab(id: string): Promise<void> {
    const tab = this.tabs.get(id);
    const gone = new Promise<void>((resolve) => tab.once('closed', () => resolve()));
    await this.#inTime(
      Promise.all([this.browser.connection.send('Target.closeTarget', { targetId: tab.targetId }), gone]),
    );
  }

  /** Asks Chrome for the titles of all tabs: it tells of them by itself at navigations only. */
  async refreshTitles(): Promise<void> {
    await this.#inTime(this.browser.refreshTitles());
  }

  /** What Chrome itself answers, or the reason why it does not. */
  async #inTime<T>(work: Promise<T>): Promise<T> {
    const never = new AbortController().signal;
    using limit = deadline({ timeoutMs: TAB_TIMEOUT_MS, client: never, session: this.#ending.signal });
    const ended = new Promise<never>((_, reject) => {
      limit.signal.addEventListener('abort', () => reject(limit.signal.reason), { once: true });
    });
    // Awaited here: what is returned unawaited loses its limit at once.
    return await Promise.race([work, ended]);
  }

  /** Resolves when nothing runs or waits in the lane. */
  whenQuiet(): Promise<void> {
    return this.#lane.whenQuiet();
  }

  /** Ends the session for `reason`; every call gets the same receipt. What runs in it ends first, with `session_gone`. */
  close(reason: CloseReason): Promise<Receipt> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  async #close(reason: CloseReason): Promise<Receipt> {
    this.#state = 'closing';
    this.#closeReason = reason;
    this.events.push('closing', { reason });
    clearTimeout(this.#clock);
    this.#ending.abort(
      reason === 'crashed'
        ? new AirlockError('browser_crashed', `The browser of session ${this.id} died`)
        : new AirlockError('session_gone', `Session ${this.id} was closed: ${reason}`, { extra: { reason } }),
    );
    const receipt = await this.browser.reap(reason);
    this.#state = reason === 'crashed' ? 'crashed' : 'closed';
    this.events.push('closed', { reason, receipt });
    this.events.end();
    this.emit('closed', receipt);
    return receipt;
  }

  #ended(reason: CloseReason): void {
    // The receipt is kept by whoever listens to `closed`; a fault in closing shows in it as survivors.
    if (this.#closing === undefined) void this.close(reason);
  }

  #assertOpen(): void {
    if (this.#ending.signal.aborted) throw this.#ending.signal.reason;
  }

  #adopt(tab: Tab): void {
    if (this.dialogs !== 'report') answerByPolicy(tab, this.dialogs, this.browser.onFault);
    tellOfTab(tab, this.events);
    this.origins.watch(tab);
  }

  /** For the earliest moment at which the session may end: being used puts that off, and the clock sees so when it rings. */
  #armClock(): void {
    clearTimeout(this.#clock);
    if (this.#closing) return;
    const now = Date.now();
    const next = Math.min(this.expiresAt, this.idleExpiresAt);
    this.#clock = setTimeout(() => this.#tick(), Math.min(Math.max(0, next - now), 2 ** 31 - 1));
    this.#clock.unref();
  }

  #tick(): void {
    const now = Date.now();
    if (now >= this.expiresAt) {
      this.#ended('ttl');
      return;
    }
    // An operation under way is use.
    if (this.#lane.depth > 0) this.touch();
    if (now >= this.idleExpiresAt) this.#ended('idle');
    else this.#armClock();
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof AirlockError && error.code === 'timeout';
}
