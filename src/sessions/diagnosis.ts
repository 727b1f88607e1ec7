import { setTimeout as delay } from 'node:timers/promises';
import { AirlockError } from '../errors.ts';
import { isDetached } from '../page/cdp.ts';
import type { DecisionView } from '../page/operation.ts';
import type { Tab } from '../page/tab.ts';

/** The pipe of a Chrome that dies closes a little before its exit is known. */
const DETACH_GRACE_MS = 500;

/**
 * A call that broke off because its connection or its target went away says so, and which of the two it was.
 * @param ending aborted when the session ends, with what its operations answer then
 */
export async function explained(error: unknown, tab: Tab | undefined, ending: AbortSignal): Promise<unknown> {
  if (!isDetached(error)) return error;
  const soon = delay(DETACH_GRACE_MS, undefined, { ref: false });
  const closing = new Promise<void>((resolve) => {
    if (ending.aborted) resolve();
    ending.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([closing, soon]);
  if (ending.aborted) return ending.reason;
  if (!tab?.closed) return error;
  return new AirlockError('tab_not_found', `Tab ${tab.id} was closed`, {
    cause: error,
    extra: { tab: tab.id },
  });
}

/** Adds to a failed page operation what a person would look at first. */
export function diagnosed(error: unknown, tab: Tab | undefined, denials: readonly DecisionView[]): unknown {
  if (!(error instanceof AirlockError) || tab === undefined) return error;
  return error.retold({
    diagnosis: {
      tab: tab.id,
      url: tab.url,
      title: tab.title,
      dialog: tab.dialog ?? null,
      denials: denials.slice(-5),
      failedRequests: tab.failedRequests.items.slice(-5),
      consoleErrors: tab.consoleErrors.items.slice(-5),
    },
  });
}
