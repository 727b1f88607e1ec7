import { Type } from 'typebox';

export const Modifiers = Type.Array(
  Type.Union([
    Type.Literal('Alt'),
    Type.Literal('Control'),
    Type.Literal('Meta'),
    Type.Literal('Shift'),
    Type.Literal('ControlOrMeta'),
  ]),
  { uniqueItems: true, description: 'Keys held meanwhile; ControlOrMeta is the one of the platform' },
);

export const Position = Type.Object(
  { x: Type.Number(), y: Type.Number() },
  { additionalProperties: false, description: "CSS pixels from the top left corner of the element's box" },
);
