import { Ajv, type ValidateFunction } from 'ajv';
import type { TObject } from 'typebox';
import { AirlockError } from '../errors.ts';
import { whatIsWrong } from './mismatch.ts';

/** `verbose`: an error comes with the schema and the value that it is about, to tell more of them. */
const common = {
  allErrors: false,
  useDefaults: true,
  removeAdditional: false,
  strict: false,
  verbose: true,
} as const;
/** Bodies are JSON and have types: nothing is coerced. Query and path are text. */
const bodies = new Ajv({ ...common, coerceTypes: false });
const queries = new Ajv({ ...common, coerceTypes: 'array' });

export type InputValidator = (input: Record<string, unknown>) => void;

/**
 * Compiles the check of an operation's input.
 * @returns a function that throws AirlockError `invalid_request` with the JSON pointer of what does not fit
 */
export function inputValidator(schema: TObject, from: 'body' | 'query'): InputValidator {
  const ajv = from === 'body' ? bodies : queries;
  const validate: ValidateFunction = ajv.compile(schema);
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
    const { pointer, message } = whatIsWrong(ajv, validate.errors ?? []);
    throw new AirlockError('invalid_request', `${pointer || '/'}: ${message}`, { extra: { pointer } });
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
