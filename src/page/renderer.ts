import type { CdpSession } from './cdp.ts';
import type { Tab } from './tab.ts';
import { timeBox } from './time-box.ts';

/** What had to be done to a renderer so that it takes the next command. */
export type Freed = 'idle' | 'stopped' | 'killed' | 'gone';

/**
 * Milliseconds for each step; together they stay below the second that an operation may take past its deadline. A
 * renderer that is only slow answers the first; a terminated script is gone within 10 ms on an idle machine, and gets
 * time for a busy one, since the next step loses the page.
 */
const ANSWER_MS = 250;
const TERMINATE_MS = 100;
const LAST_ANSWER_MS = 450;
const KILL_MS = 100;

/**
 * Makes a renderer usable after an operation ran out of time in it: nothing where it answers, else the running script
 * is terminated, and where it still does not answer (a timer that starts the same loop again) the renderer is killed.
 * The tab stays; a killed one answers `page_crashed` until it is navigated.
 */
export async function freeRenderer(tab: Tab, session: CdpSession): Promise<Freed> {
  if (tab.closed || tab.crashed) return 'gone';
  // The renderer waits for the answer to its dialog; nothing runs.
  if (tab.dialog) return 'idle';
  if (await answers(session, ANSWER_MS)) return 'idle';
  // Answered while the script still spins; with a script queued behind it, it can hit no innocent one.
  await timeBox(session.send('Runtime.terminateExecution'), TERMINATE_MS);
  if (await answers(session, LAST_ANSWER_MS)) return 'stopped';
  const crashed = new Promise<void>((resolve) => tab.once('crashed', resolve));
  session.send('Page.crash').catch(() => undefined);
  await timeBox(crashed, KILL_MS);
  return 'killed';
}

/** True when the main thread takes a script within the time. A refusal is an answer too. */
async function answers(session: CdpSession, ms: number): Promise<boolean> {
  const probe = session.send('Runtime.evaluate', { expression: '0' }).then(
    () => true,
    () => true,
  );
  return (await timeBox(probe, ms)) === true;
}
