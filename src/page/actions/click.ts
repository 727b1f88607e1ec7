import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import type { GuardReport, Point } from '../hands/types.ts';
import { notInteractable } from '../hindrance.ts';
import { modifierBits } from '../modifiers.ts';
import type { Operation } from '../operation.ts';
import { Target } from '../target.ts';
import { type Candidate, tell } from '../target-errors.ts';
import { aimTarget, type Ready } from './aim-target.ts';
import { type ActionResult, type Effects, withEffects } from './effects.ts';
import { arrival, readyToPress } from './landing.ts';
import { clickAt, type MouseButton, movePointer } from './pointer.ts';
import { Modifiers, Position } from './schemas.ts';
import { chooseOption } from './select.ts';

export const ClickInput = Type.Object(
  {
    target: Target,
    button: Type.Optional(
      Type.Union([Type.Literal('left'), Type.Literal('right'), Type.Literal('middle')], {
        description: 'Default left',
      }),
    ),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 3, description: 'Clicks in a row; default 1' })),
    modifiers: Type.Optional(Modifiers),
    position: Type.Optional(Position),
    force: Type.Optional(
      Type.Boolean({ description: 'Click at the place whatever is there, without waiting for the element' }),
    ),
  },
  { additionalProperties: false },
);
export type ClickInput = Static<typeof ClickInput>;

export interface ClickResult extends ActionResult {
  /** With `force`: what got the click, where that was not the target. */
  readonly hit?: Candidate;
}

/** The event that a click of a button ends with (UI Events). */
const FINAL_EVENT = { left: 'click', right: 'contextmenu', middle: 'auxclick' } as const;

/** The page may put something under the pointer in the last moment; that press is withheld, and the aim taken again. */
const ATTEMPTS = 3;

/**
 * Clicks an element with real input: scrolls to it, waits until it is ready and at rest, makes sure that it is what
 * the pointer hits, and that the click reached it.
 * @throws AirlockError those of `aimTarget`; `not_verified` when the click did not reach the element
 */
export async function click(op: Operation, input: ClickInput): Promise<ClickResult> {
  return withEffects<{ hit?: Candidate }>(op, (effects) => clickTarget(op, input, effects));
}

/** `click` within an action that has begun. */
export async function clickTarget(
  op: Operation,
  input: ClickInput,
  effects: Effects,
): Promise<{ hit?: Candidate }> {
  let { target } = input;
  const modifiers = modifierBits(input.modifiers ?? []);
  for (let attempt = 1; ; attempt++) {
    let pointer: Point | undefined;
    const approach = (point: Point) => {
      pointer = point;
      return movePointer(op, point, undefined, modifiers);
    };
    const options = {
      enabled: true,
      editable: false,
      hit: true,
      guard: true,
      force: input.force ?? false,
      ...(input.position && { position: input.position }),
    };
    const ready = await aimTarget(op, target, options, input.force ? undefined : approach);
    if (ready.aimed.described.tag === 'iframe' && !input.force) {
      target = insideFrame(ready, input);
      continue;
    }
    if (ready.aimed.fileField && !input.force && (input.button ?? 'left') === 'left') {
      const element = tell(ready.frame, ready.aimed.described);
      const detail = `${element.line} is a file field: a click would open a chooser that nobody sees; upload gives it files`;
      throw notInteractable('file', detail, { element });
    }
    if (ready.aimed.closedOption) {
      await chooseOption(op, ready, effects);
      return {};
    }
    const there = pointer?.x === ready.point.x && pointer.y === ready.point.y;
    const wrong = await press(op, ready, input, effects, there);
    if (!wrong) return ready.aimed.instead ? { hit: tell(ready.frame, ready.aimed.instead) } : {};
    if (attempt === ATTEMPTS) throw coveredAtLast(ready, wrong);
  }
}

/** A click on an iframe goes to the document in it, and only that one can say that it came. */
function insideFrame({ frame, ref, aimed }: Ready, input: ClickInput): Target {
  if (input.position === undefined) return { selector: 'html', frame: ref };
  const element = tell(frame, aimed.described);
  const detail = `${element.line} is a frame: a position needs a target inside it, such as {"selector":"body","frame":"${ref}"}`;
  throw notInteractable('frame', detail, { element });
}

/** @returns what would have got the press in the element's place */
async function press(
  op: Operation,
  ready: Ready,
  input: ClickInput,
  effects: Effects,
  pointerIsThere: boolean,
): Promise<GuardReport['wrong']> {
  const button: MouseButton = input.button ?? 'left';
  effects.expectDownload = ready.aimed.download;
  if (!input.force) await readyToPress(op, ready);
  effects.begin();
  const count = input.count ?? 1;
  const modifiers = modifierBits(input.modifiers ?? []);
  await clickAt(op, ready.point, { button, count, modifiers, pointerIsThere });
  const report = await arrival(op, ready, effects);
  if (input.force || report === 'left' || effects.leaving) return undefined;
  if (report.wrong) return report.wrong;
  effects.expectClose = report.closing;
  const wanted = count > 1 && button === 'left' ? 'dblclick' : FINAL_EVENT[button];
  if (report.seen.includes(wanted)) return undefined;
  throw notReached(ready, wanted, report);
}

function notReached(ready: Ready, wanted: string, report: GuardReport): AirlockError {
  const element = tell(ready.frame, ready.aimed.described);
  const why = report.connected
    ? 'the page moved it or put something in its place while the button was down'
    : 'the page removed it while the button was down';
  return new AirlockError('not_verified', `${element.line} got no ${wanted}: ${why}`, {
    extra: { element, expected: wanted, actual: report.seen },
  });
}

function coveredAtLast(ready: Ready, wrong: NonNullable<GuardReport['wrong']>): AirlockError {
  const element = tell(ready.frame, ready.aimed.described);
  const coveredBy = tell(ready.frame, wrong);
  const detail = `${coveredBy.line} comes over ${element.line} when the pointer does`;
  return new AirlockError('covered', detail, { extra: { element, coveredBy } });
}
