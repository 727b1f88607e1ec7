import type { Connection } from 'puppeteer-core/internal/cdp/Connection.js';
import { AirlockError, messageOf } from '../errors.ts';
import { isDetached } from '../page/cdp.ts';
import { RefTable } from '../page/refs.ts';
import type { Tab } from '../page/tab.ts';
import { Tabs } from '../page/tabs.ts';
import { Floor } from '../policy/floor.ts';
import { type Policy, type PolicyJson, policyToJson } from '../policy/policy.ts';
import { Resolver } from '../policy/resolver.ts';
import type { SelfRegistry } from '../policy/self.ts';
import type { ProcessIdentity } from '../residual/identity.ts';
import { ProcessIndex } from '../residual/process-index.ts';
import type { Profile } from '../residual/profile.ts';
import { reap } from '../residual/reap.ts';
import type { Receipt } from '../residual/receipts.ts';
import type { RuntimeDir } from '../residual/runtime-dir.ts';
import { Workspace } from '../residual/workspace.ts';
import { identifyChrome, launch, proveFloor, proveNetwork, untilExit, type Wires, wire } from './birth.ts';
import type { Downloads } from './downloads.ts';
import type { SessionFiles } from './files.ts';
import type { Engine, FoundChrome } from './find-chrome.ts';
import type { ChromeExit, LaunchedChrome } from './launch-chrome.ts';
import type { OriginPages } from './origin-pages.ts';
import { outfit } from './outfit.ts';
import type { Reach } from './reach.ts';
import type { SessionSpec } from './spec.ts';
import { UrlJudge } from './url-judge.ts';
import { type Usage, usageOf } from './usage.ts';

export interface BrowserOptions {
  /** Names the workspace; becomes the id of the session. */
  readonly id: string;
  readonly chrome: FoundChrome;
  readonly noSandbox: boolean;
  readonly strictNetwork: boolean;
  /** Name servers; the system's when empty. */
  readonly dns: readonly string[];
  readonly reach: Reach;
  readonly self: SelfRegistry;
  readonly runtimeDir: RuntimeDir;
  /** What it may hold on disk, in bytes. */
  readonly diskQuotaBytes: number;
  readonly spec: SessionSpec;
  /** A profile that stays; it is given back when the browser has ended. */
  readonly profile?: Profile;
  readonly onFault: (error: unknown) => void;
}

/** A page that opens more than this has its new tabs closed at once: headless-shell has no popup blocker. */
const MAX_TABS = 20;
/** What a file costs a file system besides its blocks: a page can make a great many empty ones. */
const ENTRY_BYTES = 1024;
/** From the first process to the canary: on a busy machine, more than ten seconds have been seen. */
const BIRTH_LIMIT_MS = 60_000;

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
  #wires: Wires | undefined;
  #identity: ProcessIdentity | undefined;
  #reaped: Promise<Receipt> | undefined;
  /** It may hold what the policy does not let through any more. */
  #cacheIsOld = false;
  /** Ends when the cache that a tab was opened on is new. */
  #emptied: Promise<void> | undefined;

  private constructor(options: BrowserOptions, workspace: Workspace, floor: Floor) {
    this.#options = options;
    this.#spec = options.spec;
    this.id = options.id;
    this.workspace = workspace;
    this.floor = floor;
    this.judge = new UrlJudge(floor, options.self);
    this.tabs.on('opened', () => {
      if (!this.#cacheIsOld) return;
      this.#emptied = this.#emptyCache();
      this.#emptied.catch(options.onFault);
    });
  }

  /**
   * Workspace, floor, Chrome, guard, canary, in this order. On any fault what exists by then is reaped first.
   * @throws AirlockError `browser_unavailable`, `disk_full`, `floor_down`, or the reason of `signal`
   */
  static async start(options: BrowserOptions, caller: AbortSignal): Promise<Browser> {
    caller.throwIfAborted();
    const late = AbortSignal.timeout(BIRTH_LIMIT_MS);
    const signal = AbortSignal.any([caller, late]);
    const workspace = await Workspace.create(options.runtimeDir, options.id);
    let browser: Browser | undefined;
    try {
      const floor = await Floor.open({
        ...options.reach,
        self: options.self,
        resolver: new Resolver(options.dns.length > 0 ? { servers: options.dns } : {}),
        guardContext: { session: options.id },
        peerPids: () => browser?.processIds() ?? Promise.resolve(new Set<number>()),
      });
      browser = new Browser(options, workspace, floor);
      await browser.#start(signal);
      return browser;
    } catch (error) {
      if (browser) await browser.reap('launch_failed');
      else await reap({ sessionId: options.id, reason: 'launch_failed', workspace, closeFloor: noFloor });
      if (isDiskFull(error)) {
        throw new AirlockError('disk_full', `No room for a session: ${messageOf(error)}`, { cause: error });
      }
      if (error !== late.reason) throw error;
      throw new AirlockError('browser_unavailable', `Chrome was not ready within ${BIRTH_LIMIT_MS} ms`);
    }
  }

  get downloads(): Downloads {
    return this.#started().downloads;
  }

  get files(): SessionFiles {
    return this.#started().files;
  }

  get originPages(): OriginPages {
    return this.#started().originPages;
  }

  get connection(): Connection {
    return this.#started().connection;
  }

  /** The profile that stays; undefined for one that goes with the workspace. */
  get profile(): Profile | undefined {
    return this.#options.profile;
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

  /** What it holds on disk: the workspace, and what a profile that stays has grown by. */
  async diskUsage(): Promise<{ bytes: number }> {
    const { bytes, entries } = await this.workspace.usage();
    return { bytes: bytes + entries * ENTRY_BYTES + ((await this.profile?.growth()) ?? 0) };
  }

  async usage(): Promise<Usage> {
    const pid = this.#chrome?.pid;
    return pid === undefined
      ? { processes: 0, memoryBytes: 0, sandbox: false, strictNetwork: false }
      : usageOf(pid);
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
    const { connectionsClosed } = this.floor.setPolicy(policy);
    const { guard } = this.#started();
    // What may not be asked for any more is not to be had from the cache either, past the floor.
    const [cut] = await Promise.all([guard.refresh(true), this.#emptyCache()]);
    return { connectionsClosed: connectionsClosed + cut };
  }

  /** Chrome does it for a page only; where there is none, for the next one, before that is used. */
  async #emptyCache(): Promise<void> {
    this.#cacheIsOld = true;
    for (const { session } of this.tabs.list()) {
      try {
        await session.send('Network.clearBrowserCache');
        this.#cacheIsOld = false;
        return;
      } catch (error) {
        if (!isDetached(error)) throw error;
      }
    }
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
    const tab = this.tabs.byTarget(targetId) ?? (await this.#opened(targetId));
    await this.#emptied;
    return tab;
  }

  #opened(targetId: string): Promise<Tab> {
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
    await this.#wires?.targets.refreshTitles();
  }

  /** Stops reading from Chrome until the answer is called: back-pressure for what is written to disk as it comes in. */
  holdInput(): () => void {
    const pipe = this.#chrome?.pipeRead;
    pipe?.pause();
    return () => pipe?.resume();
  }

  /**
   * Gives a pooled browser to a caller: its reach, its looks.
   * @throws Error when Chrome died meanwhile; the reason of `signal`
   */
  async assign(reach: Reach, spec: SessionSpec, signal: AbortSignal): Promise<void> {
    const chrome = this.#chrome;
    if (!chrome) throw new AirlockError('internal', 'The browser is not started');
    this.#spec = spec;
    this.floor.setEgress(reach.egress);
    const dressed = this.tabs.list().map((tab) => outfit(tab.session, 'page', spec));
    const saves = this.downloads.setMode(spec.downloads ?? 'deny');
    this.floor.setPolicy(reach.policy);
    await untilExit(chrome, signal, Promise.all([this.#started().guard.refresh(false), saves, ...dressed]));
    this.floor.openToUser();
  }

  #started(): Wires {
    if (!this.#wires) throw new AirlockError('internal', 'The browser is not started');
    return this.#wires;
  }

  /** What exists is kept at once, so that a fault on the way leaves it to the reaper. */
  async #start(signal: AbortSignal): Promise<void> {
    const { workspace, floor, tabs } = this;
    const chrome = await launch(
      {
        ...this.#options,
        workspace,
        floor,
        profileDir: this.profile?.path ?? workspace.profile,
        headless: this.#spec.headless !== false,
      },
      signal,
    );
    this.#chrome = chrome;
    this.#identity = await identifyChrome(chrome, workspace);
    await proveNetwork(chrome, this.#options.strictNetwork);
    this.#wires = await wire({
      chrome,
      workspace,
      tabs,
      floor,
      judge: this.judge,
      policy: () => floor.policy,
      spec: () => this.#spec,
      room: async () => this.#options.diskQuotaBytes - (await this.diskUsage()).bytes,
      preparePeers: () => floor.preparePeers(),
      maxTabs: MAX_TABS,
      onRefusedTab: (url) => this.refusedTabs.push(url),
      onFault: this.#options.onFault,
    });
    await untilExit(chrome, signal, this.#wires.start());
    await proveFloor({ chrome, floor, tab: tabs.get(undefined) }, signal);
    // After the canary, whose name no rule allows.
    await untilExit(chrome, signal, this.#wires.guard.refresh(false));
    floor.openToUser();
  }

  /** Ends everything and proves it. Every call gets the same receipt. */
  reap(reason: string): Promise<Receipt> {
    this.#reaped ??= this.#reap(reason);
    return this.#reaped;
  }

  async #reap(reason: string): Promise<Receipt> {
    const chrome = this.#chrome;
    const connection = this.#wires?.connection;
    const { profile } = this;
    const receipt = await reap({
      sessionId: this.id,
      reason,
      workspace: this.workspace,
      ...(profile ? { preserve: profile.path } : {}),
      ...(chrome && this.#identity ? { chrome: { child: chrome.child, identity: this.#identity } } : {}),
      ...(connection ? { closeBrowser: () => connection.send('Browser.close').then(() => undefined) } : {}),
      closeFloor: () => this.floor.close(),
    });
    connection?.dispose();
    profile?.[Symbol.dispose]();
    for (const tab of this.tabs.list()) tab.markClosed();
    return receipt;
  }
}

function noFloor(): Promise<{ connectionsClosed: number }> {
  return Promise.resolve({ connectionsClosed: 0 });
}

function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
