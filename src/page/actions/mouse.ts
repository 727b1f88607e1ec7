import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import { modifierBits } from '../modifiers.ts';
import type { Operation } from '../operation.ts';
import { type ActionResult, flushTasks, withEffects } from './effects.ts';
import { type MouseButton, movePointer, pressButton, releaseButton, turnWheel } from './pointer.ts';
import { Modifiers } from './schemas.ts';

const pixels = (description: string) => Type.Number({ minimum: -1_000_000, maximum: 1_000_000, description });

export const MouseInput = Type.Object(
  {
    action: Type.Union([
      Type.Literal('move'),
      Type.Literal('down'),
      Type.Literal('up'),
      Type.Literal('wheel'),
    ]),
    x: pixels("CSS pixels in the tab's viewport"),
    y: pixels("CSS pixels in the tab's viewport"),
    button: Type.Optional(
      Type.Union([Type.Literal('left'), Type.Literal('right'), Type.Literal('middle')], {
        description: 'For down and up, default left; for move, the one that is held',
      }),
    ),
    count: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 3, description: 'Which click in a row this is' }),
    ),
    deltaX: Type.Optional(pixels('For wheel')),
    deltaY: Type.Optional(pixels('For wheel')),
    modifiers: Type.Optional(Modifiers),
  },
  { additionalProperties: false },
);
export type MouseInput = Static<typeof MouseInput>;

/**
 * Sends one raw mouse event to a place of the tab, whatever is there.
 * @throws AirlockError `invalid_request` for a wheel that does not turn, or a place outside of the viewport
 */
export async function mouse(op: Operation, input: MouseInput): Promise<ActionResult> {
  if (input.action === 'wheel' && !input.deltaX && !input.deltaY) {
    throw new AirlockError('invalid_request', 'A wheel needs deltaX or deltaY');
  }
  return withEffects<object>(op, async (effects) => {
    const { cssVisualViewport: view } = await op.main('Page.getLayoutMetrics');
    if (input.x < 0 || input.y < 0 || input.x >= view.clientWidth || input.y >= view.clientHeight) {
      const size = `${Math.floor(view.clientWidth)} × ${Math.floor(view.clientHeight)}`;
      throw new AirlockError(
        'invalid_request',
        `${input.x},${input.y} is outside of the viewport of ${size}`,
      );
    }
    effects.begin();
    await send(op, input);
    await flushTasks(op, effects);
    return {};
  });
}

function send(op: Operation, input: MouseInput): Promise<unknown> {
  const bits = modifierBits(input.modifiers ?? []);
  const button: MouseButton = input.button ?? 'left';
  switch (input.action) {
    case 'move':
      return movePointer(op, input, input.button, bits);
    case 'down':
      return pressButton(op, input, button, input.count, bits);
    case 'up':
      return releaseButton(op, input, button, input.count, bits);
    default:
      return turnWheel(op, input, input.deltaX ?? 0, input.deltaY ?? 0, bits);
  }
}
