import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import type { ScrollAnswer, ScrollOrder } from '../hands/types.ts';
import type { Operation } from '../operation.ts';
import { Target } from '../target.ts';
import { aimTarget } from './aim-target.ts';
import { callHands } from './call-hands.ts';
import { type ActionResult, type Effects, withEffects } from './effects.ts';

export const ScrollInput = Type.Object(
  {
    target: Type.Optional(Target),
    dx: Type.Optional(Type.Number({ description: 'CSS pixels to the right' })),
    dy: Type.Optional(Type.Number({ description: 'CSS pixels down' })),
    to: Type.Optional(Type.Union([Type.Literal('top'), Type.Literal('bottom')])),
  },
  { additionalProperties: false },
);
export type ScrollInput = Static<typeof ScrollInput>;

export interface ScrollResult extends ActionResult {
  /** Where the scroller stands now and how far it can go, in CSS pixels. */
  readonly scroll?: Omit<ScrollAnswer, 'moved'>;
}

/**
 * Scrolls an element into view; or, by `dx`, `dy` or `to`, the page (with a target: what scrolls the target).
 * @throws AirlockError those of `aimTarget`; `invalid_request`; `not_verified` when `dx`, `dy` moved nothing: the end
 *   was reached already
 */
export async function scroll(op: Operation, input: ScrollInput): Promise<ScrollResult> {
  const { target, dx, dy, to } = input;
  const byAmount = dx !== undefined || dy !== undefined;
  if (!byAmount && to === undefined && target === undefined) {
    throw new AirlockError('invalid_request', 'Give a target, dx and dy, or to');
  }
  if (byAmount && to !== undefined)
    throw new AirlockError('invalid_request', 'Give dx and dy, or to, not both');
  return withEffects<{ scroll?: Omit<ScrollAnswer, 'moved'> }>(op, async (effects) => {
    effects.begin();
    if (!byAmount && to === undefined && target !== undefined) {
      await aimTarget(op, target, { enabled: false, editable: false, hit: true, force: true });
      return {};
    }
    const order: ScrollOrder = {
      ...(dx !== undefined && { dx }),
      ...(dy !== undefined && { dy }),
      ...(to && { to }),
    };
    return scrollBy(op, target, order, effects);
  });
}

async function scrollBy(
  op: Operation,
  target: Target | undefined,
  order: ScrollOrder,
  effects: Effects,
): Promise<{ scroll?: Omit<ScrollAnswer, 'moved'> }> {
  const options = { enabled: false, editable: false, hit: false };
  const ready = target === undefined ? undefined : await aimTarget(op, target, options);
  const frame = ready?.frame ?? op.tab.frames.main;
  const answer = await effects.orLeft(frame, callHands(op, frame, 'scroll', ready?.number ?? 0, order));
  if (answer === 'left') return {};
  const { moved, ...scroll } = answer;
  if (!moved && order.to === undefined) {
    const detail = `Nothing moved: the scroller stands at ${scroll.x},${scroll.y} of ${scroll.maxX},${scroll.maxY}`;
    throw new AirlockError('not_verified', detail, { extra: { scroll } });
  }
  return { scroll };
}
