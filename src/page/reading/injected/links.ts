/// <reference lib="dom" />
import type { Dom } from '../../injected/dom.ts';
import type { Names } from '../../injected/names.ts';
import type { Styles } from '../../injected/style.ts';
import type { TextRules } from '../../injected/text.ts';
import type { TextReader } from './text.ts';
import type { Link } from './types.ts';

/** The links of a document or of an element. Injected by its text. */
export function linkReader({
  dom,
  names,
  styles,
  text: rules,
  texts,
}: {
  dom: Dom;
  names: Names;
  styles: Styles;
  text: TextRules;
  texts: TextReader;
}) {
  const maxText = 1000;

  /** Where it leads, absolute; '' for a script, or for an address that cannot be one. */
  function urlOf(el: Element): string {
    if (el instanceof HTMLAnchorElement || el instanceof HTMLAreaElement) return withoutScript(el.href);
    const href = el instanceof SVGAElement ? el.href.baseVal : '';
    const parsed = href === '' ? null : URL.parse(href, dom.baseOf(el));
    return parsed === null ? '' : withoutScript(parsed.href);
  }

  function withoutScript(url: string): string {
    return /^\s*javascript:/i.test(url) ? '' : url;
  }

  function textOf(el: Element): string {
    const shown = rules.clean(texts.textOf(el, 20_000).text);
    const text = shown === '' ? names.nameOf(el, dom.localName(el), 'link') : shown;
    return rules.cap(text, maxText);
  }

  /**
   * Each URL once, in the order of the document; the first text that is not empty.
   * @param limit characters of all of them; null where there are more
   */
  function list(roots: Iterable<Element | Document | ShadowRoot>, limit: number): Link[] | null {
    const found = new Map<string, Link>();
    let left = limit;
    names.reset();
    for (const root of roots) {
      const inside = root instanceof Element ? dom.within(root, 'a,area') : dom.all(root, 'a,area');
      for (const el of inside) {
        if (!dom.has(el, 'href') && !dom.has(el, 'xlink:href')) continue;
        const url = urlOf(el).toWellFormed();
        if (url === '') continue;
        const known = found.get(url);
        const visible = styles.paints(el) === 2;
        if (known === undefined) {
          const text = textOf(el);
          found.set(url, { url, text, visible });
          left -= url.length + text.length + 50;
          if (left < 0) return null;
        } else {
          known.visible ||= visible;
          if (known.text === '') known.text = textOf(el);
        }
      }
    }
    return [...found.values()];
  }

  return { list };
}

export type LinkReader = ReturnType<typeof linkReader>;
