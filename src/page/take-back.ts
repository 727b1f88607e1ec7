import { AirlockError } from '../errors.ts';
import type { Operation } from './operation.ts';
import { timeBox } from './time-box.ts';

/** How long Chrome gets to take back a navigation that is given up. */
const STOP_MS = 500;

/**
 * Runs a navigation; where it is given up (deadline, client gone) before it has a document, takes it back: it would
 * replace the page under a later operation. A page that has come stays, and goes on loading.
 */
export async function orTakenBack<T>(op: Operation, work: () => Promise<T>): Promise<T> {
  const before = op.tab.frames.main.loaderId;
  try {
    return await work();
  } catch (error) {
    const givenUp = error instanceof AirlockError && (error.code === 'timeout' || error.code === 'cancelled');
    if (givenUp && op.tab.frames.main.loaderId === before) await takeBack(op);
    throw error;
  }
}

/** What the page itself still loads is stopped by it too; Chrome has no narrower command. */
async function takeBack({ tab }: Operation): Promise<void> {
  if (tab.closed || tab.dialog) return;
  // Chrome refuses it where the page has gone meanwhile; there is nothing to take back then.
  const stopped = tab.session.send('Page.stopLoading').catch(() => undefined);
  await timeBox(stopped, STOP_MS);
}
