import { type Static, Type } from 'typebox';
import { AirlockError } from '../errors.ts';
import {
  type Conditions,
  checkConditions,
  conditionProperties,
  look,
  namesOf,
  type Sight,
} from './conditions.ts';
import type { Operation } from './operation.ts';
import { timeBox } from './time-box.ts';

export const WaitInput = Type.Object(
  {
    ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 300_000, description: 'At least this long' })),
    ...conditionProperties,
  },
  { additionalProperties: false },
);
export type WaitInput = Static<typeof WaitInput>;

export interface WaitResult {
  readonly ok: true;
  readonly tab: string;
  readonly url: string;
  readonly waitedMs: number;
  /** What was seen of each condition when all held. */
  readonly seen: Readonly<Record<string, unknown>>;
}

/** Kept of the deadline to answer with what was seen: all that is left to do then is to write it. Milliseconds. */
export const RESERVE_MS = 25;

/** After this many looks, one a frame, a look every `SLOW_MS` is enough: a page of text is not searched for nothing. */
const FAST_LOOKS = 30;
const SLOW_MS = 100;

/**
 * Waits until all conditions hold.
 * @throws AirlockError `timeout` with `unmet` and what was `seen` last; those of `look`
 */
export async function wait(op: Operation, input: WaitInput): Promise<WaitResult> {
  const { ms = 0, ...conditions } = input;
  checkConditions(conditions, input.ms !== undefined);
  if (ms > 0) await op.pause(ms);
  const { sight, held } = await watch(op, conditions, op.startedAt + op.timeoutMs - RESERVE_MS);
  const waitedMs = Date.now() - op.startedAt;
  if (held) return { ok: true, tab: op.tab.id, url: op.tab.url, waitedMs, seen: sight.seen };
  throw notInTime(op, waitedMs, sight);
}

/** `timeout` with what did not hold, or was never seen because the page did not answer. */
export function notInTime(op: Operation, waitedMs: number, { unmet, seen }: Sight): AirlockError {
  const silent = Object.keys(seen).length === 0;
  const why = silent ? 'the page did not answer' : unmet.join(', ');
  return new AirlockError('timeout', `Not within ${waitedMs} ms (timeoutMs ${op.timeoutMs}): ${why}`, {
    extra: { unmet, seen },
  });
}

/**
 * Looks again and again, by the page's own frames, until all conditions hold or a moment has come (`Date.now()`).
 * @returns the last look; a page that does not answer in time leaves the one before it, and without any nothing holds
 */
export async function watch(
  op: Operation,
  conditions: Conditions,
  until: number,
): Promise<{ sight: Sight; held: boolean }> {
  let last: Sight = { unmet: namesOf(conditions), seen: {} };
  for (let looks = 0; ; looks++) {
    const left = until - Date.now();
    // The first look is taken however short the time: to have seen nothing is no answer.
    const most = looks === 0 ? op.remainingMs - RESERVE_MS : left;
    const sight = await timeBox(look(op, conditions, looks > 0), Math.max(most, 1));
    if (sight) last = sight;
    if (sight?.unmet.length === 0) return { sight, held: true };
    if (Date.now() >= until) return { sight: last, held: false };
    if (looks > FAST_LOOKS) await op.pause(Math.min(SLOW_MS, until - Date.now()));
  }
}
