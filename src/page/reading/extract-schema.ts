import { AirlockError } from '../../errors.ts';
import type { Extracted, FieldSpec } from './injected/types.ts';

const MOST_LEVELS = 20;

type Schema = Readonly<Record<string, unknown>>;

/**
 * Where the data of a JSON Schema is, from the members `selector` and `attr` of its properties: an array takes all
 * matches, an object has its own properties within the match, a boolean says whether there is one.
 * @throws AirlockError `invalid_request` for a schema that says of no property where it is
 */
export function fieldsOf(schema: Schema): Record<string, FieldSpec> {
  return propertiesOf(schema, '/schema', 1);
}

function propertiesOf(schema: Schema, at: string, level: number): Record<string, FieldSpec> {
  const properties = asSchema(schema['properties']);
  if (properties === undefined) throw invalid(at, 'without fields a schema has properties');
  if (level > MOST_LEVELS) throw invalid(at, `nests deeper than ${MOST_LEVELS} levels`);
  const fields: Record<string, FieldSpec> = {};
  for (const [name, inner] of Object.entries(properties)) {
    const property = asSchema(inner);
    if (property !== undefined) fields[name] = fieldOf(property, `${at}/properties/${name}`, level);
  }
  return fields;
}

function fieldOf(property: Schema, at: string, level: number): FieldSpec {
  const { selector, attr } = property;
  const spec: FieldSpec = {};
  if (typeof selector === 'string' && selector !== '') spec.selector = selector;
  if (typeof attr === 'string' && attr !== '') spec.attr = attr;
  const items = hasType(property, 'array') ? (asSchema(property['items']) ?? {}) : undefined;
  if (items !== undefined) {
    const inner = fieldOf(items, `${at}/items`, level);
    const css = spec.selector ?? inner.selector;
    if (css === undefined) throw invalid(at, 'a list needs a selector');
    return { ...inner, ...spec, selector: css, all: true };
  }
  if (asSchema(property['properties']) !== undefined)
    return { ...spec, fields: propertiesOf(property, at, level + 1) };
  if (spec.selector === undefined && spec.attr === undefined && level === 1 && !at.endsWith('/items'))
    throw invalid(at, 'says not where it is: selector');
  return hasType(property, 'boolean') && spec.attr === undefined ? { ...spec, exists: true } : spec;
}

/** The data with numbers where the schema wants them, as they are written on pages: `1,299.00 €`. What is absent is left out. */
export function fitted(data: { [name: string]: Extracted }, schema: Schema): Record<string, unknown> {
  const properties = asSchema(schema['properties']) ?? {};
  const out: [string, unknown][] = [];
  for (const [name, value] of Object.entries(data)) {
    const property = asSchema(properties[name]) ?? {};
    const fits = inType(value, property);
    // Whether it may be absent is what `required` says.
    if (fits !== null || hasType(property, 'null')) out.push([name, fits]);
  }
  return Object.fromEntries(out);
}

function inType(value: Extracted, schema: Schema): unknown {
  if (Array.isArray(value)) return value.map((item) => inType(item, asSchema(schema['items']) ?? {}));
  if (typeof value === 'object' && value !== null) return fitted(value, schema);
  if (typeof value !== 'string') return value;
  if (hasType(schema, 'string')) return value;
  if (hasType(schema, 'number') || hasType(schema, 'integer')) return numberIn(value) ?? value;
  return value;
}

/** The one number in a text: `1,234.5`, `1.234,5`, `1,234` and `12,5` as they are most often meant. */
export function numberIn(text: string): number | undefined {
  const found = text.match(/[-−]?\d(?:[\d.,'\u00a0\u202f ]*\d)?/g);
  if (found?.length !== 1) return undefined;
  const written = (found[0] ?? '').replace('−', '-').replace(/['\u00a0\u202f ]/g, '');
  const last = Math.max(written.lastIndexOf('.'), written.lastIndexOf(','));
  const mark = written.charAt(last);
  const once = last >= 0 && written.indexOf(mark) === last;
  const both = written.includes('.') && written.includes(',');
  const grouped = /^-?\d{1,3}(?:,\d{3})+$/.test(written);
  const decimal = once && (both || !grouped);
  const digits = decimal
    ? `${written.slice(0, last).replace(/[.,]/g, '')}.${written.slice(last + 1)}`
    : written.replace(/[.,]/g, '');
  const number = Number(digits);
  return Number.isFinite(number) ? number : undefined;
}

function asSchema(value: unknown): Schema | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.fromEntries(Object.entries(value));
}

function hasType(schema: Schema, type: string): boolean {
  const { type: own } = schema;
  return own === type || (Array.isArray(own) && own.includes(type));
}

function invalid(pointer: string, detail: string): AirlockError {
  return new AirlockError('invalid_request', `${pointer}: ${detail}`, { extra: { pointer } });
}
