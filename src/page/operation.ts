import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import { AirlockError } from '../errors.ts';
import { type CdpSession, isDetached, withFrames } from './cdp.ts';
import type { ReadingStore } from './reading/store.ts';
import type { RefTable } from './refs.ts';
import type { SnapshotStore } from './snapshot/store.ts';
import type { Dialog, Tab } from './tab.ts';
import type { Tabs } from './tabs.ts';

type Commands = ProtocolMapping.Commands;

/** A decision of the network policy, as the page room sees it. */
export interface DecisionView {
  readonly verdict: 'allow' | 'deny';
  readonly reason: string;
  readonly target: string;
  readonly rule?: string | undefined;
  readonly address?: string | undefined;
}

/** What a download looks like to the page room. */
export interface DownloadView {
  readonly id: string;
  readonly url: string;
  readonly suggestedName: string;
  readonly state: 'inProgress' | 'completed' | 'canceled' | 'denied';
}

/** Shows an empty document of an origin in a page of our own, without the network, and gives the session of that page. */
export type VisitOrigin = (origin: string) => Promise<CdpSession>;

/** The origins of a session, for what they have stored. */
export interface Origins {
  /** Those that a page of the session has shown, or that were added, oldest first. */
  seen(): readonly string[];
  add(origin: string): void;
  /** Runs `work`; the page that it visits origins in is gone when this resolves. Ends with `signal`. */
  use<T>(signal: AbortSignal, work: (visit: VisitOrigin) => Promise<T>): Promise<T>;
}

/** What operations may use of the session around the page. Given by `sessions/`, so that this room needs no import of it. */
export interface PageEnvironment {
  readonly tabs: Tabs;
  readonly refs: RefTable;
  /** The last snapshots, for cursors, diffs and to say what a stale ref was. */
  readonly snapshots: SnapshotStore;
  /** The last contents that were too long for one answer, for cursors. */
  readonly readings: ReadingStore;
  /** How the session answers JavaScript dialogs; under `report` they stay open until the caller answers. */
  readonly dialogs: 'report' | 'accept' | 'dismiss';
  /** Judges the URL of a navigation of a tab before Chrome sees it. */
  judgeNavigation(url: string, tab?: string): DecisionView;
  /** Denials of the floor and the guard since a moment (`Date.now()` milliseconds), oldest first. */
  denialsSince(time: number): DecisionView[];
  /** Connections that were allowed and failed since a moment, oldest first; `target` is host and port. */
  failuresSince?(time: number): { target: string; netError: string; detail: string }[];
  /** Downloads since a moment, oldest first. */
  downloadsSince(time: number): DownloadView[];
  /** The session's own directory for files that are kept: screenshots, traces, heap snapshots. */
  readonly filesDir: string;
  readonly origins: Origins;
  /**
   * Stops reading what this session's Chrome sends, until the function that it gives is called: back-pressure for what
   * is written to disk as it comes in.
   */
  holdInput?(): () => void;
}

/**
 * One operation on one tab. All CDP of the operation goes through `send`, which ends at once when the deadline passes,
 * the client goes away, the session closes, the page crashes or a dialog opens: a call that Chrome will never answer
 * cannot hold the operation.
 */
export class Operation implements Disposable {
  readonly tab: Tab;
  readonly env: PageEnvironment;
  /** Aborted with an AirlockError: `timeout`, `cancelled`, `session_gone`, `browser_crashed`. */
  readonly signal: AbortSignal;
  /** `Date.now()` at the start. */
  readonly startedAt: number;
  /** The whole time that the operation may take, in milliseconds. */
  readonly timeoutMs: number;
  #interrupted: Promise<never>;
  #dialogOpened: Promise<never>;
  #undo: (() => void)[] = [];
  #revives = false;

  constructor(init: { tab: Tab; env: PageEnvironment; signal: AbortSignal; timeoutMs: number }) {
    this.tab = init.tab;
    this.env = init.env;
    this.signal = init.signal;
    this.timeoutMs = init.timeoutMs;
    this.startedAt = Date.now();
    this.#interrupted = new Promise((_, reject) => this.#watchInterruptions(reject));
    this.#dialogOpened = new Promise((_, reject) => this.#watchDialogs(reject));
    // Both may reject while nothing waits on them; every use of them is in a race that reports the rejection.
    this.#interrupted.catch(ignore);
    this.#dialogOpened.catch(ignore);
  }

  /** Milliseconds that are left, at least 0. */
  get remainingMs(): number {
    return Math.max(0, this.timeoutMs - (Date.now() - this.startedAt));
  }

  /**
   * Sends one CDP command.
   * @throws AirlockError the reason of `signal`, `page_crashed` (of the tab, or of the frame that is asked), `tab_not_found` (it closed), or `dialog_open`
   * @throws Error Chrome's own refusal of the command
   */
  async send<M extends keyof Commands>(
    session: CdpSession,
    method: M,
    params?: Commands[M]['paramsType'][0],
  ): Promise<Commands[M]['returnType']> {
    this.check();
    const { frames } = this.tab;
    // The tab's own crash ends the whole operation; that of a frame in another process only what is asked of it.
    if (session === this.tab.session) return this.race(session.send(method, params, { timeout: 0 }));
    if (frames.isDead(session)) throw frameCrashed(this.tab);
    const died = Promise.withResolvers<never>();
    const onCrash = (dead: CdpSession) => {
      if (dead === session) died.reject(frameCrashed(this.tab));
    };
    frames.on('crashed', onCrash);
    try {
      return await this.race(Promise.race([session.send(method, params, { timeout: 0 }), died.promise]));
    } finally {
      frames.off('crashed', onCrash);
    }
  }

  /** As `send`, on the main frame's session. */
  main<M extends keyof Commands>(
    method: M,
    params?: Commands[M]['paramsType'][0],
  ): Promise<Commands[M]['returnType']> {
    return this.send(this.tab.session, method, params);
  }

  /** Waits for `work`, but never longer than the operation lives, and never past a dialog. */
  async race<T>(work: Promise<T>): Promise<T> {
    try {
      this.check();
      return await Promise.race([work, this.#interrupted, this.#dialogOpened]);
    } catch (error) {
      work.catch(ignore);
      if (isDetached(error) && this.tab.closed) throw tabClosed(this.tab);
      throw withFrames(error);
    }
  }

  /** As `race`, for what goes on while a dialog is open. */
  async raceThroughDialogs<T>(work: Promise<T>): Promise<T> {
    try {
      this.signal.throwIfAborted();
      return await Promise.race([work, this.#interrupted]);
    } catch (error) {
      work.catch(ignore);
      throw error;
    }
  }

  /**
   * From here on a renderer that is dead already does not end the operation: it is a navigation, which brings a new
   * one. A renderer that dies from now on still does.
   */
  revive(): void {
    this.#revives = true;
  }

  /** @throws AirlockError when the operation cannot go on: aborted, crashed, closed, or a dialog is open */
  check(): void {
    this.signal.throwIfAborted();
    if (this.tab.closed) throw tabClosed(this.tab);
    if (this.tab.crashed && !this.#revives) throw pageCrashed(this.tab);
    // Under the other policies the session is about to answer it.
    if (this.tab.dialog && this.env.dialogs === 'report') throw dialogOpen(this.tab, this.tab.dialog);
  }

  /** Resolves after `ms`, or rejects as `race` does. For polling where Chrome has no event. */
  pause(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const elapsed = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
      timer.unref();
    });
    return this.race(elapsed).finally(() => clearTimeout(timer));
  }

  [Symbol.dispose](): void {
    for (const undo of this.#undo) undo();
    this.#undo = [];
  }

  #watchInterruptions(reject: (reason: unknown) => void): void {
    const onAbort = () => reject(this.signal.reason);
    if (this.signal.aborted) onAbort();
    this.signal.addEventListener('abort', onAbort, { once: true });
    const onCrash = () => reject(pageCrashed(this.tab));
    const onClosed = () => reject(tabClosed(this.tab));
    this.tab.once('crashed', onCrash);
    this.tab.once('closed', onClosed);
    this.#undo.push(() => {
      this.signal.removeEventListener('abort', onAbort);
      this.tab.off('crashed', onCrash);
      this.tab.off('closed', onClosed);
    });
  }

  #watchDialogs(reject: (reason: unknown) => void): void {
    if (this.env.dialogs !== 'report') return;
    const onDialog = (dialog: Dialog) => reject(dialogOpen(this.tab, dialog));
    this.tab.once('dialog', onDialog);
    this.#undo.push(() => this.tab.off('dialog', onDialog));
  }
}

function ignore(): void {
  // The rejection was, or will be, reported through the race that it belongs to.
}

function dialogOpen(tab: Tab, dialog: Dialog): AirlockError {
  const text = dialog.message.length > 200 ? `${dialog.message.slice(0, 200)}…` : dialog.message;
  const what = dialog.type === 'alert' ? 'an alert' : `a ${dialog.type}`;
  return new AirlockError('dialog_open', `The page shows ${what}: ${JSON.stringify(text)}`, {
    extra: { tab: tab.id, dialog },
  });
}

function pageCrashed(tab: Tab): AirlockError {
  return new AirlockError('page_crashed', `The renderer of tab ${tab.id} died`, { extra: { tab: tab.id } });
}

function frameCrashed(tab: Tab): AirlockError {
  return new AirlockError('page_crashed', `The renderer of a frame of tab ${tab.id} died`, {
    extra: { tab: tab.id },
  });
}

function tabClosed(tab: Tab): AirlockError {
  return new AirlockError('tab_not_found', `Tab ${tab.id} was closed`, { extra: { tab: tab.id } });
}
