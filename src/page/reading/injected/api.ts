/// <reference lib="dom" />
import type { Dom } from '../../injected/dom.ts';
import type { Queries } from '../../injected/query.ts';
import type { Refs } from '../../injected/refs.ts';
import type { QueryTarget } from '../../injected/types.ts';
import type { CleanReader } from './clean.ts';
import type { Extractor } from './extract.ts';
import type { FactReader } from './facts.ts';
import type { LinkReader } from './links.ts';
import type { MarkupReader } from './markup.ts';
import type { Pieces } from './pieces.ts';
import type { TextReader } from './text.ts';
import type {
  ExtractAnswer,
  FactName,
  Facts,
  FieldSpec,
  Link,
  ReadAnswer,
  ReadOrder,
  RefsAnswer,
  StyleOrder,
} from './types.ts';

/**
 * What the service calls. Elements are named by the numbers of their refs, 0 for none; `null`: it is gone. Everything that is
 * answered is bounded: a message that is too long would end the connection to the browser.
 */
export interface Reader {
  read(order: ReadOrder): ReadAnswer | null;
  links(ref: number, limit: number): { links: Link[] | null } | null;
  /** @param each characters of each text or HTML @param limit of everything; null where there is more */
  facts(
    refs: number[],
    wanted: FactName[],
    each: number,
    limit: number,
    style: StyleOrder | null,
  ): Facts[] | null;
  /** All elements that match, whatever `nth` says. */
  refsOf(target: QueryTarget, most: number, nextRef: number): RefsAnswer;
  extract(fields: Record<string, FieldSpec>, ref: number, limit: number): ExtractAnswer | null;
}

/** Injected by its text. */
export function readerApi({
  dom,
  refs,
  queries,
  texts,
  markup,
  clean,
  links,
  facts,
  extracts,
  pieces: newPieces,
}: {
  dom: Dom;
  refs: Refs;
  queries: Queries;
  texts: TextReader;
  markup: MarkupReader;
  clean: CleanReader;
  links: LinkReader;
  facts: FactReader;
  extracts: Extractor;
  pieces: (limit: number) => Pieces;
}): Reader {
  const maxTitle = 2000;

  function live(ref: number): Element | null {
    const { status, node } = refs.resolve(ref);
    return status === 'live' ? node : null;
  }

  function read({ kind, ref, nextRef, limit, hints }: ReadOrder): ReadAnswer | null {
    refs.begin(nextRef);
    const el = ref === 0 ? dom.rootElement(document) : live(ref);
    if (el === null && ref !== 0) return null;
    const out = newPieces(limit);
    if (kind === 'html') markup.write(ref === 0 || el === null ? document : el, out);
    else if (el !== null && isFrame(el)) out.addFrame(refs.give(el));
    else if (el !== null && kind === 'clean') clean.read(el, out, hints);
    else if (el !== null && ref === 0) texts.read(el, out, true);
    else if (el !== null) textOfElement(el, out, limit);
    const title = dom.titleOf(document).slice(0, maxTitle);
    return { ...out.finish(), url: location.href, title, nextRef: refs.nextRef() };
  }

  function isFrame(el: Element): boolean {
    return el instanceof HTMLIFrameElement || el instanceof HTMLFrameElement;
  }

  function textOfElement(el: Element, out: Pieces, limit: number): void {
    if (texts.isPainted(el)) texts.read(el, out, true);
    else out.add(texts.textOf(el, limit).text);
  }

  function refsOf(target: QueryTarget, most: number, nextRef: number): RefsAnswer {
    refs.begin(nextRef);
    const found = queries.select(target);
    if (!Array.isArray(found)) return { refs: [], count: 0, nextRef: refs.nextRef(), error: found };
    const given = found.slice(0, most).map((el) => refs.give(el));
    return { refs: given, count: found.length, nextRef: refs.nextRef() };
  }

  return {
    read,
    refsOf,
    links: (ref, limit) => {
      if (ref === 0) return { links: links.list(dom.roots(), limit) };
      const el = live(ref);
      return el === null ? null : { links: links.list([el], limit) };
    },
    facts: (all, wanted, each, limit, style) => {
      const told: Facts[] = [];
      let left = limit;
      for (const ref of all) {
        const el = live(ref);
        if (el === null) continue;
        const one = facts.factsOf(el, ref, wanted, Math.min(each, left), style);
        left -= JSON.stringify(one).length;
        if (left < 0) return null;
        told.push(one);
      }
      return told;
    },
    extract: (fields, ref, limit) => {
      const el = ref === 0 ? null : live(ref);
      return ref !== 0 && el === null ? null : extracts.extract(fields, el, limit);
    },
  };
}
