import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import type { Frame } from '../frames.ts';
import type { Operation } from '../operation.ts';
import { parseRef } from '../refs.ts';
import { placeFrame, resolveTarget } from '../resolve-target.ts';
import { Target } from '../target.ts';

/** What of a page is read: all of it, one of its frames, or one element. */
export const PlaceInput = {
  target: Type.Optional(Target),
  selector: Type.Optional(
    Type.String({ minLength: 1, maxLength: 8192, description: 'this element, by CSS' }),
  ),
  ref: Type.Optional(Type.String({ minLength: 1, maxLength: 40, description: 'this element, by its ref' })),
  frame: Type.Optional(
    Type.String({ minLength: 1, maxLength: 8192, description: 'in this frame: f1, its name, URL or iframe' }),
  ),
};
export type Placed = Static<ReturnType<typeof Type.Object<typeof PlaceInput>>>;

export interface Place {
  readonly frame: Frame;
  /** Number of the element's ref; 0 is the whole document. */
  readonly number: number;
}

/**
 * Finds what is to be read.
 * @throws AirlockError `invalid_request` (several ways at once), those of `resolveTarget`
 */
export async function findPlace(op: Operation, input: Placed): Promise<Place> {
  const { target, selector, ref, frame } = input;
  if ([target, selector, ref].filter((way) => way !== undefined).length > 1) {
    const detail = '/target: target, selector and ref exclude each other';
    throw new AirlockError('invalid_request', detail, { extra: { pointer: '/target' } });
  }
  const asked = target ?? (selector === undefined ? ref && { ref } : { selector });
  if (asked === undefined) {
    return { frame: frame === undefined ? op.tab.frames.main : await placeFrame(op, frame), number: 0 };
  }
  return resolveTarget(op, inFrame(asked, frame));
}

/** The target, looked for in the frame that is named beside it. */
export function inFrame(target: Target, frame: string | undefined): Target {
  if (frame === undefined) return target;
  if (typeof target !== 'string') return { frame, ...target };
  return parseRef(target) ? target : { selector: target, frame };
}
