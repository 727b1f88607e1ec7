import { AirlockError } from '../errors.ts';
import type { DecisionView } from '../page/operation.ts';
import type { Tab } from '../page/tab.ts';

/** Adds to a failed page operation what a person would look at first. */
export function diagnosed(error: unknown, tab: Tab | undefined, denials: readonly DecisionView[]): unknown {
  if (!(error instanceof AirlockError) || tab === undefined) return error;
  return new AirlockError(error.code, error.message, {
    cause: error,
    retryable: error.retryable,
    ...(error.retryAfterSec === undefined ? {} : { retryAfterSec: error.retryAfterSec }),
    extra: {
      ...error.extra,
      diagnosis: {
        tab: tab.id,
        url: tab.url,
        title: tab.title,
        dialog: tab.dialog ?? null,
        denials: denials.slice(-5),
        failedRequests: tab.failedRequests.slice(-5),
        consoleErrors: tab.consoleErrors.slice(-5),
      },
    },
  });
}
