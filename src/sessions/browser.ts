import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Connection } from 'puppeteer-core/internal/cdp/Connection.js';
import { AirlockError, messageOf } from '../errors.ts';
import { RefTable } from '../page/refs.ts';
import type { Tab } from '../page/tab.ts';
import { Tabs } from '../page/tabs.ts';
import { Floor } from '../policy/floor.ts';
import { type Policy, type PolicyJson, policyToJson } from '../policy/policy.ts';

import { Resolver } from '../policy/resolver.ts';
import type { SelfRegistry } from '../policy/self.ts';
import { identify, type ProcessIdentity } from '../residual/identity.ts';
import { ProcessIndex } from '../residual/process-index.ts';
import { reap } from '../residual/reap.ts';
import type { Receipt } from '../residual/receipts.ts';
import type { RuntimeDir } from '../residual/runtime-dir.ts';
import { Workspace } from '../residual/workspace.ts';
import { chromeEnvironment } from './chrome-environment.ts';
import { chromeFlags, devShmIsSmall } from './chrome-flags.ts';
import { Downloads } from './downloads.ts';
import type { Engine, FoundChrome } from './find-chrome.ts';
import { Guard } from './guard.ts';
import { type ChromeExit, type LaunchedChrome, launchChrome } from './launch-chrome.ts';
import { OriginPages } from './origin-pages.ts';
import { outfit } from './outfit.ts';
import { PipeTransport } from './pipe-transport.ts';
import type { SessionSpec } from './spec.ts';
import { Targets } from './targets.ts';
import { UrlJudge } from './url-judge.ts';
import { type Usage, usageOf } from './usage.ts';

export interface BrowserOptions {
  /** Names the workspace; becomes the id of the session. */
  readonly id: string;
  readonly chrome: FoundChrome;
  readonly noSandbox: boolean;
  readonly policy: Policy;
  readonly self: SelfRegistry;
  readonly runtimeDir: RuntimeDir;
  readonly spec: SessionSpec;
  readonly onFault: (error: unknown) => void;
}

/** A page that opens more than this has its new tabs closed at once: headless-shell has no popup blocker. */
const MAX_TABS = 20;
const STDERR_KEPT = 16 * 1024;

/**
 * One Chrome behind its floor: workspace, process, pipe, targets. Born whole or not at all; ends with a receipt. A
 * session is this plus a caller; a pool holds some without.
 */
export class Browser {
  readonly id: string;
  readonly workspace: Workspace;
  readonly floor: Floor;
  readonly tabs = new Tabs();
  readonly refs = new RefTable();
  readonly judge: UrlJudge;
  /** Tabs that were closed as they opened, because there were too many. */
  readonly refusedTabs: string[] = [];
  readonly #options: BrowserOptions;
  #spec: SessionSpec;
  #chrome: LaunchedChrome | undefined;
  #connection: Connection | undefined;
  #downloads: Downloads | undefined;
  #originPages: OriginPages | undefined;
  #targets: Targets | undefined;
  #guard: Guard | undefined;
  #identity: ProcessIdentity | undefined;
  #reaped: Promise<Receipt> | undefined;

  private constructor(options: BrowserOptions, workspace: Workspace, floor: Floor) {
    this.#options = options;
    this.#spec = options.spec;
    this.id = options.id;
    this.workspace = workspace;
    this.floor = floor;
    this.judge = new UrlJudge(floor, options.self);
  }

  /**
   * Workspace, floor, Chrome, guard, canary, in this order. On any fault what exists by then is reaped first.
   * @throws AirlockError `browser_unavailable`, `disk_full`, `floor_down`, or the reason of `signal`
   */
  static async start(options: BrowserOptions, signal: AbortSignal): Promise<Browser> {
    signal.throwIfAborted();
    const workspace = await Workspace.create(options.runtimeDir, options.id);
    let browser: Browser | undefined;
    try {
      const floor = await Floor.open({
        policy: options.policy,
        self: options.self,
        resolver: new Resolver(),
        peerPids: () => browser?.processIds() ?? Promise.resolve(new Set<number>()),
      });
      browser = new Browser(options, workspace, floor);
      await browser.#launch(signal);
      await browser.#proveFloor(signal);
      return browser;
    } catch (error) {
      if (browser) await browser.reap('launch_failed');
      else await reap({ sessionId: options.id, reason: 'launch_failed', workspace, closeFloor: noFloor });
      throw error;
    }
  }

  get downloads(): Downloads {
    if (!this.#downloads) throw new AirlockError('internal', 'The browser is not started');
    return this.#downloads;
  }

  get originPages(): OriginPages {
    if (!this.#originPages) throw new AirlockError('internal', 'The browser is not started');
    return this.#originPages;
  }

  get connection(): Connection {
    if (!this.#connection) throw new AirlockError('internal', 'The browser is not started');
    return this.#connection;
  }

  get spec(): SessionSpec {
    return this.#spec;
  }

  /** What Chrome calls itself: `HeadlessChrome/156.0…`. */
  get product(): string {
    return this.#chrome?.product ?? '';
  }

  get pid(): number | undefined {
    return this.#chrome?.pid;
  }

  /** Resolves when Chrome's process has ended, for whatever reason. */
  get exited(): Promise<ChromeExit> {
    return this.#chrome?.exited ?? new Promise(() => undefined);
  }

  get onFault(): (error: unknown) => void {
    return this.#options.onFault;
  }

  get engine(): Engine {
    return this.#options.chrome.engine;
  }

  /** The network policy in force, as JSON. */
  get policyView(): PolicyJson {
    return policyToJson(this.floor.policy);
  }

  async usage(): Promise<Usage> {
    const pid = this.#chrome?.pid;
    return pid === undefined ? { processes: 0, memoryBytes: 0, sandbox: false } : usageOf(pid);
  }

  /** Chrome's process and all that descend from it. */
  async processIds(): Promise<Set<number>> {
    const pid = this.#chrome?.pid;
    if (pid === undefined) return new Set();
    const index = await ProcessIndex.read();
    return new Set([pid, ...index.descendants(pid).map((process) => process.pid)]);
  }

  /**
   * Judges by `policy` from now on, at both levels; connections that it does not let through are reset first.
   * @returns how many were
   */
  async setPolicy(policy: Policy): Promise<{ connectionsClosed: number }> {
    const closed = this.floor.setPolicy(policy);
    await this.#guard?.refresh();
    return closed;
  }

  /**
   * Opens a tab on about:blank; resolves when the guard is on it and it can be used.
   * @throws AirlockError `tab_limit`
   */
  async openTab(): Promise<Tab> {
    if (this.tabs.list().length >= MAX_TABS) {
      throw new AirlockError('tab_limit', `${MAX_TABS} tabs are open, which is the limit`);
    }
    const { targetId } = await this.connection.send('Target.createTarget', { url: 'about:blank' });
    const known = this.tabs.byTarget(targetId);
    if (known) return known;
    return new Promise((resolve) => {
      const onOpened = (tab: Tab) => {
        if (tab.targetId !== targetId) return;
        this.tabs.off('opened', onOpened);
        resolve(tab);
      };
      this.tabs.on('opened', onOpened);
    });
  }

  /** Asks Chrome for the titles of all tabs. */
  async refreshTitles(): Promise<void> {
    await this.#targets?.refreshTitles();
  }

  /** Stops reading from Chrome until the answer is called: back-pressure for what is written to disk as it comes in. */
  holdInput(): () => void {
    const pipe = this.#chrome?.pipeRead;
    pipe?.pause();
    return () => pipe?.resume();
  }

  /**
   * Gives a pooled browser to a caller: its policy, its looks.
   * @throws Error when Chrome died meanwhile; the reason of `signal`
   */
  async assign(policy: Policy, spec: SessionSpec, signal: AbortSignal): Promise<void> {
    const chrome = this.#chrome;
    if (!chrome) throw new AirlockError('internal', 'The browser is not started');
    this.#spec = spec;
    const dressed = this.tabs.list().map((tab) => outfit(tab.session, 'page', spec));
    await this.#untilExit(chrome, signal, Promise.all([this.setPolicy(policy), ...dressed]));
    this.floor.openToUser();
  }

  /** Ends everything and proves it. Every call gets the same receipt. */
  reap(reason: string): Promise<Receipt> {
    this.#reaped ??= this.#reap(reason);
    return this.#reaped;
  }

  async #reap(reason: string): Promise<Receipt> {
    const chrome = this.#chrome;
    const connection = this.#connection;
    const receipt = await reap({
      sessionId: this.id,
      reason,
      workspace: this.workspace,
      ...(chrome && this.#identity ? { chrome: { child: chrome.child, identity: this.#identity } } : {}),
      ...(connection ? { closeBrowser: () => connection.send('Browser.close').then(() => undefined) } : {}),
      closeFloor: () => this.floor.close(),
    });
    connection?.dispose();
    for (const tab of this.tabs.list()) tab.markClosed();
    return receipt;
  }

  async #launch(signal: AbortSignal): Promise<void> {
    const { chrome, noSandbox } = this.#options;
    const args = chromeFlags({
      engine: chrome.engine,
      profileDir: this.workspace.profile,
      floorAddress: this.floor.address,
      floorPort: this.floor.port,
      noSandbox,
      headless: true,
      smallDevShm: devShmIsSmall(),
    });
    this.#chrome = await launchChrome({
      path: chrome.path,
      args,
      env: chromeEnvironment({ home: this.workspace.home, tmp: this.workspace.tmp }, true),
      stderrLimit: STDERR_KEPT,
      signal,
    });
    const { pid } = this.#chrome;
    this.#identity = await identify(pid);
    if (!this.#identity) throw new AirlockError('browser_unavailable', 'Chrome ended right after its start');
    await this.workspace.setChrome({ ...this.#identity, pgid: pid });
    await this.#connect(this.#chrome, signal);
  }

  async #connect(chrome: LaunchedChrome, signal: AbortSignal): Promise<void> {
    const transport = new PipeTransport(chrome.pipeWrite, chrome.pipeRead);
    const connection = new Connection('', transport, undefined, 0, undefined, undefined, noLog);
    this.#connection = connection;
    const downloadDir = join(this.workspace.files, 'downloads');
    await mkdir(downloadDir, { mode: 0o700 });
    this.#downloads = new Downloads(connection, downloadDir);
    const originPages = new OriginPages(connection);
    this.#originPages = originPages;
    const guard = new Guard({
      connection,
      answer: (event) => originPages.answer(event),
      judge: this.judge,
      policy: () => this.floor.policy,
      tabOf: (frameId) => targets.tabOfFrame(frameId),
      outfit: (session, kind) => outfit(session, kind, this.#spec),
      onFault: this.#options.onFault,
    });
    this.#guard = guard;
    const targets = new Targets({
      connection,
      tabs: this.tabs,
      guard,
      maxTabs: MAX_TABS,
      takes: (info, session) => originPages.takes(info, session),
      onRefusedTab: (url) => this.refusedTabs.push(url),
      onFault: this.#options.onFault,
    });
    this.#targets = targets;
    // In this order on the pipe: no target is let run before requests are intercepted.
    const started = [this.#downloads.start(), guard.refresh(), targets.start()];
    await this.#untilExit(chrome, signal, Promise.all(started));
    await this.#untilExit(chrome, signal, this.#renewFirstTab());
  }

  /**
   * Chrome makes the loaders of a document when it makes the document: those of the tab that it starts with are older
   * than the interception, and pass it by (measured on 156). A second about:blank takes the place of the first, in the
   * history too.
   */
  async #renewFirstTab(): Promise<void> {
    const tab = this.tabs.get(undefined);
    const renewed = once(tab.frames, 'navigated');
    await tab.session.send('Page.navigate', { url: 'about:blank' });
    await renewed;
  }

  /**
   * The canary: a managed policy, a PAC file or a wrapper can undo every flag, so before anybody uses this Chrome it
   * must be seen that its traffic comes out at its own floor. A fetch goes through the same network context as a
   * navigation, and leaves neither an error page nor a history entry.
   */
  async #proveFloor(signal: AbortSignal): Promise<void> {
    const chrome = this.#chrome;
    if (!chrome) throw new AirlockError('internal', 'The browser is not started');
    const host = `${randomBytes(12).toString('hex')}.invalid`;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
    const seen = this.floor.expectHost(host, limit);
    const tab = this.tabs.get(undefined);
    try {
      const expression = `fetch('http://${host}/', { mode: 'no-cors' }).catch(() => 0)`;
      const sent = tab.session.send('Runtime.evaluate', { expression, awaitPromise: true });
      await this.#untilExit(chrome, signal, Promise.all([seen, sent]));
    } catch (error) {
      if (signal.aborted) throw error;
      throw new AirlockError(
        'browser_unavailable',
        `Chrome does not use its network floor: ${messageOf(error)}`,
        {
          cause: error,
        },
      );
    }
    tab.failedRequests.length = 0;
    this.floor.openToUser();
  }

  /** Waits for Chrome's answer, unless it dies or the caller goes away first. */
  async #untilExit<T>(chrome: LaunchedChrome, signal: AbortSignal, work: Promise<T>): Promise<T> {
    const aborted = new Promise<never>((_, reject) => {
      const onAbort = () => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      const done = () => signal.removeEventListener('abort', onAbort);
      work.then(done, done);
    });
    const died = chrome.exited.then((exit) => {
      throw new AirlockError(
        'browser_unavailable',
        `Chrome ended at its start: ${exit.signal ?? exit.code}`,
        {
          extra: { stderr: chrome.stderrTail() },
        },
      );
    });
    return Promise.race([work, aborted, died]);
  }
}

function noLog(): undefined {
  return undefined;
}

function noFloor(): Promise<{ connectionsClosed: number }> {
  return Promise.resolve({ connectionsClosed: 0 });
}
