import { AirlockError } from '../errors.ts';

/** The origin of an http or https URL; `undefined` for every other. */
export function originOf(url: string): string | undefined {
  const parsed = URL.parse(url);
  return parsed?.protocol === 'http:' || parsed?.protocol === 'https:' ? parsed.origin : undefined;
}

/**
 * The origin that a caller means: `https://shop.example`, also written as `https://Shop.example:443/`.
 * @throws AirlockError `invalid_request` when it is none, or has more than an origin has
 */
export function readOrigin(raw: string, pointer: string): string {
  const origin = originOf(raw);
  if (origin !== undefined && new URL(raw).href === `${origin}/`) return origin;
  throw new AirlockError(
    'invalid_request',
    `${pointer}: not an http or https origin: ${JSON.stringify(raw.slice(0, 200))}`,
    { extra: { pointer } },
  );
}
