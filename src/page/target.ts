import { type Static, Type } from 'typebox';
import { AirlockError } from '../errors.ts';
import type { QueryTarget } from './injected/types.ts';
import { type ParsedRef, parseRef } from './refs.ts';

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 8192, description }));

/** The object form of a target: exactly one way to find the element, and what narrows it. */
export const TargetObject = Type.Object(
  {
    ref: text('Ref of a snapshot, such as e12 or f1e2'),
    selector: text('CSS selector; pierces shadow roots'),
    xpath: text('XPath expression that gives elements'),
    role: text('ARIA role, with `name` to narrow it'),
    name: Type.Optional(Type.String({ maxLength: 8192, description: 'Accessible name, with `role`' })),
    text: text('Text that the element shows'),
    label: text('Label of a field'),
    placeholder: text('Placeholder of a field'),
    testId: text('Value of data-testid'),
    exact: Type.Optional(
      Type.Boolean({ description: 'Name, text, label or placeholder must be the same, not only contain it' }),
    ),
    nth: Type.Optional(
      Type.Integer({ description: 'Which of several matches, from 0; negative counts from the end' }),
    ),
    frame: text('Where to look: a frame by its name, its URL, or the ref of its iframe'),
  },
  { additionalProperties: false, description: 'An element, found in exactly one way' },
);

/** What an operation acts on: a ref or a CSS selector as text, or an object. */
export const Target = Type.Union(
  [
    Type.String({
      minLength: 1,
      maxLength: 8192,
      description: 'A ref (e12, f1e2, @e12), else a CSS selector',
    }),
    TargetObject,
  ],
  { description: 'The element to act on' },
);
export type Target = Static<typeof Target>;

/** A target, taken apart. */
export interface ParsedTarget {
  /** What the frame's world is asked for; holds no `frame`. */
  readonly query: QueryTarget;
  readonly ref: ParsedRef | undefined;
  readonly frame: string | undefined;
  /** As the caller wrote it, for messages. */
  readonly text: string;
}

const WAYS = ['ref', 'selector', 'xpath', 'role', 'text', 'label', 'placeholder', 'testId'] as const;

/** @throws AirlockError `invalid_target` for a target that names no way to find the element, or several */
export function parseTarget(target: Target): ParsedTarget {
  if (typeof target === 'string') {
    const ref = parseRef(target);
    if (ref) return { query: { ref: ref.number }, ref, frame: undefined, text: ref.text };
    return { query: { selector: target }, ref: undefined, frame: undefined, text: target };
  }
  const shown = JSON.stringify(target);
  const ways = WAYS.filter((way) => target[way] !== undefined);
  if (ways.length !== 1) {
    const found = ways.length === 0 ? 'none' : ways.join(' and ');
    throw new AirlockError(
      'invalid_target',
      `A target has exactly one of ${WAYS.join(', ')}; this one has ${found}`,
    );
  }
  if (target.name !== undefined && target.role === undefined) {
    throw new AirlockError('invalid_target', `"name" goes with "role": ${shown}`);
  }
  const { frame, ref: refText, ...query } = target;
  if (refText === undefined) return { query, ref: undefined, frame, text: shown };
  const ref = parseRef(refText);
  if (!ref)
    throw new AirlockError(
      'invalid_target',
      `${JSON.stringify(refText)} is not a ref; refs look like e12 or f1e2`,
    );
  return { query: { ref: ref.number }, ref, frame: undefined, text: ref.text };
}
