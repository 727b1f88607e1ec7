import Type, { type Static } from 'typebox';
import { UNTRUSTED } from '../schema.ts';
import { Target } from '../target.ts';

/** Bounds of one answer: how deep, how many members of one container, how many characters of all strings together. */
export const DEFAULT_LIMITS = { maxDepth: 20, maxItems: 10_000, maxChars: 250_000 };

export const EvalInput = Type.Object(
  {
    expression: Type.Optional(
      Type.String({
        description:
          'A script. Its value is that of the last expression statement, or of a top-level return; await works at ' +
          'the top level. An object literal needs parentheses: ({a: 1}).',
      }),
    ),
    function: Type.Optional(
      Type.String({ description: 'A function, called with args: (a, b) => a + b. Instead of expression.' }),
    ),
    args: Type.Optional(
      Type.Array(Type.Unknown(), {
        description: 'JSON values, or {"ref": "e12"} for an element of a snapshot.',
      }),
    ),
    target: Type.Optional(Target),
    world: Type.Optional(
      Type.Union([Type.Literal('main'), Type.Literal('isolated')], {
        description:
          'main (default) sees what the page defines; isolated has the DOM and pristine built-ins.',
      }),
    ),
    frame: Type.Optional(
      Type.String({
        description:
          'main, f1, f2, …, a name or a URL. Default: where the elements among the arguments are, else main.',
      }),
    ),
    awaitPromise: Type.Optional(
      Type.Boolean({ description: 'Waits for a promise and answers its value. Default true.' }),
    ),
    maxDepth: Type.Optional(Type.Integer({ minimum: 1, maximum: 32 })),
    maxItems: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
    maxChars: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000 })),
  },
  { additionalProperties: false },
);
export type EvalInput = Static<typeof EvalInput>;

export const Cut = Type.Object({
  path: Type.String({ ...UNTRUSTED, description: 'JSON pointer into value.' }),
  reason: Type.Union([
    Type.Literal('depth'),
    Type.Literal('items'),
    Type.Literal('chars'),
    Type.Literal('total'),
    Type.Literal('getter'),
  ]),
  total: Type.Optional(Type.Integer({ description: 'How many members or characters there are.' })),
});
export type Cut = Static<typeof Cut>;

export const EvalResult = Type.Object({
  value: Type.Unknown({
    ...UNTRUSTED,
    description:
      'JSON as JSON. What JSON cannot say is {"$type": …}: undefined, number (NaN, Infinity, -Infinity, -0), bigint, ' +
      'symbol, function, date, regexp, map, set, error, typedarray, arraybuffer (base64), node, promise, … A cycle is ' +
      '{"$ref": JSON pointer}. An object of the page that has a member $type or $ref of its own is ' +
      '{"$type": "object", "value": {…}}.',
  }),
  type: Type.String({
    description:
      'undefined, null, boolean, number, string, bigint, symbol, function, object, array, date, map, …',
  }),
  truncated: Type.Optional(Type.Literal(true)),
  cut: Type.Optional(Type.Array(Cut, { description: 'What is missing from value; at most 100 places.' })),
});
export type EvalResult = Static<typeof EvalResult>;
