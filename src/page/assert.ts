import { type Static, Type } from 'typebox';
import { AirlockError } from '../errors.ts';
import { checkConditions, conditionProperties } from './conditions.ts';
import type { Operation } from './operation.ts';
import type { Recent } from './recent.ts';
import type { FailedRequest } from './tab.ts';
import { fitsGlob } from './url-pattern.ts';
import { notInTime, RESERVE_MS, watch } from './wait.ts';

export const AssertInput = Type.Object(
  {
    ...conditionProperties,
    console: Type.Optional(
      Type.Object(
        {
          noErrors: Type.Optional(
            Type.Literal(true, { description: 'No error and no exception was logged' }),
          ),
          noMatch: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 2048,
              description: 'No error has this text; * stands for anything',
            }),
          ),
        },
        { additionalProperties: false, description: "The tab's last console errors and exceptions" },
      ),
    ),
    network: Type.Optional(
      Type.Object(
        {
          noFailures: Type.Optional(Type.Literal(true, { description: 'No request failed' })),
          noMatch: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 2048,
              description: 'No failed request has this URL, or part of it',
            }),
          ),
        },
        { additionalProperties: false, description: "The tab's last failed requests" },
      ),
    ),
    withinMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 300_000,
        description:
          'How long to look before it counts as failed, at most timeoutMs; default 1000, or what timeoutMs leaves of it',
      }),
    ),
  },
  { additionalProperties: false },
);
export type AssertInput = Static<typeof AssertInput>;

export interface AssertResult {
  readonly passed: true;
  readonly tab: string;
  readonly url: string;
  readonly seen: Readonly<Record<string, unknown>>;
}

/** A page that was just acted on may take this long to show it, in milliseconds. */
const WITHIN_MS = 1000;

/**
 * Checks that conditions hold, now or within a moment.
 * @throws AirlockError `assertion_failed` with `unmet` and what was `seen` instead; `timeout` when the page did not
 * answer even once; `invalid_request` for a `withinMs` that the deadline does not leave; those of `look`
 */
export async function assert(op: Operation, input: AssertInput): Promise<AssertResult> {
  const { console, network, withinMs = WITHIN_MS, ...conditions } = input;
  checkConditions(conditions, console !== undefined || network !== undefined);
  if (input.withinMs !== undefined && input.withinMs > op.timeoutMs) {
    const detail = `/withinMs is ${withinMs}, and the whole request ends after ${op.timeoutMs} ms: raise timeoutMs`;
    throw new AirlockError('invalid_request', detail, { extra: { pointer: '/withinMs' } });
  }
  const until = Math.min(Date.now() + withinMs, op.startedAt + op.timeoutMs - RESERVE_MS);
  const { sight, held } = await watch(op, conditions, until);
  // What nobody has seen is neither held nor failed.
  if (!held && Object.keys(sight.seen).length === 0) throw notInTime(op, Date.now() - op.startedAt, sight);
  const unmet = [...sight.unmet];
  const seen: Record<string, unknown> = { ...sight.seen };
  const { consoleErrors, failedRequests } = op.tab;
  if (console) {
    const offending = (text: string) => offends(console.noErrors, console.noMatch, text);
    judge('console', consoleErrors, offending, unmet, seen);
  }
  if (network) {
    const offending = ({ url }: FailedRequest) => offends(network.noFailures, network.noMatch, url);
    judge('network', failedRequests, offending, unmet, seen);
  }
  if (unmet.length === 0) return { passed: true, tab: op.tab.id, url: op.tab.url, seen };
  throw new AirlockError('assertion_failed', `These do not hold: ${unmet.join(', ')}`, {
    extra: { unmet, seen },
  });
}

function offends(any: true | undefined, pattern: string | undefined, text: string): boolean {
  if (pattern !== undefined) return fitsGlob(pattern.replace(/\*+/g, '**'), text);
  return any === true;
}

/** What the tab no longer remembers may have offended: then the assertion cannot be said to hold. */
function judge<T>(
  name: string,
  remembered: Recent<T>,
  offending: (item: T) => boolean,
  unmet: string[],
  seen: Record<string, unknown>,
): void {
  const found = remembered.items.filter(offending);
  seen[name] = found.slice(-10);
  if (remembered.dropped > 0) seen[`${name}Dropped`] = remembered.dropped;
  if (found.length > 0 || remembered.dropped > 0) unmet.push(name);
}
