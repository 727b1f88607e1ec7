import { type Static, Type } from 'typebox';
import { AirlockError } from '../errors.ts';
import type { Operation } from './operation.ts';
import { evaluateValue, readInFrame } from './world.ts';

export const UrlPattern = Type.Union(
  [
    Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'A URL or a part of one; with * (all but /) and ** (all) a pattern for the whole URL',
    }),
    Type.Object(
      {
        regex: Type.String({ minLength: 1, maxLength: 2048 }),
        flags: Type.Optional(Type.String({ pattern: '^[imsuv]{0,5}$' })),
      },
      { additionalProperties: false, description: 'A regular expression of JavaScript' },
    ),
  ],
  { description: 'Which URLs are meant' },
);
export type UrlPattern = Static<typeof UrlPattern>;

/** How long a caller's regular expression may run, in milliseconds. */
const REGEX_MS = 200;

/**
 * The first of some URLs that a pattern fits. Globs are matched here, in linear time; regular expressions in the page's
 * isolated world, where a bad one can be stopped.
 * @throws AirlockError `invalid_request` for a regular expression that does not parse, or does not end
 */
export async function firstMatch(
  op: Operation,
  pattern: UrlPattern,
  urls: readonly string[],
): Promise<string | undefined> {
  if (typeof pattern === 'string') return urls.find((url) => fitsGlob(pattern, url));
  if (urls.length === 0) return undefined;
  const code = `(() => {
    let regex;
    try { regex = new RegExp(${JSON.stringify(pattern.regex)}, ${JSON.stringify(pattern.flags ?? '')}); }
    catch (error) { return 'syntax: ' + error.message; }
    return ${JSON.stringify(urls)}.findIndex((url) => regex.test(url));
  })()`;
  const found = await readInFrame(op, op.tab.frames.main, (world) =>
    evaluateValue(op, world, code, REGEX_MS),
  ).catch((error: unknown) => {
    // What V8 answers for an evaluation that it has stopped (Chromium 156: "Internal error").
    if (!/Execution was terminated|Script execution timed out|Internal error/i.test(String(error)))
      throw error;
    throw new AirlockError('invalid_request', `The regular expression ${pattern.regex} takes too long`);
  });
  if (typeof found === 'string') throw new AirlockError('invalid_request', `${pattern.regex}: ${found}`);
  return typeof found === 'number' ? urls[found] : undefined;
}

/** `*` is any run without a slash, `**` any run; without either the pattern is the URL or a part of it. */
export function fitsGlob(pattern: string, url: string): boolean {
  if (!pattern.includes('*')) return url.includes(pattern);
  const tokens = pattern.match(/\*{2,}|\*|[^*]/g) ?? [];
  // All places in the pattern that the URL read so far may stand at: no backtracking, whatever the pattern.
  let places = skipStars(tokens, [0]);
  for (const character of url) {
    const next = new Set<number>();
    for (const place of places) {
      const token = tokens[place];
      if (token === undefined) continue;
      if (token.startsWith('**') || (token === '*' && character !== '/')) next.add(place);
      else if (token === character) next.add(place + 1);
    }
    places = skipStars(tokens, next);
    if (places.size === 0) return false;
  }
  return places.has(tokens.length);
}

/** Stars may stand for nothing. */
function skipStars(tokens: readonly string[], from: Iterable<number>): Set<number> {
  const places = new Set<number>();
  for (let place of from) {
    places.add(place);
    while (tokens[place]?.startsWith('*')) places.add(++place);
  }
  return places;
}
