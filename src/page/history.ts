import Type, { type Static } from 'typebox';
import { AirlockError } from '../errors.ts';
import type { Protocol } from './cdp.ts';
import { awaitLoad, type LoadResult, unchangedPage, WaitUntil, whenever } from './load.ts';
import { judged } from './navigate.ts';
import type { Operation } from './operation.ts';
import { UNTRUSTED } from './schema.ts';
import { orTakenBack } from './take-back.ts';
import { timeBox } from './time-box.ts';

export const HistoryInput = Type.Object(
  { waitUntil: Type.Optional(WaitUntil) },
  { additionalProperties: false },
);
export type HistoryInput = Static<typeof HistoryInput>;

export const ReloadInput = Type.Object(
  {
    waitUntil: Type.Optional(WaitUntil),
    ignoreCache: Type.Optional(Type.Boolean({ description: 'Asks the servers for everything anew.' })),
  },
  { additionalProperties: false },
);
export type ReloadInput = Static<typeof ReloadInput>;

export const StopInput = Type.Object({}, { additionalProperties: false });
export const StopResult = Type.Object({
  tab: Type.String(),
  url: Type.String(UNTRUSTED),
  stopped: Type.Boolean({ description: 'False where nothing was loading.' }),
});
export type StopResult = Static<typeof StopResult>;

/** What Chrome says at the start of a navigation of the main frame. */
interface Start {
  readonly loaderId: string;
  readonly navigationType: Protocol.Page.FrameStartedNavigatingEvent['navigationType'];
}

/** How long the event of what was stopped may take. */
const STOPPED_MS = 500;

/**
 * One entry back in the history of the tab. The address of the entry is judged like any other.
 * @throws AirlockError `no_history_entry`, and what `navigate` throws
 */
export function back(op: Operation, input: HistoryInput): Promise<LoadResult> {
  return traverse(op, -1, input.waitUntil ?? 'load');
}

/** One entry forward; as `back`. */
export function forward(op: Operation, input: HistoryInput): Promise<LoadResult> {
  return traverse(op, 1, input.waitUntil ?? 'load');
}

/** Loads the page again, also one that failed or crashed. Throws what `navigate` throws. */
export async function reload(op: Operation, input: ReloadInput): Promise<LoadResult> {
  judged(op.env, op.tab.frames.main.unreachableUrl ?? op.tab.url, op.tab.id);
  op.revive();
  const ignoreCache = input.ignoreCache ?? false;
  return follow(op, input.waitUntil ?? 'load', () => op.main('Page.reload', { ignoreCache }));
}

/** Stops what is loading; what has come so far stays. */
export async function stop(op: Operation): Promise<StopResult> {
  const stopped = op.tab.documents.loading;
  await op.main('Page.stopLoading');
  const wait = whenever(op, () => !op.tab.documents.loading || undefined);
  try {
    await op.race(timeBox(wait.promise, STOPPED_MS));
  } finally {
    wait.stop();
  }
  return { tab: op.tab.id, url: op.tab.frames.main.unreachableUrl ?? op.tab.url, stopped };
}

async function traverse(op: Operation, step: -1 | 1, until: WaitUntil): Promise<LoadResult> {
  op.revive();
  const { currentIndex, entries } = await op.main('Page.getNavigationHistory');
  const entry = entries[currentIndex + step];
  if (!entry) {
    throw new AirlockError(
      'no_history_entry',
      `The tab is at entry ${currentIndex + 1} of ${entries.length}: there is nothing ${step < 0 ? 'before' : 'after'} it`,
    );
  }
  judged(op.env, entry.url, op.tab.id);
  return follow(op, until, () => op.main('Page.navigateToHistoryEntry', { entryId: entry.id }));
}

/** Sends a command that makes the main frame navigate, and waits as `navigate` does. */
function follow(op: Operation, until: WaitUntil, send: () => Promise<unknown>): Promise<LoadResult> {
  return orTakenBack(op, () => followed(op, until, send));
}

async function followed(op: Operation, until: WaitUntil, send: () => Promise<unknown>): Promise<LoadResult> {
  using watch = new NavigationWatch(op);
  await send();
  const { loaderId, navigationType } = await op.race(Promise.race([watch.started, watch.refused]));
  if (navigationType === 'sameDocument' || navigationType === 'historySameDocument') {
    await op.race(watch.within);
    return await unchangedPage(op, { sameDocument: true });
  }
  const restored = op.race(watch.restored).then(() => unchangedPage(op, { restored: true }));
  const loaded = known(op, loaderId).then(() => awaitLoad(op, loaderId, until));
  // The one that is not the case never ends by itself; it ends with the operation.
  restored.catch(() => undefined);
  loaded.catch(() => undefined);
  return await Promise.race([restored, loaded, watch.refused]);
}

/** A load is known from its request on; `awaitLoad` counts from it. A restored document has none. */
async function known(op: Operation, loaderId: string): Promise<void> {
  const wait = whenever(op, () => op.tab.documents.get(loaderId) && true);
  try {
    await op.race(wait.promise);
  } finally {
    wait.stop();
  }
}

/** What Chrome tells of the next navigation of the main frame. */
class NavigationWatch implements Disposable {
  readonly started: Promise<Start>;
  /** The document came back from the back/forward cache. */
  readonly restored: Promise<void>;
  readonly within: Promise<void>;
  /** Rejects when the page asked not to be left, and was not. */
  readonly refused: Promise<never>;
  #undo: (() => void)[] = [];
  #asked: Protocol.Page.DialogType | undefined;

  constructor(op: Operation) {
    const { session } = op.tab;
    const isMain = (frameId: string) => frameId === op.tab.frames.main.id;
    this.started = new Promise((resolve) => {
      const on = (event: Protocol.Page.FrameStartedNavigatingEvent) => {
        if (isMain(event.frameId)) resolve(event);
      };
      session.on('Page.frameStartedNavigating', on);
      this.#undo.push(() => session.off('Page.frameStartedNavigating', on));
    });
    this.restored = new Promise((resolve) => {
      const on = ({ frame, type }: Protocol.Page.FrameNavigatedEvent) => {
        if (frame.parentId === undefined && type === 'BackForwardCacheRestore') resolve();
      };
      session.on('Page.frameNavigated', on);
      this.#undo.push(() => session.off('Page.frameNavigated', on));
    });
    this.within = new Promise((resolve) => {
      const on = (event: Protocol.Page.NavigatedWithinDocumentEvent) => {
        if (isMain(event.frameId)) resolve();
      };
      session.on('Page.navigatedWithinDocument', on);
      this.#undo.push(() => session.off('Page.navigatedWithinDocument', on));
    });
    this.refused = new Promise((_, reject) => this.#watchRefusal(op, reject));
    this.refused.catch(() => undefined);
  }

  #watchRefusal(op: Operation, reject: (reason: unknown) => void): void {
    const { session } = op.tab;
    const onClosed = ({ result }: Protocol.Page.JavascriptDialogClosedEvent) => {
      if (result || this.#asked !== 'beforeunload') return;
      const extra = { netError: 'net::ERR_ABORTED', url: op.tab.url };
      reject(new AirlockError('navigation_failed', 'The page asked not to be left, and was not', { extra }));
    };
    const onOpening = ({ type }: Protocol.Page.JavascriptDialogOpeningEvent) => {
      this.#asked = type;
    };
    session.on('Page.javascriptDialogOpening', onOpening);
    session.on('Page.javascriptDialogClosed', onClosed);
    this.#undo.push(() => {
      session.off('Page.javascriptDialogOpening', onOpening);
      session.off('Page.javascriptDialogClosed', onClosed);
    });
  }

  [Symbol.dispose](): void {
    for (const undo of this.#undo) undo();
    this.#undo = [];
  }
}
