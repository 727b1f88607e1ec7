import { AirlockError } from '../../errors.ts';
import { isContextLost, isDetached } from '../cdp.ts';
import type { Frame } from '../frames.ts';
import { loadError, refusal, standsForStatus } from '../net-error.ts';
import type { DownloadView, Operation } from '../operation.ts';
import type { Dialog, Tab } from '../tab.ts';
import { evaluateValue, isolatedWorld } from '../world.ts';
import { isNodeGone } from './call-hands.ts';
import { Navigations } from './navigations.ts';

/** What every action answers: that it was done, and what it caused. */
export interface ActionResult {
  readonly ok: true;
  /** The tab that was acted on. */
  readonly tab: string;
  /** Its URL after the action. */
  readonly url: string;
  /** The tab has a new document, or its document a new URL. */
  readonly navigated: boolean;
  /** A navigation has begun whose page has not come within the time that an action waits for it. */
  readonly navigating?: string;
  /** The last dialog that the page opened. Under `report` it is still open. */
  readonly dialog?: Dialog;
  readonly newTabs?: readonly { readonly id: string; readonly url: string }[];
  readonly downloads?: readonly DownloadView[];
  /** The action closed its own tab. */
  readonly closed?: true;
}

/** How long an action waits, in milliseconds, for what it has seen begin. Each ends as soon as the thing is there. */
const WAIT = {
  /** A navigation, until its document commits. */
  commit: 5000,
  /** The new document, until it is parsed, so that the next look at the page does not see it empty. */
  parsed: 1500,
  /** A window that was asked for, until it is a tab. */
  tab: 2000,
  /** A new tab, until it has its first URL. */
  tabUrl: 1500,
  /** A download that a link was made for, until the browser tells of it. */
  download: 500,
  /** A window that its page has closed, until the tab is gone. */
  close: 1000,
  /** A document that a navigation will replace, for an answer that was on its way already. */
  lastAnswer: 150,
} as const;

/** Left of the deadline for the answer itself, in milliseconds. */
const RESERVE = 300;

/** Collects what an action causes, from its start to its answer. */
export class Effects implements Disposable {
  readonly #op: Operation;
  readonly #navigations: Navigations;
  readonly #opened: Tab[] = [];
  readonly #undo: (() => void)[] = [];
  readonly #listeners = new Set<() => void>();
  #dialog: Dialog | undefined;
  #inputSent = false;
  /** The action was on a link that downloads. */
  expectDownload = false;
  /** The page has closed its own window. */
  expectClose = false;

  constructor(op: Operation) {
    this.#op = op;
    op.tab.lastActionAt = op.startedAt;
    this.#navigations = new Navigations(op.tab, () => this.#changed());
    const onOpened = (tab: Tab) => {
      // What other pages open meanwhile is none of this action's.
      if (tab.opener !== undefined && tab.opener !== op.tab.id) return;
      this.#opened.push(tab);
      tab.once('navigated', () => this.#changed());
      this.#changed();
    };
    const onDialog = (dialog: Dialog) => {
      this.#dialog = dialog;
    };
    const onProgress = () => this.#changed();
    op.env.tabs.on('opened', onOpened);
    op.tab.on('dialog', onDialog);
    op.tab.documents.on('progress', onProgress);
    this.#undo.push(() => {
      op.env.tabs.off('opened', onOpened);
      op.tab.off('dialog', onDialog);
      op.tab.documents.off('progress', onProgress);
    });
  }

  /** From now on a dialog, or the end of the tab, is an effect of the action and not what prevents it. */
  begin(): void {
    this.#inputSent = true;
  }

  get begun(): boolean {
    return this.#inputSent;
  }

  /** The document that was acted on is gone, or about to go. */
  get leaving(): boolean {
    return this.#navigations.replaced || this.#navigations.pending(this.#op.tab.frames.main.id) !== undefined;
  }

  /**
   * A call to a frame after input was sent: `left` in place of the failure that a replaced document makes of it. Chrome
   * holds back what is sent to a document that is about to be replaced, for as long as its server takes (measured), so
   * a navigation that has started ends the wait as well.
   */
  async orLeft<T>(frame: Frame, call: Promise<T>): Promise<T | 'left'> {
    const answered = call.catch(leftOrThrow);
    const leaving = this.#leaving(frame);
    try {
      return await Promise.race([answered, leaving.promise]);
    } finally {
      leaving.stop();
      // The answer may still come, and fail, when nobody waits for it any more.
      answered.catch(unheard);
    }
  }

  /** Resolves a moment after a navigation of the frame, or of one above it, has started. */
  #leaving(frame: Frame): { promise: Promise<'left'>; stop(): void } {
    const { promise, resolve } = Promise.withResolvers<'left'>();
    let timer: NodeJS.Timeout | undefined;
    const look = () => {
      if (timer || !this.#leaves(frame)) return;
      timer = setTimeout(() => resolve('left'), WAIT.lastAnswer);
      timer.unref();
    };
    this.#listeners.add(look);
    look();
    const stop = () => {
      clearTimeout(timer);
      this.#listeners.delete(look);
    };
    return { promise, stop };
  }

  #leaves(frame: Frame): boolean {
    for (
      let up: Frame | undefined = frame;
      up;
      up = up.parentId === undefined ? undefined : this.#op.tab.frames.get(up.parentId)
    ) {
      if (this.#navigations.started(up.id)) return true;
    }
    return false;
  }

  /** Waits for what has begun: a navigation's commit, a new tab, a download. Returns at once if nothing has. */
  async settle(): Promise<void> {
    const main = this.#op.tab.frames.main.id;
    const { replaced } = this.#navigations;
    await this.#until(WAIT.commit, () => this.#navigations.pending(main) === undefined);
    if (this.#navigations.replaced || replaced) await this.#until(WAIT.parsed, () => this.#parsed());
    await this.#until(WAIT.tab, () => this.#opened.length >= this.#navigations.windows);
    await this.#until(WAIT.tabUrl, () => {
      const blank = this.#opened.filter((tab) => !hasUrl(tab)).length;
      return blank <= this.#navigations.blankWindows;
    });
    if (this.expectDownload) await this.#awaitDownload();
    // The end of the tab ends the wait, and the action, as an effect.
    if (this.expectClose) await this.#until(WAIT.close, () => this.#op.tab.closed);
  }

  /** What came of it where the action led only to pages that did not come: in its own tab, or in those that it opened. */
  get failedLoad(): AirlockError | undefined {
    const { tab } = this.#op;
    const own = refusal(this.#op, tab) ?? (this.#navigations.replaced ? this.#errorPage(tab) : undefined);
    const error = own ?? (this.#navigations.navigated ? undefined : this.#failedTabs);
    if (error === undefined) return undefined;
    const detail = `The action was done, and the page that it led to did not come: ${error.message}`;
    // What was acted on may be gone: the same again is no remedy.
    return new AirlockError(error.code, detail, { cause: error, extra: error.extra, retryable: false });
  }

  /** Why the first of the new tabs shows no page, if none of them does. */
  get #failedTabs(): AirlockError | undefined {
    const failures = this.#opened.map((tab) => refusal(this.#op, tab) ?? this.#errorPage(tab));
    return failures.every((failure) => failure !== undefined) ? failures[0] : undefined;
  }

  /** The error that Chrome shows in the page's place. */
  #errorPage(tab: Tab): AirlockError | undefined {
    const { main } = tab.frames;
    if (main.unreachableUrl === undefined || tab.closed) return undefined;
    const load = tab.documents.get(main.loaderId);
    const netError = load?.error ?? 'net::ERR_FAILED';
    if (standsForStatus(netError)) return undefined;
    const urls = [...(load?.redirects ?? []).map(({ url }) => url), main.unreachableUrl];
    return loadError(this.#op, netError, urls);
  }

  result(): ActionResult {
    const { tab, env, startedAt } = this.#op;
    const pending = this.#navigations.pending(tab.frames.main.id);
    const downloads = env.downloadsSince(startedAt);
    return {
      ok: true,
      tab: tab.id,
      url: tab.url,
      navigated: this.#navigations.navigated,
      ...(pending?.main && { navigating: pending.url }),
      ...(this.#dialog && { dialog: this.#dialog }),
      ...(this.#opened.length > 0 && { newTabs: this.#opened.map(({ id, url }) => ({ id, url })) }),
      ...(downloads.length > 0 && { downloads }),
      ...(tab.closed && { closed: true }),
    };
  }

  [Symbol.dispose](): void {
    for (const undo of this.#undo) undo();
    this.#navigations[Symbol.dispose]();
  }

  #parsed(): boolean {
    const { main } = this.#op.tab.frames;
    return this.#op.tab.documents.get(main.loaderId)?.reached.has('DOMContentLoaded') !== false;
  }

  async #awaitDownload(): Promise<void> {
    const until = Date.now() + Math.min(WAIT.download, this.#op.remainingMs - RESERVE);
    while (Date.now() < until && this.#op.env.downloadsSince(this.#op.startedAt).length === 0) {
      await this.#op.pause(25);
    }
  }

  /** Waits for a condition over what the listeners collect. A bound that passes is no error: the answer says so. */
  async #until(ms: number, holds: () => boolean): Promise<void> {
    const bound = Date.now() + Math.min(ms, this.#op.remainingMs - RESERVE);
    while (!holds()) {
      const left = bound - Date.now();
      if (left <= 0) return;
      await this.#op.race(this.#nextChange(left));
    }
  }

  #nextChange(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#listeners.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      timer.unref();
      this.#listeners.add(done);
    });
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** @returns `left` for the failures of a call whose document, or frame, is gone */
function leftOrThrow(error: unknown): 'left' {
  const frameGone = error instanceof AirlockError && error.code === 'frame_not_found';
  if (frameGone || isContextLost(error) || isDetached(error)) return 'left';
  throw error;
}

function unheard(): void {
  // What the action reports was decided without this answer.
}

/** A blank page is what every new window shows first; a window that stays blank is bounded by the wait. */
function hasUrl(tab: Tab): boolean {
  return tab.closed || (tab.url !== '' && tab.url !== 'about:blank');
}

/**
 * Runs an action and answers what it caused. A dialog that the action opened ends it at once, and so does the end of
 * its own tab; both are in the answer. Opened before the input was sent, they are the errors that they were.
 * @throws AirlockError `policy_denied`, `navigation_failed` when the action led to a page that did not come
 * @throws AirlockError whatever `work` throws for other reasons
 */
export async function withEffects<T extends object>(
  op: Operation,
  work: (effects: Effects) => Promise<T>,
): Promise<ActionResult & Partial<T>> {
  op.check();
  using effects = new Effects(op);
  try {
    const more = await work(effects);
    await effects.settle();
    const { failedLoad } = effects;
    if (failedLoad) throw failedLoad;
    return { ...effects.result(), ...more };
  } catch (error) {
    const none: Partial<T> = {};
    if (effects.begun && isEffect(op, error)) return { ...effects.result(), ...none };
    if (isNodeGone(error)) {
      throw new AirlockError('stale_ref', 'The page took the element away while it was acted on', {
        cause: error,
        retryable: true,
        extra: { reason: 'node_removed' },
      });
    }
    throw error;
  }
}

function isEffect(op: Operation, error: unknown): boolean {
  if (!(error instanceof AirlockError)) return false;
  return error.code === 'dialog_open' || (error.code === 'tab_not_found' && op.tab.closed);
}

/** Lets the page's queued tasks run, so that what they begin is seen. For actions that have no other call to end with. */
export async function flushTasks(op: Operation, effects: Effects): Promise<void> {
  const { main } = op.tab.frames;
  const flush = 'new Promise((resolve) => setTimeout(() => resolve(window.closed)))';
  const ran = isolatedWorld(op, main).then((world) => evaluateValue(op, world, flush));
  effects.expectClose = (await effects.orLeft(main, ran)) === true;
}
