import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import { modifierBits } from '../modifiers.ts';
import type { Operation } from '../operation.ts';
import { Target } from '../target.ts';
import { tell } from '../target-errors.ts';
import { aimTarget } from './aim-target.ts';
import { callHands } from './call-hands.ts';
import { type ActionResult, withEffects } from './effects.ts';
import { landPointer } from './landing.ts';
import { movePointer } from './pointer.ts';
import { Modifiers, Position } from './schemas.ts';

export const HoverInput = Type.Object(
  {
    target: Target,
    position: Type.Optional(Position),
    modifiers: Type.Optional(Modifiers),
    force: Type.Optional(
      Type.Boolean({ description: 'Move to the place whatever is there, without waiting' }),
    ),
  },
  { additionalProperties: false },
);
export type HoverInput = Static<typeof HoverInput>;

/**
 * Moves the pointer onto an element, and makes sure that it is over it.
 * @throws AirlockError those of `aimTarget`; `not_verified` when something came between
 */
export function hover(op: Operation, input: HoverInput): Promise<ActionResult> {
  return withEffects<object>(op, async (effects) => {
    const ready = await aimTarget(op, input.target, {
      enabled: false,
      editable: false,
      hit: true,
      force: input.force ?? false,
      ...(input.position && { position: input.position }),
    });
    effects.begin();
    await movePointer(op, ready.point, undefined, modifierBits(input.modifiers ?? []));
    if (!input.force) await landPointer(op, ready);
    if (
      input.force ||
      (await effects.orLeft(ready.frame, callHands(op, ready.frame, 'hovered', ready.number))) !== false
    )
      return {};
    const element = tell(ready.frame, ready.aimed.described);
    const detail = `${element.line} is no longer under the pointer: it moved, or something came over it`;
    throw new AirlockError('not_verified', detail, { extra: { element } });
  });
}
