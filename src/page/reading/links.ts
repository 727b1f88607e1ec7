import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import { frameLabel } from '../find-frame.ts';
import type { Frame } from '../frames.ts';
import type { Operation } from '../operation.ts';
import { UNTRUSTED } from '../schema.ts';
import { LOST_FRAME } from '../snapshot/take.ts';
import { staleError } from '../target-errors.ts';
import { callReader } from './call-reader.ts';
import { cursorAlone, DEFAULT_MAX_CHARS, LimitInput } from './content.ts';
import type { Link } from './injected/types.ts';
import { findPlace, PlaceInput } from './place.ts';
import { MOST_CHARS, tooLarge } from './read.ts';

export const LinksInput = Type.Object({ ...PlaceInput, ...LimitInput }, { additionalProperties: false });
export type LinksInput = Static<typeof LinksInput>;

export const LinksResult = Type.Object({
  links: Type.Array(
    Type.Object({
      url: Type.String({ ...UNTRUSTED, description: 'absolute' }),
      text: Type.String({ ...UNTRUSTED, description: 'what it shows, else its name' }),
      visible: Type.Boolean(),
      frame: Type.String({ description: 'main, f1 …: where the first one is' }),
    }),
  ),
  truncated: Type.Boolean(),
  total: Type.Integer({ description: 'number of all links' }),
  cursor: Type.Optional(Type.String({ description: 'gives the links that follow' })),
});
export type LinksResult = Static<typeof LinksResult>;
type Listed = LinksResult['links'][number];

/** Links of one page; more is an error, never a list that was cut unsaid. */
const MOST_LINKS = 200_000;

/**
 * The links of a page with all its frames, or of an element: absolute, each URL once, in the order of the document.
 * @throws AirlockError those of `findPlace`; `too_large`, `invalid_request` for a cursor that is none
 */
export async function readLinks(op: Operation, input: LinksInput): Promise<LinksResult> {
  const { maxChars = DEFAULT_MAX_CHARS, cursor, ...place } = input;
  const store = op.env.readings;
  if (cursor !== undefined) {
    if (Object.values(place).some((way) => way !== undefined)) throw cursorAlone();
    const { id, from, stored } = store.at('links', cursor);
    // Written below.
    return cut(JSON.parse(stored.content) as Listed[], from, maxChars, () => id);
  }
  const { frame, number } = await findPlace(op, place);
  const source = { url: frame.url, title: '' };
  const all = await list(op, frame, number);
  return cut(all, 0, maxChars, () => store.keep('links', source, JSON.stringify(all)));
}

async function list(op: Operation, frame: Frame, number: number): Promise<Listed[]> {
  const found = new Map<string, Listed>();
  for (const one of number === 0 ? withInner(op, frame) : [frame]) {
    for (const link of await linksOf(op, one, number)) {
      const known = found.get(link.url);
      if (known === undefined) found.set(link.url, { ...link, frame: frameLabel(one) });
      else known.visible ||= link.visible;
    }
    if (found.size > MOST_LINKS) throw tooLarge();
  }
  return [...found.values()];
}

function withInner(op: Operation, frame: Frame): Frame[] {
  return [frame, ...op.tab.frames.children(frame.id).flatMap((child) => withInner(op, child))];
}

async function linksOf(op: Operation, frame: Frame, number: number): Promise<Link[]> {
  try {
    const answer = await callReader(op, frame, 'links', number, MOST_CHARS);
    if (answer === null) throw staleError(`e${number}`, 'node_removed', undefined);
    if (answer.links === null) throw tooLarge();
    return answer.links;
  } catch (error) {
    op.check();
    // A frame inside that went away or crashed has no links.
    const inner = frame.parentId !== undefined && number === 0;
    if (inner && error instanceof AirlockError && LOST_FRAME.has(error.code)) return [];
    throw error;
  }
}

/** @param keep keeps the whole list, and gives the id of what is kept */
function cut(all: Listed[], from: number, maxChars: number, keep: () => string): LinksResult {
  let chars = 0;
  let to = from;
  for (; to < all.length; to++) {
    chars += (all[to]?.url.length ?? 0) + (all[to]?.text.length ?? 0);
    if (chars > maxChars && to > from) break;
  }
  const answer = { links: all.slice(from, to), total: all.length };
  return to < all.length
    ? { ...answer, truncated: true, cursor: `${keep()}:${to}` }
    : { ...answer, truncated: false };
}
