import type { CdpSession, Protocol } from '../cdp.ts';
import type { Frame } from '../frames.ts';
import type { Tab } from '../tab.ts';

/** A navigation that has begun in a frame and has not come to its end. */
interface Pending {
  url: string;
  /** The browser took it up; until then the page may still drop it. */
  started: boolean;
}

/** A navigation that a page plans for later (`meta refresh`) is not an effect of the action. Seconds. */
const SOON = 1;

/**
 * Follows the navigations and windows that a tab's frames open, from the start of an action: Chrome announces both
 * before it answers the input that caused them (measured), a form's in the task after.
 */
export class Navigations implements Disposable {
  /** By frame id. */
  readonly #pending = new Map<string, Pending>();
  readonly #undo: (() => void)[] = [];
  readonly #onChange: () => void;
  #opened = 0;
  #requested = 0;
  #blank = 0;
  /** The main frame has a new document, or the same with a new URL. */
  navigated = false;
  /** The main frame has a new document. */
  replaced = false;

  constructor(tab: Tab, onChange: () => void) {
    this.#onChange = onChange;
    const onNavigated = (frame: Frame) => this.#ended(frame, true);
    const onWithin = (frame: Frame) => this.#ended(frame, false);
    const onRemoved = (frame: Frame) => this.#forget(frame.id);
    tab.frames.on('navigated', onNavigated).on('navigatedWithin', onWithin).on('removed', onRemoved);
    this.#undo.push(() =>
      tab.frames.off('navigated', onNavigated).off('navigatedWithin', onWithin).off('removed', onRemoved),
    );
    for (const session of new Set(tab.frames.list().map((frame) => frame.session))) {
      if (session) this.#watch(session);
    }
  }

  /**
   * Windows that were asked for; not all of them come (a popup blocker, a limit). Chrome tells of those that a page
   * opens by `windowOpen`, of those that a modifier key or the middle button makes of a link by the request.
   */
  get windows(): number {
    return Math.max(this.#opened, this.#requested);
  }

  /** Of those the ones without an address: they stay as blank as they are. */
  get blankWindows(): number {
    return this.#blank;
  }

  /** The navigation that the tab is waiting for, of the main frame first. */
  pending(mainId: string): { url: string; main: boolean } | undefined {
    const main = this.#pending.get(mainId);
    if (main) return { url: main.url, main: true };
    const [first] = this.#pending.values();
    return first && { url: first.url, main: false };
  }

  /** The browser has taken up a navigation of the frame. */
  started(frameId: string): boolean {
    return this.#pending.get(frameId)?.started === true;
  }

  [Symbol.dispose](): void {
    for (const undo of this.#undo) undo();
  }

  #watch(session: CdpSession): void {
    const onScheduled = (event: Protocol.Page.FrameScheduledNavigationEvent) => {
      if (event.delay <= SOON) this.#begun(event.frameId, event.url, false);
    };
    const onRequested = (event: Protocol.Page.FrameRequestedNavigationEvent) => {
      if (event.disposition === 'currentTab') this.#begun(event.frameId, event.url, false);
      else if (event.disposition !== 'download') {
        this.#requested += 1;
        this.#onChange();
      }
    };
    const onStarted = (event: Protocol.Page.FrameStartedNavigatingEvent) => {
      if (!/sameDocument/i.test(event.navigationType)) this.#begun(event.frameId, event.url, true);
    };
    const onCleared = (event: Protocol.Page.FrameClearedScheduledNavigationEvent) => {
      if (this.#pending.get(event.frameId)?.started === false) this.#forget(event.frameId);
    };
    // A download, a 204 and an aborted load end with this and no new document.
    const onStopped = (event: Protocol.Page.FrameStoppedLoadingEvent) => this.#forget(event.frameId);
    const onWindow = ({ url }: Protocol.Page.WindowOpenEvent) => {
      this.#opened += 1;
      if (url === '' || url === 'about:blank') this.#blank += 1;
      this.#onChange();
    };
    session.on('Page.frameScheduledNavigation', onScheduled);
    session.on('Page.frameRequestedNavigation', onRequested);
    session.on('Page.frameStartedNavigating', onStarted);
    session.on('Page.frameClearedScheduledNavigation', onCleared);
    session.on('Page.frameStoppedLoading', onStopped);
    session.on('Page.windowOpen', onWindow);
    this.#undo.push(() => {
      session.off('Page.frameScheduledNavigation', onScheduled);
      session.off('Page.frameRequestedNavigation', onRequested);
      session.off('Page.frameStartedNavigating', onStarted);
      session.off('Page.frameClearedScheduledNavigation', onCleared);
      session.off('Page.frameStoppedLoading', onStopped);
      session.off('Page.windowOpen', onWindow);
    });
  }

  #begun(frameId: string, url: string, started: boolean): void {
    const known = this.#pending.get(frameId);
    this.#pending.set(frameId, { url, started: started || known?.started === true });
    this.#onChange();
  }

  #ended(frame: Frame, replaced: boolean): void {
    if (frame.parentId === undefined) {
      this.navigated = true;
      this.replaced ||= replaced;
    }
    this.#pending.delete(frame.id);
    this.#onChange();
  }

  #forget(frameId: string): void {
    this.#pending.delete(frameId);
    this.#onChange();
  }
}
