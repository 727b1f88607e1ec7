import type { Protocol } from 'devtools-protocol';
import { ProtocolError } from 'puppeteer-core';
import type { CDPSession } from 'puppeteer-core/internal/api/CDPSession.js';

/** One flat CDP session: a page, an out-of-process frame or a worker. Typed by the protocol itself. */
export type CdpSession = CDPSession;
export type { Protocol };

/**
 * Names of methods that a caller of the service may never reach with raw parameters; the code of this project
 * is the only sender. (Kept here as documentation of the boundary; nothing forwards raw CDP.)
 */
export function isDetached(error: unknown): boolean {
  return (
    error instanceof Error &&
    /Session closed|Target closed|Connection closed|Session with given id not found|No session with given id|Inspected target navigated/.test(
      error.message,
    )
  );
}

/** True when Chrome says that the execution context of a call is gone: the document was replaced under it. */
export function isContextLost(error: unknown): boolean {
  return (
    error instanceof Error &&
    /Cannot find context with specified id|Execution context was destroyed|uniqueContextId not found|Inspected target navigated/.test(
      error.message,
    )
  );
}

/**
 * Gives a refusal of Chrome's the stack of whoever waits for it: it comes without one (`ChromeConnection`).
 * @returns the same error
 */
export function withFrames(error: unknown): unknown {
  if (error instanceof ProtocolError && !/\n {4}at /.test(error.stack ?? '')) {
    Error.captureStackTrace(error, withFrames);
  }
  return error;
}
