import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import type { Operation } from '../operation.ts';
import { UNTRUSTED } from '../schema.ts';
import { staleError } from '../target-errors.ts';
import { callReader } from './call-reader.ts';
import { fieldsOf, fitted } from './extract-schema.ts';
import type { Extracted, FieldSpec } from './injected/types.ts';
import { findPlace, PlaceInput } from './place.ts';
import { inThread } from './thread.ts';

const selector = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 8192,
    description: 'CSS, within the element of the field around it; none is that element itself',
  }),
);

/** A field as a caller writes it; the validator cannot follow `fields` into itself, so `checkFields` does. */
const Field = Type.Union(
  [
    Type.String({ minLength: 1, maxLength: 8192, description: 'CSS; the text of the first match' }),
    Type.Object(
      {
        selector,
        attr: Type.Optional(
          Type.String({ minLength: 1, maxLength: 200, description: 'this attribute in place of the text' }),
        ),
        all: Type.Optional(Type.Boolean({ description: 'a list of all matches' })),
        fields: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), {
            description: 'an object of such fields for each match',
          }),
        ),
      },
      { additionalProperties: false },
    ),
  ],
  { description: 'a CSS selector, or {selector, attr, all, fields}' },
);

export const ExtractInput = Type.Object(
  {
    fields: Type.Optional(Type.Record(Type.String(), Field, { description: 'what to take, by name' })),
    schema: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'JSON Schema that the data has to fit. Without fields its properties say where: selector, attr',
      }),
    ),
    ...PlaceInput,
    maxChars: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000_000, description: 'of all texts; default 1000000' }),
    ),
  },
  { additionalProperties: false },
);
export type ExtractInput = Static<typeof ExtractInput>;

export const ExtractResult = Type.Object({
  data: Type.Record(Type.String(), Type.Unknown(), UNTRUSTED),
});
export type ExtractResult = Static<typeof ExtractResult>;

const DEFAULT_MAX_CHARS = 1_000_000;
const MOST_LEVELS = 20;

/**
 * Data of a page by CSS selectors, as the fields or the schema say.
 * @throws AirlockError `invalid_request` (neither fields nor schema, or one that cannot be used), `invalid_target` (a
 * selector that cannot be parsed), `assertion_failed` (what is there does not fit the schema), `too_large`, those of `findPlace`
 */
export async function extract(op: Operation, input: ExtractInput): Promise<ExtractResult> {
  const { fields, schema, maxChars = DEFAULT_MAX_CHARS, ...place } = input;
  if (fields === undefined && schema === undefined)
    throw invalid('/fields', 'give fields, a schema, or both');
  const spec = fields === undefined ? fieldsOf(schema ?? {}) : checkFields(fields, '/fields', 1);
  const { frame, number } = await findPlace(op, place);
  const answer = await callReader(op, frame, 'extract', spec, number, maxChars);
  if (answer === null) throw staleError(`e${number}`, 'node_removed', undefined);
  if (answer.error)
    throw new AirlockError('invalid_target', `${answer.error.selector}: ${answer.error.message}`);
  if (answer.over || answer.data === undefined) {
    throw new AirlockError('too_large', `The data has more than ${maxChars} characters (maxChars)`);
  }
  const data = wellFormed(answer.data);
  if (schema === undefined) return { data };
  return { data: await checked(op, schema, fitted(data, schema)) };
}

async function checked(
  op: Operation,
  schema: Record<string, unknown>,
  data: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const { refused, errors } = await inThread(op, { kind: 'check', schema, data });
  if (refused !== undefined) throw invalid('/schema', refused);
  const [first, ...more] = errors;
  if (first === undefined) return data;
  const others = more.length === 0 ? '' : `; and ${more.length} more`;
  throw new AirlockError('assertion_failed', `${first.pointer || '/'} ${first.message}${others}`, {
    extra: { unmet: errors, seen: data },
  });
}

function invalid(pointer: string, detail: string): AirlockError {
  return new AirlockError('invalid_request', `${pointer}: ${detail}`, { extra: { pointer } });
}

const FIELD_MEMBERS = new Set(['selector', 'attr', 'all', 'fields']);

/** @throws AirlockError `invalid_request` with the pointer of a field that is none */
function checkFields(
  fields: Readonly<Record<string, unknown>>,
  pointer: string,
  level: number,
): Record<string, FieldSpec> {
  if (level > MOST_LEVELS) throw invalid(pointer, `fields nest deeper than ${MOST_LEVELS} levels`);
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      return [name, checkField(field, at, level)];
    }),
  );
}

function checkField(field: unknown, at: string, level: number): FieldSpec {
  if (typeof field === 'string') return { selector: field };
  if (typeof field !== 'object' || field === null || Array.isArray(field))
    throw invalid(at, 'must be a CSS selector, or {selector, attr, all, fields}');
  const given: Record<string, unknown> = { ...field };
  const unknown = Object.keys(given).find((member) => !FIELD_MEMBERS.has(member));
  if (unknown !== undefined) throw invalid(`${at}/${unknown}`, 'unknown field');
  const { selector: css, attr, all, fields } = given;
  const spec: FieldSpec = {};
  if (css !== undefined) spec.selector = text(css, `${at}/selector`);
  if (attr !== undefined) spec.attr = text(attr, `${at}/attr`);
  if (all !== undefined && typeof all !== 'boolean') throw invalid(`${at}/all`, 'must be boolean');
  if (all === true) spec.all = true;
  if (fields === undefined) return spec;
  if (attr !== undefined) throw invalid(`${at}/attr`, 'goes with text, not with fields');
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw invalid(`${at}/fields`, 'must be object');
  return { ...spec, fields: checkFields({ ...fields }, `${at}/fields`, level + 1) };
}

function text(value: unknown, at: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(at, 'must be a text');
}

function wellFormed(data: { [name: string]: Extracted }): { [name: string]: Extracted } {
  const whole = (value: Extracted): Extracted => {
    if (typeof value === 'string') return value.toWellFormed();
    if (Array.isArray(value)) return value.map(whole);
    return typeof value === 'object' && value !== null ? wellFormed(value) : value;
  };
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, whole(value)]));
}
