import type { Ajv, ErrorObject, Schema } from 'ajv';
import { nearest } from './nearest.ts';

/** Where and why an input does not fit its schema. */
export interface Mismatch {
  /** RFC 6901; empty for the whole input. */
  readonly pointer: string;
  readonly message: string;
}

type Branch = Readonly<Record<string, unknown>>;

/**
 * What to tell of a value that does not fit. Of a union it is what is wrong with the branch that the value was meant for;
 * where there is none, all that would fit.
 * @param errors of one check by an Ajv with `verbose` and without `allErrors`
 */
export function whatIsWrong(ajv: Ajv, errors: readonly ErrorObject[], at = ''): Mismatch {
  // A union reports its branches first and itself last.
  const error = errors.at(-1);
  if (!error) return { pointer: at, message: 'does not fit' };
  const pointer = at + error.instancePath;
  const params: Record<string, unknown> = error.params;
  if (error.keyword === 'anyOf') return ofUnion(ajv, branchesOf(error.schema), error.data, pointer);
  if (error.keyword === 'const' || error.keyword === 'enum') {
    return { pointer, message: oneOf([error.parentSchema ?? {}], error.data) };
  }
  if (error.keyword === 'propertyNames') {
    const name = String(params['propertyName']);
    return {
      pointer: `${pointer}/${escaped(name)}`,
      message: `the name ${errors[0]?.message ?? 'does not fit'}`,
    };
  }
  const missing = params['missingProperty'];
  const unknown = params['additionalProperty'] ?? (missing === undefined ? undefined : unknownMember(error));
  if (typeof unknown === 'string') {
    const near = nearest(unknown, membersOf(error));
    const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
    return { pointer: `${pointer}/${escaped(unknown)}`, message: `unknown field${hint}` };
  }
  if (typeof missing === 'string')
    return { pointer: `${pointer}/${escaped(missing)}`, message: 'is missing' };
  return { pointer, message: error.message ?? 'does not fit' };
}

/** A member that is missing may be there under a wrong name, which says more. */
function unknownMember({ parentSchema, data }: ErrorObject): string | undefined {
  if (parentSchema?.['additionalProperties'] !== false || !isObject(data)) return undefined;
  const known: unknown = parentSchema['properties'];
  return Object.keys(data).find((name) => isObject(known) && !Object.hasOwn(known, name));
}

function membersOf({ parentSchema }: ErrorObject): string[] {
  const properties: unknown = parentSchema?.['properties'];
  return isObject(properties) ? Object.keys(properties) : [];
}

function ofUnion(ajv: Ajv, branches: readonly Branch[], data: unknown, pointer: string): Mismatch {
  const fitting = branches.filter((branch) => values(branch) === undefined && ofType(branch, data));
  const told = fitting.map((branch) => {
    const validate = ajv.compile(branch as Schema);
    return validate(data) ? undefined : whatIsWrong(ajv, validate.errors ?? [], pointer);
  });
  // Of several the one that got furthest into the value, or knows a name that comes close.
  const best = told.filter((mismatch) => mismatch !== undefined).sort((a, b) => weight(b) - weight(a))[0];
  return best ?? { pointer, message: oneOf(branches, data) };
}

/** `must be one of "load", "commit"`, or `must be a boolean or "diff"`. */
function oneOf(branches: readonly Branch[], data: unknown): string {
  const kinds = new Set(
    branches
      .filter((branch) => values(branch) === undefined)
      .flatMap(typesOf)
      .map(withArticle),
  );
  const allowed = [...new Set(branches.flatMap((branch) => values(branch) ?? []))];
  const listed = allowed.map((value) => JSON.stringify(value));
  const near =
    typeof data === 'string'
      ? nearest(
          data,
          allowed.filter((value) => typeof value === 'string'),
        )
      : [];
  const hint =
    near.length > 0 ? `; did you mean ${near.map((one) => JSON.stringify(one)).join(' or ')}?` : '';
  if (kinds.size === 0) return `must be ${listed.length > 1 ? 'one of ' : ''}${listed.join(', ')}${hint}`;
  return `must be ${[...kinds, ...listed].join(' or ')}${hint}`;
}

/** The values that a schema lists, where it is a list of values. */
function values(branch: Branch): unknown[] | undefined {
  if ('const' in branch) return [branch['const']];
  return Array.isArray(branch['enum']) ? branch['enum'] : undefined;
}

function typesOf(branch: Branch): string[] {
  if (Array.isArray(branch['anyOf'])) return branchesOf(branch['anyOf']).flatMap(typesOf);
  return [branch['type']].flat().filter((type) => typeof type === 'string');
}

function ofType(branch: Branch, data: unknown): boolean {
  if (Array.isArray(branch['anyOf'])) return branchesOf(branch['anyOf']).some((inner) => ofType(inner, data));
  const is = data === null ? 'null' : Array.isArray(data) ? 'array' : typeof data;
  return typesOf(branch).some((type) => type === is || (type === 'integer' && is === 'number'));
}

function withArticle(type: string): string {
  if (type === 'null') return type;
  return `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`;
}

function branchesOf(schema: unknown): Branch[] {
  return Array.isArray(schema) ? schema.filter(isObject) : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function weight({ pointer, message }: Mismatch): number {
  return 2 * pointer.split('/').length + (message.includes('did you mean') ? 1 : 0);
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
