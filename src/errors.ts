/**
 * What the service answers when it does not do what was asked. The wire form is RFC 9457 (`application/problem+json`).
 */
import type { Advice } from './error-advice.ts';
import { errorTable } from './error-table.ts';

export { adviceFor, allAdvice } from './error-advice.ts';
export type { Suggestion } from './error-table.ts';
export { errorTable };

export type ErrorCode = keyof typeof errorTable;

export const errorCodes = Object.keys(errorTable) as ErrorCode[];

export interface AirlockErrorOptions {
  /** What led to this error; logged, never sent. */
  readonly cause?: unknown;
  /** Members added to the problem (RFC 9457 extension members): `decision`, `candidates`, `coveredBy` … JSON only. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Seconds for the `Retry-After` header. */
  readonly retryAfterSec?: number;
  /** Overrides the row's `retryable` where the occurrence knows better. */
  readonly retryable?: boolean;
  /** A suggestion of `error-advice.ts` in place of the row's. */
  readonly advice?: Advice;
}

/** The only error that a route answers with; anything else thrown becomes `internal`. */
export class AirlockError extends Error {
  override readonly name = 'AirlockError';
  readonly code: ErrorCode;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly retryAfterSec: number | undefined;
  readonly retryable: boolean;
  readonly advice: Advice | undefined;

  /** @param detail what happened this time, for a person; the RFC 9457 `detail` */
  constructor(code: ErrorCode, detail: string, options: AirlockErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.extra = options.extra ?? {};
    this.retryAfterSec = options.retryAfterSec;
    this.retryable = options.retryable ?? errorTable[code].retryable;
    this.advice = options.advice;
  }

  /** The same error with more to tell: `extra` is added to its members. */
  retold(extra: Readonly<Record<string, unknown>>, detail: string = this.message): AirlockError {
    return new AirlockError(this.code, detail, {
      cause: this,
      extra: { ...this.extra, ...extra },
      retryable: this.retryable,
      ...(this.retryAfterSec === undefined ? {} : { retryAfterSec: this.retryAfterSec }),
      ...(this.advice === undefined ? {} : { advice: this.advice }),
    });
  }

  get status(): number {
    return errorTable[this.code].status;
  }
}

/** The text of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
