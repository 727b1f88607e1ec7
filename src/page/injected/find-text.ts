/// <reference lib="dom" />
import type { Dom } from './dom.ts';
import type { Styles } from './style.ts';
import type { TextRules } from './text.ts';

/**
 * Elements by the text that they show. One pass writes the text of the document down, with white space as a reader sees
 * it, and notes where in it each element begins and ends; what is looked for is then looked for once. Injected by its text.
 */
export function textFinder({ dom, styles, text: rules }: { dom: Dom; styles: Styles; text: TextRules }) {
  const silent = new Set('head link meta noscript script style template title'.split(' '));
  const inline = /^(inline|contents|ruby|none)/;

  interface Open {
    el: Element;
    start: number;
    block: boolean;
    painted: boolean;
    children: Node[];
    at: number;
    /** How many elements were found before it was entered. */
    found: number;
  }

  /** Text with white space joined, and a space between blocks. Positions stay true as it grows. */
  function textBuffer() {
    const parts: string[] = [];
    let length = 0;
    let spaced = true;

    function add(piece: string): void {
      const joined = rules.collapse(piece);
      const text = spaced && joined.startsWith(' ') ? joined.slice(1) : joined;
      if (text === '') return;
      parts.push(text);
      length += text.length;
      spaced = text.endsWith(' ');
    }

    return {
      add,
      edge: (): void => {
        if (!spaced) add(' ');
      },
      length: (): number => length,
      all: (): string => parts.join(''),
    };
  }

  interface Placed {
    el: Element;
    start: number;
    end: number;
    /** How many of the elements before it in the list are inside it. */
    inside: number;
  }

  /** Every painted element, inner ones first, with its place in the text. */
  function layOut(): { placed: Placed[]; all: string } {
    const out = textBuffer();
    const placed: Placed[] = [];
    const stack: Open[] = [];
    const root = dom.rootElement(document);
    if (root !== null) enter(root, out, stack, placed);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const node = top.children[top.at++];
      if (node === undefined) {
        stack.pop();
        const end = out.length();
        if (end > top.start)
          placed.push({ el: top.el, start: top.start, end, inside: placed.length - top.found });
        if (top.block) out.edge();
      } else if (dom.isElement(node)) enter(node, out, stack, placed);
      else if (dom.nodeType(node) === 3 && top.painted) out.add(dom.nodeValue(node) ?? '');
    }
    return { placed, all: out.all() };
  }

  function enter(el: Element, out: ReturnType<typeof textBuffer>, stack: Open[], placed: Placed[]): void {
    const tag = dom.localName(el);
    if (silent.has(tag)) return;
    if (tag === 'br') {
      out.edge();
      return;
    }
    const paint = styles.paints(el);
    if (paint === 0) return;
    const block = !inline.test(getComputedStyle(el).display);
    if (block) out.edge();
    const start = out.length();
    const children = closed(el) ?? dom.flatChildren(el);
    if (el instanceof HTMLInputElement && /^(button|submit|reset)$/.test(el.type)) out.add(el.value);
    stack.push({ el, start, block, painted: paint === 2, children, at: 0, found: placed.length });
  }

  /** Of closed details only the summary is painted. */
  function closed(el: Element): Node[] | null {
    if (!(el instanceof HTMLDetailsElement) || el.open) return null;
    const summary = dom.firstSummary(el);
    return summary === null ? [] : [summary];
  }

  /** Where `wanted` is in the text, as positions of its first character in order. */
  function occurrences(all: string, wanted: string): number[] {
    const found: number[] = [];
    for (let at = all.indexOf(wanted); at >= 0; at = all.indexOf(wanted, at + 1)) found.push(at);
    return found;
  }

  /** The first of sorted numbers that is not below `from`. */
  function firstFrom(sorted: readonly number[], from: number): number | undefined {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] ?? 0) < from) low = middle + 1;
      else high = middle;
    }
    return sorted[low];
  }

  /** The same length as before, whatever the language: positions must stay true. */
  function fold(value: string): string {
    const lower = value.toLowerCase();
    if (lower.length === value.length) return lower;
    return Array.from(value, (char) => {
      const one = char.toLowerCase();
      return one.length === char.length ? one : char;
    }).join('');
  }

  /**
   * The smallest elements that show the text: they match and nothing inside them does.
   * @param exact all that the element shows is the text; otherwise it is a part of it, whatever the case
   */
  function byText(text: string, exact: boolean): Element[] {
    const clean = rules.clean(text);
    const { placed, all } = layOut();
    const wanted = exact ? clean : fold(clean);
    const places = exact ? [] : occurrences(fold(all), wanted);
    const matches = ({ start, end }: Placed): boolean => {
      if (exact) return end - start >= wanted.length && all.slice(start, end).trim() === wanted;
      const first = firstFrom(places, start);
      return first !== undefined && first + wanted.length <= end;
    };
    const out: { el: Element; start: number }[] = [];
    /** The index of the last element that matched, or holds one that did. */
    let last = -1;
    placed.forEach((one, index) => {
      if (last >= index - one.inside) last = index;
      else if (matches(one)) {
        out.push(one);
        last = index;
      }
    });
    return out.map(({ el }) => el);
  }

  return { byText };
}

export type TextFinder = ReturnType<typeof textFinder>;
