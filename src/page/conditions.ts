import { type Static, Type } from 'typebox';
import { AirlockError } from '../errors.ts';
import { readHands } from './actions/call-hands.ts';
import { isContextLost, isDetached } from './cdp.ts';
import { findFrame } from './find-frame.ts';
import type { Frame } from './frames.ts';
import type { LookAnswer, LookOrder } from './hands/types.ts';
import type { Operation } from './operation.ts';
import { claimRefs, missingError, type PlacedTarget, placeTarget } from './resolve-target.ts';
import { Target } from './target.ts';
import { tell } from './target-errors.ts';
import { firstMatch, UrlPattern } from './url-pattern.ts';
import { mainWorld } from './world.ts';

const STATES = [
  'attached',
  'detached',
  'visible',
  'hidden',
  'enabled',
  'disabled',
  'editable',
  'checked',
  'unchecked',
  'focused',
] as const;

/** What can be waited for and asserted. All that is given must hold at the same time. */
export const conditionProperties = {
  target: Type.Optional(Target),
  selector: Type.Optional(
    Type.String({ minLength: 1, maxLength: 8192, description: 'Short for a target by CSS' }),
  ),
  state: Type.Optional(
    Type.Enum([...STATES], {
      description:
        'Of the target; visible unless said. With several matches one has to be in it, for hidden all',
    }),
  ),
  text: Type.Optional(
    Type.String({ minLength: 1, maxLength: 8192, description: 'Shown on the page, in any frame' }),
  ),
  textGone: Type.Optional(Type.String({ minLength: 1, maxLength: 8192, description: 'Shown in no frame' })),
  url: Type.Optional(UrlPattern),
  function: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100_000,
      description: "An expression or function of the page's own world that gives something true",
    }),
  ),
  response: Type.Optional(UrlPattern),
  networkidle: Type.Optional(
    Type.Boolean({ description: 'No request under way for 500 ms; streams and sockets do not count' }),
  ),
  frame: Type.Optional(
    Type.String({ maxLength: 8192, description: 'Where to look for text and run the function' }),
  ),
};

const Conditions = Type.Object(conditionProperties);
export type Conditions = Static<typeof Conditions>;

/** One look at the page. */
export interface Sight {
  /** Names of the conditions that do not hold; empty when all do. */
  readonly unmet: readonly string[];
  /** What was seen in place of each condition that was given. */
  readonly seen: Readonly<Record<string, unknown>>;
}

/** Quiet for as long as Chrome's own networkIdle, in milliseconds. */
const QUIET_MS = 500;

/** A caller's function may not hold one look for longer, in milliseconds of synchronous code. */
const FUNCTION_MS = 5000;

/** @throws AirlockError `invalid_request` for conditions that contradict each other, or for none */
export function checkConditions(input: Conditions, more: boolean): void {
  const { target, selector, state, text, textGone, url, response, networkidle } = input;
  if (target !== undefined && selector !== undefined) {
    throw new AirlockError('invalid_request', 'Give target or selector, not both');
  }
  if (state !== undefined && target === undefined && selector === undefined) {
    throw new AirlockError('invalid_request', '"state" needs a target or a selector');
  }
  const given = [target, selector, text, textGone, url, input.function, response, networkidle];
  if (!more && given.every((condition) => condition === undefined)) {
    throw new AirlockError('invalid_request', 'Give at least one condition');
  }
}

/** The conditions that are given, by the names that `Sight` has for them. */
export function namesOf(input: Conditions): string[] {
  const { target, selector, state: _state, frame: _frame, ...rest } = input;
  const found = target === undefined && selector === undefined ? [] : ['target'];
  return [...found, ...Object.entries(rest).flatMap(([name, value]) => (value ? [name] : []))];
}

/**
 * Looks whether conditions hold.
 * @param nextFrame wait for the page's next frame first
 * @throws AirlockError `invalid_target`, `stale_ref`, `frame_not_found`, `evaluation_error` (the function does not
 *   parse), `invalid_request`: what no waiting can mend
 */
export async function look(op: Operation, input: Conditions, nextFrame: boolean): Promise<Sight> {
  const unmet: string[] = [];
  const seen: Record<string, unknown> = {};
  const note = (name: string, holds: boolean, sight: unknown) => {
    if (!holds) unmet.push(name);
    seen[name] = sight;
  };
  await lookAtPage(op, input, nextFrame, note);
  if (input.url !== undefined)
    note('url', (await firstMatch(op, input.url, [op.tab.url])) !== undefined, op.tab.url);
  if (input.function !== undefined) await lookAtFunction(op, input, note);
  if (input.response !== undefined) {
    const responses = op.tab.traffic.responsesSince(op.tab.lastActionAt || op.startedAt);
    const found = await firstMatch(
      op,
      input.response,
      responses.map(({ url }) => url),
    );
    const match = responses.findLast(({ url }) => url === found);
    note('response', match !== undefined, match ?? { last: responses.slice(-5) });
  }
  if (input.networkidle) {
    const { quietMs, pending } = op.tab.traffic;
    note('networkidle', quietMs >= QUIET_MS, { pending, quietMs });
  }
  return { unmet, seen };
}

type Note = (name: string, holds: boolean, sight: unknown) => void;

async function lookAtPage(op: Operation, input: Conditions, nextFrame: boolean, note: Note): Promise<void> {
  const target = input.target ?? input.selector;
  const placed = target === undefined ? undefined : await placedOrGone(op, input, target);
  if (placed === 'gone') note('target', true, { count: 0 });
  const own = placed === 'gone' ? undefined : placed;
  if (own || nextFrame) {
    const frame = own?.frame ?? op.tab.frames.main;
    const order: Omit<LookOrder, 'nextRef'> = { nextFrame, ...(input.state && { state: input.state }) };
    if (own) order.target = own.target.query;
    const answer = await lookIn(op, frame, order);
    if (own) await noteTarget(op, own, input, answer, note);
  }
  const { text, textGone } = input;
  if (text === undefined && textGone === undefined) return;
  const frames = input.frame === undefined ? op.tab.frames.list() : [findFrame(op, input.frame)];
  const order = {
    nextFrame: false,
    ...(text !== undefined && { text }),
    ...(textGone !== undefined && { textGone }),
  };
  let shown = false;
  let gone = true;
  for (const frame of frames) {
    const answer = await lookIn(op, frame, order);
    shown ||= answer?.text === true;
    gone &&= answer?.textGone !== false;
  }
  if (text !== undefined) note('text', shown, { shown });
  if (textGone !== undefined) note('textGone', gone, { shown: !gone });
}

/** A ref whose document is gone is one way of being detached. */
async function placedOrGone(
  op: Operation,
  input: Conditions,
  target: Target,
): Promise<PlacedTarget | 'gone'> {
  try {
    return await placeTarget(op, target);
  } catch (error) {
    const away = input.state === 'detached' || input.state === 'hidden';
    if (away && error instanceof AirlockError && error.code === 'stale_ref') return 'gone';
    throw error;
  }
}

async function noteTarget(
  op: Operation,
  { frame, target }: PlacedTarget,
  { state }: Conditions,
  answer: LookAnswer | undefined,
  note: Note,
): Promise<void> {
  const found = answer?.target;
  const away = state === 'detached' || state === 'hidden';
  if (found?.error && !(away && found.error.kind !== 'syntax')) {
    throw await missingError(op, frame, target, { count: 0, candidates: [], error: found.error });
  }
  const first = found?.first && {
    ...tell(frame, found.first),
    states: found.first.states,
    enabled: found.first.enabled,
  };
  note('target', found ? found.holds : state === 'detached', {
    count: found?.count ?? 0,
    ...(first && { first }),
  });
}

/** @returns `undefined` for a frame that is between two documents */
async function lookIn(
  op: Operation,
  frame: Frame,
  order: Omit<LookOrder, 'nextRef'>,
): Promise<LookAnswer | undefined> {
  try {
    const answer = await readHands(op, frame, 'look', { ...order, nextRef: op.env.refs.next });
    claimRefs(op, frame, answer.nextRef);
    return answer;
  } catch (error) {
    const between =
      error instanceof AirlockError
        ? error.code === 'frame_not_found'
        : isContextLost(error) || isDetached(error);
    if (between) return undefined;
    throw error;
  }
}

async function lookAtFunction(op: Operation, input: Conditions, note: Note): Promise<void> {
  const frame = input.frame === undefined ? op.tab.frames.main : findFrame(op, input.frame);
  try {
    const world = mainWorld(frame);
    const { result, exceptionDetails } = await op.send(world.session, 'Runtime.evaluate', {
      expression: `(async () => { const given = (${input.function}\n); return !!(await (typeof given === 'function' ? given() : given)); })()`,
      contextId: world.contextId,
      returnByValue: true,
      awaitPromise: true,
      timeout: FUNCTION_MS,
    });
    const thrown = exceptionDetails?.exception;
    const message = thrown?.description ?? exceptionDetails?.text;
    // Code that does not parse never will; anything else a page may grow into.
    if (thrown?.className === 'SyntaxError') {
      throw new AirlockError('evaluation_error', `The function does not parse: ${message}`);
    }
    note(
      'function',
      result.value === true,
      exceptionDetails ? { exception: message } : { value: result.value === true },
    );
  } catch (error) {
    const between = error instanceof AirlockError ? error.code === 'frame_not_found' : isContextLost(error);
    if (!between) throw error;
    note('function', false, { loading: true });
  }
}
