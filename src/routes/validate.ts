import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { TObject } from 'typebox';
import { AirlockError } from '../errors.ts';
import { nearest } from './nearest.ts';

const common = { allErrors: false, useDefaults: true, removeAdditional: false, strict: false } as const;
/** Bodies are JSON and have types: nothing is coerced. Query and path are text. */
const bodies = new Ajv({ ...common, coerceTypes: false });
const queries = new Ajv({ ...common, coerceTypes: 'array' });

export type InputValidator = (input: Record<string, unknown>) => void;

/**
 * Compiles the check of an operation's input.
 * @returns a function that throws AirlockError `invalid_request` with the JSON pointer of what does not fit
 */
export function inputValidator(schema: TObject, from: 'body' | 'query'): InputValidator {
  const validate: ValidateFunction = (from === 'body' ? bodies : queries).compile(schema);
  const known = Object.keys(schema.properties);
  const booleans = known.filter((name) => hasType(schema.properties[name], 'boolean'));
  const objects = known.filter((name) => hasType(schema.properties[name], 'object'));
  const either = known.filter((name) => mayBeObject(schema.properties[name]));
  return (input) => {
    if (from === 'query') {
      for (const name of booleans) input[name] = asBoolean(input[name]);
      for (const name of objects) input[name] = asObject(input[name], name);
      // A text or an object, such as a target: no selector begins with a brace.
      for (const name of either) {
        if (String(input[name]).startsWith('{')) input[name] = asObject(input[name], name);
      }
    }
    if (validate(input)) return;
    throw invalid(validate.errors?.[0], known);
  };
}

/** `?urls=1`, `?urls` and `?urls=true` all mean true. */
function asBoolean(value: unknown): unknown {
  if (value === '' || value === '1') return true;
  return value === '0' ? false : value;
}

/** In a query an object is its JSON text. */
function asObject(value: unknown, name: string): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    throw new AirlockError('invalid_request', `/${name}: must be JSON text`, {
      extra: { pointer: `/${name}` },
    });
  }
}

function mayBeObject(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null || !('anyOf' in schema)) return false;
  return Array.isArray(schema.anyOf) && schema.anyOf.some((one) => hasType(one, 'object'));
}

function hasType(schema: unknown, type: string): boolean {
  return typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === type;
}

function invalid(error: ErrorObject | undefined, known: readonly string[]): AirlockError {
  if (!error) return new AirlockError('invalid_request', 'The request does not match the schema');
  const params: Record<string, unknown> = error.params;
  const unknown = params['additionalProperty'];
  if (typeof unknown === 'string') {
    const pointer = `${error.instancePath}/${escapePointer(unknown)}`;
    const near = error.instancePath === '' ? nearest(unknown, known) : [];
    const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
    return new AirlockError('invalid_request', `${pointer}: unknown field${hint}`, { extra: { pointer } });
  }
  const missing = params['missingProperty'];
  const pointer =
    typeof missing === 'string' ? `${error.instancePath}/${escapePointer(missing)}` : error.instancePath;
  const allowed = Array.isArray(params['allowedValues']) ? `: ${params['allowedValues'].join(', ')}` : '';
  const message = typeof missing === 'string' ? 'is missing' : (error.message ?? 'does not fit');
  return new AirlockError('invalid_request', `${pointer || '/'}: ${message}${allowed}`, {
    extra: { pointer },
  });
}

/** RFC 6901. */
function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
