import { AirlockError } from '../errors.ts';
import type { AnyOperation } from './define.ts';

/** Why a request found no route, and with `method_not_allowed` the methods that the path answers to (RFC 9110, 15.5.6). */
export interface Missing {
  readonly error: AirlockError;
  readonly allow: readonly string[];
}

/** @param path without the query */
export function missingRoute(method: string, path: string, operations: readonly AnyOperation[]): Missing {
  const allow = [
    ...new Set(operations.filter((one) => fits(one.path, path)).map((one) => one.method)),
  ].sort();
  if (allow.length === 0) {
    return { error: new AirlockError('not_found', `${method} ${path} is not a route`), allow };
  }
  const detail = `${path} answers to ${allow.join(', ')}, not to ${method}`;
  return { error: new AirlockError('method_not_allowed', detail, { extra: { allow } }), allow };
}

function fits(template: string, path: string): boolean {
  const wanted = template.split('/');
  const given = path.split('/');
  return (
    wanted.length === given.length && wanted.every((part, i) => part.startsWith('{') || part === given[i])
  );
}
