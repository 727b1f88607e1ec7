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

/** How long a renderer may be busy with work of the page's own, in milliseconds, before it counts as hung. */
const PATIENCE_MS = 2000;
/** The browser process answers at any time, unless it is stopped or gone: then no renderer is to blame. */
const BROWSER_MS = 500;

/**
 * Makes a renderer usable after an operation ran out of time in it: nothing where it answers, else the running script
 * is terminated, and where it still does not answer (a timer that starts the same loop again) the renderer is killed.
 * The tab stays; a killed one answers `page_crashed` until it is navigated.
 * @param answerMs how long it may take to answer before its script is terminated
 * @param lastMs how long it may take after that, before it is killed
 */
export async function freeRenderer(
  tab: Tab,
  session: CdpSession,
  answerMs = ANSWER_MS,
  lastMs = LAST_ANSWER_MS,
): Promise<Freed> {
  if (tab.closed || tab.crashed || tab.frames.isDead(session)) return 'gone';
  // The renderer waits for the answer to its dialog; nothing runs.
  if (tab.dialog) return 'idle';
  if (await answers(session, answerMs)) return 'idle';
  // Answered while the script still spins; with a script queued behind it, it can hit no innocent one.
  await timeBox(session.send('Runtime.terminateExecution'), TERMINATE_MS);
  if (await answers(session, lastMs)) return 'stopped';
  const crashed = new Promise<void>((resolve) => {
    if (session === tab.session) tab.once('crashed', resolve);
    else tab.frames.once('crashed', () => resolve());
  });
  session.send('Page.crash').catch(() => undefined);
  await timeBox(crashed, KILL_MS);
  return 'killed';
}

/**
 * After an operation timed out: sees to it that the next one does not find the page hung, in any of its frames. A page
 * that is merely busy is left alone.
 */
export async function freeHungRenderers(tab: Tab): Promise<void> {
  if (tab.closed || tab.crashed) return;
  // A refusal is an answer too.
  const asked = tab.session.send('Target.getTargetInfo').then(
    () => true,
    () => true,
  );
  if ((await timeBox(asked, BROWSER_MS)) !== true) return;
  const sessions = new Set([tab.session, ...tab.frames.list().flatMap(({ session }) => session ?? [])]);
  await Promise.all([...sessions].map((session) => freeRenderer(tab, session, PATIENCE_MS, PATIENCE_MS)));
}

/** True when the main thread takes a script within the time. A refusal is an answer too. */
async function answers(session: CdpSession, ms: number): Promise<boolean> {
  const probe = session.send('Runtime.evaluate', { expression: '0' }).then(
    () => true,
    () => true,
  );
  return (await timeBox(probe, ms)) === true;
}
