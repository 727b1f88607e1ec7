/// <reference lib="dom" />
import type { Dom } from '../../injected/dom.ts';
import type { Refs } from '../../injected/refs.ts';
import type { States } from '../../injected/states.ts';
import type { TextRules } from '../../injected/text.ts';
import type { PaintedWalk } from './painted.ts';
import type { Pieces } from './pieces.ts';

/**
 * What is painted, as HTML of a few elements that is well-formed, closed and not nested without end: what becomes
 * Markdown outside the page. Injected by its text.
 */
export function cleanReader({
  dom,
  states,
  refs,
  text: rules,
  painted,
}: {
  dom: Dom;
  states: States;
  refs: Refs;
  text: TextRules;
  painted: PaintedWalk;
}) {
  const { attr } = dom;
  const kept = new Set(
    'a abbr address article aside b blockquote caption cite code dd del details dfn div dl dt em figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr i ins kbd li main mark nav ol p q s samp section small span strike strong sub summary sup time u ul var'.split(
      ' ',
    ),
  );
  const tableParts = /^(table|caption|thead|tbody|tfoot|tr|td|th)$/;
  /** In the cell of a table, and in a link, there is one line. */
  const oneLine = /^(p|div|ul|ol|li|dl|dt|dd|h[1-6]|blockquote|pre|section|article|header|footer|figure|hr)$/;
  /** Deeper than this only the text is kept: what reads it outside goes down by recursion. */
  const maxDepth = 120;
  const maxUrl = 4000;

  interface Open {
    tag: string;
    /** Printed around it, beyond what the tag says. */
    after: string;
    inPre: boolean;
    inCell: boolean;
    inTable: boolean;
    inLink: boolean;
    depth: number;
  }

  function quoted(value: string): string {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are no characters of XML
    const plain = value.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '');
    return plain.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
  }

  function attributes(el: Element, tag: string, hints: boolean): string {
    let out = '';
    const add = (name: string, value: string | null): void => {
      if (value !== null && value !== '') out += ` ${name}="${quoted(rules.collapse(value))}"`;
    };
    if (hints) {
      add('id', (attr(el, 'id') ?? '').slice(0, 200));
      add('class', (attr(el, 'class') ?? '').slice(0, 200));
      for (const name of ['rel', 'itemprop', 'role']) add(name, (attr(el, name) ?? '').slice(0, 200));
    }
    if (tag === 'a') {
      add('href', target(el));
      add('title', attr(el, 'title'));
    } else if (tag === 'ol' && el instanceof HTMLOListElement && el.start !== 1) {
      add('start', String(el.start));
    }
    return out;
  }

  /** Where a link leads, '' for what is none: a script, or an address that no one wants to read. */
  function target(el: Element): string {
    if (!(el instanceof HTMLAnchorElement) || !dom.has(el, 'href')) return '';
    const { href } = el;
    return /^(javascript|data|blob|vbscript):/i.test(href) || href.length > maxUrl ? '' : href;
  }

  function image(el: HTMLImageElement): string {
    const alt = attr(el, 'alt') ?? '';
    const { src } = el;
    if (src === '' || /^(data|blob):/i.test(src) || src.length > maxUrl) return quoted(rules.collapse(alt));
    return `<img src="${quoted(src)}" alt="${quoted(rules.collapse(alt))}"/>`;
  }

  /** Used to lay out, not to tabulate. */
  function isLayout(el: Element): boolean {
    return /^(presentation|none)$/.test(attr(el, 'role') ?? '');
  }

  /** The first row names the columns, in Markdown. */
  function isFirstRow(row: Element): boolean {
    const table = dom.closest.call(row, 'table');
    return table instanceof HTMLTableElement && table.rows.item(0) === row;
  }

  function language(el: Element): string {
    const code = Element.prototype.querySelector.call(el, 'code');
    const named = /\blang(?:uage)?-([\w+#.-]{1,30})/;
    return named.exec(attr(code ?? el, 'class') ?? '')?.[1] ?? named.exec(attr(el, 'class') ?? '')?.[1] ?? '';
  }

  /** What an element is printed as; '' where only its content is. */
  function tagOf(el: Element, tag: string, style: CSSStyleDeclaration, up: Open): string {
    if (up.inPre || up.depth >= maxDepth) return '';
    if ((up.inCell || up.inLink) && (oneLine.test(tag) || tableParts.test(tag))) return '';
    if (tag === 'a') return up.inLink || target(el) === '' ? '' : 'a';
    if (tag === 'table') return isLayout(el) || style.display !== 'table' ? 'div' : 'table';
    if (tableParts.test(tag)) return tablePart(el, tag, up.inTable);
    if (kept.has(tag)) return tag;
    return /^(inline|contents|ruby)/.test(style.display) ? '' : 'div';
  }

  function tablePart(el: Element, tag: string, inTable: boolean): string {
    if (/^(thead|tbody|tfoot)$/.test(tag)) return '';
    if (!inTable || tag === 'caption') return 'div';
    if (tag === 'tr') return tag;
    const row = dom.parentNode(el);
    return row !== null && dom.isElement(row) && isFirstRow(row) ? 'th' : 'td';
  }

  function read(root: Element, out: Pieces, hints: boolean): void {
    const open: Open[] = [];
    const outer: Open = {
      tag: '',
      after: '',
      inPre: false,
      inCell: false,
      inTable: false,
      inLink: false,
      depth: 0,
    };
    painted.walk(root, {
      enter: (el, tag, style) => {
        if (out.isOver()) return false;
        const up = open.at(-1) ?? outer;
        if (leaf(el, tag, up, out)) return false;
        if (tag === 'pre' && !up.inPre && !up.inCell) {
          const lang = language(el);
          out.add(`<pre><code${lang === '' ? '' : ` class="language-${quoted(lang)}"`}>`);
          open.push({ ...up, tag: '', after: '</code></pre>', inPre: true });
          return true;
        }
        const printed = tagOf(el, tag, style, up);
        // What stands side by side is not one word.
        const apart =
          printed === '' &&
          !up.inPre &&
          (!up.inTable || up.inCell) &&
          !/^(inline|contents|ruby)$/.test(style.display);
        if (apart) out.add(' ');
        if (printed !== '') out.add(`<${printed}${attributes(el, printed, hints)}>`);
        open.push({
          tag: printed,
          after: apart ? ' ' : '',
          inPre: up.inPre,
          inCell: up.inCell || printed === 'td' || printed === 'th',
          inTable: printed === 'table' || (up.inTable && tag !== 'table'),
          inLink: up.inLink || printed === 'a',
          depth: printed === '' ? up.depth : up.depth + 1,
        });
        return true;
      },
      field: (el) => {
        const { tag, inPre } = open.at(-1) ?? outer;
        if (tag !== 'li' || inPre || el.type !== 'checkbox') return;
        out.add(`<input type="checkbox"${el.checked ? ' checked=""' : ''}/>`);
      },
      text: (value) => {
        const { inPre, inTable, inCell } = open.at(-1) ?? outer;
        // Between the cells there is nothing.
        if (inTable && !inCell) return;
        out.add(quoted(inPre ? rules.preserve(value) : rules.collapse(value)));
      },
      leave: () => {
        const top = open.pop() ?? outer;
        out.add(top.tag === '' ? top.after : `</${top.tag}>`);
      },
    });
  }

  /** Elements that are printed whole. */
  function leaf(el: Element, tag: string, up: Open, out: Pieces): boolean {
    if (states.isSecret(el)) out.add('[redacted]');
    else if (tag === 'br') out.add(up.inPre ? '\n' : up.inCell ? ' ' : '<br/>');
    else if (tag === 'hr') out.add(up.inPre || up.inCell ? ' ' : '<hr/>');
    else if (tag === 'img') out.add(el instanceof HTMLImageElement ? image(el) : '');
    else if (tag === 'iframe' || tag === 'frame') {
      if (!up.inCell) out.addFrame(refs.give(el));
    } else return /^(audio|canvas|svg|video|progress|meter)$/.test(tag);
    return true;
  }

  return { read };
}

export type CleanReader = ReturnType<typeof cleanReader>;
