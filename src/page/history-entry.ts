import { isDetached, type Protocol } from './cdp.ts';
import type { Operation } from './operation.ts';
import type { Tab } from './tab.ts';
import { timeBox } from './time-box.ts';

/** The history comes from the browser process, which answers while the page is busy; a slow machine may be late. */
const HISTORY_MS = 1000;

/** What the browser process knows of the tab's history and title, whatever its renderer does. */
export interface BrowserView {
  readonly title: string;
  readonly historyLength: number | undefined;
}

/** Asks the browser process; also while a dialog is open, or the page is busy or crashed. */
export async function browserView(op: Operation): Promise<BrowserView> {
  const { tab } = op;
  const history: Protocol.Page.GetNavigationHistoryResponse | undefined = await op.raceThroughDialogs(
    timeBox(
      // Refused for a moment when one page takes the place of another.
      tab.session.send('Page.getNavigationHistory').catch(unlessClosed(tab)),
      HISTORY_MS,
    ),
  );
  return {
    title: (history && titleOf(history, tab.url)) ?? tab.title,
    historyLength: history?.entries.length,
  };
}

function unlessClosed(tab: Tab): (error: unknown) => undefined {
  return (error) => {
    if (tab.closed || isDetached(error)) throw error;
  };
}

/** While it goes back, the current entry is the next page's already, and the frame still has the old one. */
function titleOf(history: Protocol.Page.GetNavigationHistoryResponse, url: string): string | undefined {
  const { currentIndex, entries } = history;
  const current = entries[currentIndex];
  if (current?.url === url) return current.title;
  const near = [...entries.entries()].sort(
    ([a], [b]) => Math.abs(a - currentIndex) - Math.abs(b - currentIndex),
  );
  return near.find(([, entry]) => entry.url === url)?.[1].title;
}
