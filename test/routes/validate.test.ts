import { type TObject, Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { AirlockError } from '../../src/errors.ts';
import { inputValidator } from '../../src/routes/validate.ts';

const Strict = (properties: Record<string, Type.TSchema>) =>
  Type.Object(properties, { additionalProperties: false });

const schema = Strict({
  until: Type.Optional(Type.Union([Type.Literal('commit'), Type.Literal('load')])),
  only: Type.Optional(Type.Literal(true)),
  format: Type.Optional(Type.Enum(['png', 'jpeg'])),
  snapshot: Type.Optional(Type.Union([Type.Boolean(), Type.Literal('diff')])),
  keys: Type.Optional(Type.Array(Type.Union([Type.Literal('Alt'), Type.Literal('Shift')]))),
  target: Type.Optional(
    Type.Union([
      Type.String({ minLength: 1 }),
      Strict({ role: Type.String(), name: Type.Optional(Type.String()) }),
    ]),
  ),
  field: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Union([
        Type.String(),
        Strict({ selector: Type.String() }),
        Strict({ list: Type.Array(Strict({ at: Type.Integer() })) }),
      ]),
      { propertyNames: { maxLength: 4 } },
    ),
  ),
  nothing: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});

function told(
  input: Record<string, unknown>,
  from: 'body' | 'query' = 'body',
  over: TObject = schema,
): unknown[] {
  try {
    inputValidator(over, from)(structuredClone(input));
  } catch (error) {
    if (error instanceof AirlockError) return [error.extra['pointer'], error.message.replace(/^[^:]*: /, '')];
    throw error;
  }
  return [];
}

describe('values that are listed', () => {
  test.each([
    [{ until: 'loaded' }, '/until', 'must be one of "commit", "load"; did you mean "load"?'],
    [{ until: 3 }, '/until', 'must be one of "commit", "load"'],
    [{ only: false }, '/only', 'must be true'],
    [{ format: 'gif' }, '/format', 'must be one of "png", "jpeg"'],
    [{ keys: ['Alt', 'Shft'] }, '/keys/1', 'must be one of "Alt", "Shift"; did you mean "Shift"?'],
    [{ snapshot: 'yes' }, '/snapshot', 'must be a boolean or "diff"'],
  ])('%j says which', (input, pointer, message) => {
    expect(told(input)).toEqual([pointer, message]);
  });

  test('a query says them too', () => {
    expect(told({ format: 'gif' }, 'query')).toEqual(['/format', 'must be one of "png", "jpeg"']);
    expect(told({ snapshot: 'diff' }, 'query')).toEqual([]);
  });
});

describe('a union tells of the branch that was meant', () => {
  test.each([
    [{ target: { rol: 'button' } }, '/target/rol', 'unknown field; did you mean role?'],
    [{ target: { role: 5 } }, '/target/role', 'must be string'],
    [{ target: { name: 'Go' } }, '/target/role', 'is missing'],
    [{ target: '' }, '/target', 'must NOT have fewer than 1 characters'],
    [{ target: 5 }, '/target', 'must be a string or an object'],
    [{ target: ['a'] }, '/target', 'must be a string or an object'],
    [{ field: { a: { list: [{ at: 1.5 }] } } }, '/field/a/list/0/at', 'must be integer'],
    [{ field: { a: { selctor: 'p' } } }, '/field/a/selctor', 'unknown field; did you mean selector?'],
    [{ field: { a: { lits: [] } } }, '/field/a/lits', 'unknown field; did you mean list?'],
    [{ nothing: 1 }, '/nothing', 'must be a string or null'],
  ])('%j', (input, pointer, message) => {
    expect(told(input)).toEqual([pointer, message]);
  });

  test('what fits one branch is taken', () => {
    expect(
      told({ target: { role: 'button' }, field: { a: 'x', b: { selector: 'p' } }, nothing: null }),
    ).toEqual([]);
  });
});

test('a name that is not allowed is in the pointer, escaped', () => {
  expect(told({ field: { 'a/b~c': 'x' } })).toEqual([
    '/field/a~1b~0c',
    'the name must NOT have more than 4 characters',
  ]);
});
