import type { Connection } from 'puppeteer-core/internal/cdp/Connection.js';
import { type CdpSession, isDetached, type Protocol } from '../page/cdp.ts';
import { Tab } from '../page/tab.ts';
import type { Tabs } from '../page/tabs.ts';

/** What is put on a target before it runs its first line. */
export interface TargetGuard {
  /**
   * Sends the commands that guard `session`; must send them before it yields, since the target is let run right after.
   * `tab` is undefined for workers that belong to no tab (shared and service workers).
   */
  guard(session: CdpSession, kind: TargetKind, tab: Tab | undefined): Promise<unknown>;
  /** Told when a page or frame that is guarded has been let run. */
  running(session: CdpSession): Promise<void>;
}

export type TargetKind = 'page' | 'frame' | 'worker';

export interface TargetsOptions {
  readonly connection: Connection;
  readonly tabs: Tabs;
  readonly guard: TargetGuard;
  /** More tabs than this are closed as they open (headless-shell has no popup blocker). */
  readonly maxTabs: number;
  /** Called for each tab that was closed because of `maxTabs`. */
  readonly onRefusedTab: (url: string) => void;
  /** Takes over a new target that is no tab: true when it did. */
  readonly takes?: (info: Protocol.Target.TargetInfo, session: CdpSession) => Promise<boolean> | false;
  /** A fault in preparing a target that is still there. The target was not let run. */
  readonly onFault: (error: unknown) => void;
}

/** Attach before the first line runs, and flat: every session is a child of the one pipe. */
const AUTO_ATTACH = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true } as const;

/** Bodies that Chrome keeps for us; the rest of the network log does not need more. */
const NETWORK_BUFFERS = { maxTotalBufferSize: 32 * 1024 * 1024, maxResourceBufferSize: 8 * 1024 * 1024 };

/**
 * Follows every target of one Chrome, from attach to detach. Each is held by Chrome until our commands are on it
 * (`waitForDebuggerOnStart`), so that no popup, frame or worker runs unguarded.
 */
export class Targets {
  readonly #options: TargetsOptions;
  /** The tab that a session belongs to. */
  readonly #tabOf = new Map<string, Tab>();
  #refused = new Set<string>();
  /** Rejects when a page cannot be made ready. */
  readonly #pageFault = Promise.withResolvers<never>();

  constructor(options: TargetsOptions) {
    this.#options = options;
    const { connection } = options;
    // Of interest while somebody waits for the first page only.
    this.#pageFault.promise.catch(() => undefined);
    connection.on('Target.attachedToTarget', (event) => this.#attached(event, undefined));
    connection.on('Target.detachedFromTarget', (event) => this.#detached(event.sessionId, undefined));
    connection.on('Target.targetInfoChanged', ({ targetInfo }) => {
      const tab = options.tabs.byTarget(targetInfo.targetId);
      if (tab) tab.title = targetInfo.title;
    });
  }

  /**
   * Attaches to what exists and to what will come; resolves when the first tab is ready to be used.
   * @throws AirlockError `invalid_request` when Chrome does not take what the caller asked for
   */
  async start(): Promise<void> {
    const { connection, tabs } = this.#options;
    const first = new Promise<void>((resolve) => tabs.once('opened', () => resolve()));
    await connection.send('Target.setDiscoverTargets', { discover: true, filter: [{ type: 'page' }] });
    await connection.send('Target.setAutoAttach', AUTO_ATTACH);
    await Promise.race([first, this.#pageFault.promise]);
  }

  /** Asks Chrome for the titles of all tabs: it tells of them by itself at navigations only. No page can hold this up. */
  async refreshTitles(): Promise<void> {
    const { connection, tabs } = this.#options;
    const { targetInfos } = await connection.send('Target.getTargets', { filter: [{ type: 'page' }] });
    for (const info of targetInfos) {
      const tab = tabs.byTarget(info.targetId);
      if (tab) tab.title = info.title;
    }
  }

  /** The tab that shows a frame, also while the tab is being prepared. */
  tabOfFrame(frameId: string): Tab | undefined {
    for (const tab of this.#tabOf.values()) if (tab.frames.get(frameId)) return tab;
    return undefined;
  }

  #attached(event: Protocol.Target.AttachedToTargetEvent, parent: CdpSession | undefined): void {
    const session = this.#options.connection.session(event.sessionId);
    if (!session) return;
    session.on('Target.attachedToTarget', (child) => this.#attached(child, session));
    session.on('Target.detachedFromTarget', (child) => this.#detached(child.sessionId, session));
    const tab = parent === undefined ? undefined : this.#tabOf.get(parent.id());
    const done = this.#prepare(session, event.targetInfo, tab);
    done.catch((error: unknown) => {
      if (event.targetInfo.type === 'page') this.#pageFault.reject(error);
      if (!isDetached(error)) this.#options.onFault(error);
    });
  }

  async #prepare(
    session: CdpSession,
    info: Protocol.Target.TargetInfo,
    parentTab: Tab | undefined,
  ): Promise<void> {
    const taken = this.#options.takes?.(info, session) ?? false;
    if (taken && (await taken)) return;
    switch (info.type) {
      case 'page':
        return this.#preparePage(session, info);
      case 'iframe':
        return this.#prepareFrame(session, info, parentTab);
      case 'worker':
      case 'shared_worker':
      case 'service_worker':
        return this.#prepareWorker(session, parentTab);
      default:
        // browser_ui, tab, webview, …: nothing of the caller's; let them run without us.
        await session.send('Runtime.runIfWaitingForDebugger');
        await session.detach();
    }
  }

  async #preparePage(session: CdpSession, info: Protocol.Target.TargetInfo): Promise<void> {
    const { tabs, maxTabs } = this.#options;
    if (tabs.list().length >= maxTabs) return this.#refuse(info);
    const opener = info.openerId === undefined ? undefined : tabs.byTarget(info.openerId)?.id;
    const tab = new Tab({ id: tabs.nextId(), targetId: info.targetId, session, opener });
    tab.title = info.title;
    this.#tabOf.set(session.id(), tab);
    await this.#commission(session, 'page', tab, async () => {
      const { frameTree } = await session.send('Page.getFrameTree');
      tab.frames.load(session, frameTree);
    });
    tabs.add(tab);
  }

  async #prepareFrame(
    session: CdpSession,
    info: Protocol.Target.TargetInfo,
    tab: Tab | undefined,
  ): Promise<void> {
    if (!tab) {
      await session.send('Runtime.runIfWaitingForDebugger');
      return;
    }
    this.#tabOf.set(session.id(), tab);
    tab.frames.adopt(session, info.targetId, info.parentFrameId);
    tab.watch(session);
    await this.#commission(session, 'frame', tab, async () => {
      const { frameTree } = await session.send('Page.getFrameTree');
      tab.frames.load(session, frameTree);
    });
  }

  async #prepareWorker(session: CdpSession, tab: Tab | undefined): Promise<void> {
    if (tab) this.#tabOf.set(session.id(), tab);
    // A service worker that was stopped starts again under the same session, and waits again to be let run.
    session.on('Inspector.targetReloadedAfterCrash', () => {
      this.#letWorkerRun(session, tab).catch((error: unknown) => {
        if (!isDetached(error)) this.#options.onFault(error);
      });
    });
    await this.#letWorkerRun(session, tab);
  }

  async #letWorkerRun(session: CdpSession, tab: Tab | undefined): Promise<void> {
    await Promise.all([
      this.#options.guard.guard(session, 'worker', tab),
      session.send('Runtime.enable'),
      session.send('Target.setAutoAttach', AUTO_ATTACH),
      session.send('Runtime.runIfWaitingForDebugger'),
    ]);
  }

  /** All commands go out in one burst; Chrome runs them in order, and the last one lets the target go. */
  async #commission(
    session: CdpSession,
    kind: TargetKind,
    tab: Tab,
    last: () => Promise<void>,
  ): Promise<void> {
    await Promise.all([
      this.#options.guard.guard(session, kind, tab),
      session.send('Page.enable'),
      session.send('Page.setLifecycleEventsEnabled', { enabled: true }),
      session.send('Runtime.enable'),
      session.send('Network.enable', NETWORK_BUFFERS),
      session.send('Target.setAutoAttach', AUTO_ATTACH),
      last(),
      session.send('Runtime.runIfWaitingForDebugger'),
    ]);
    await this.#options.guard.running(session);
  }

  async #refuse(info: Protocol.Target.TargetInfo): Promise<void> {
    if (this.#refused.has(info.targetId)) return;
    this.#refused.add(info.targetId);
    this.#options.onRefusedTab(info.url);
    await this.#options.connection.send('Target.closeTarget', { targetId: info.targetId });
  }

  #detached(sessionId: string, parent: CdpSession | undefined): void {
    const tab = this.#tabOf.get(sessionId);
    this.#tabOf.delete(sessionId);
    if (!tab) return;
    if (parent === undefined && tab.session.id() === sessionId) {
      tab.markClosed();
      return;
    }
    for (const frame of tab.frames.list()) {
      if (frame.session?.id() === sessionId) tab.frames.release(frame.session);
    }
  }
}
