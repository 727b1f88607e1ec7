/// <reference lib="dom" />
import type { Dom } from '../../injected/dom.ts';
import type { Styles } from '../../injected/style.ts';

/** What is done on the way through what is painted. */
export interface PaintedVisitor {
  /** @returns whether to go inside; `leave` follows only then */
  enter(el: Element, tag: string, style: CSSStyleDeclaration): boolean;
  text(value: string): void;
  leave(el: Element): void;
  /** A painted control that has no text of its own. */
  field?(el: HTMLInputElement): void;
}

/**
 * The way through what is painted of an element: slots and shadow roots as they are shown, nothing that is hidden. Without
 * recursion: pages nest thousands deep. Injected by its text.
 */
export function paintedWalk({ dom, styles }: { dom: Dom; styles: Styles }) {
  const { localName, nodeType, nodeValue } = dom;
  /** Never painted, whatever their style says; and what fields hold is not text of the page. */
  const skipped = new Set(
    'base datalist head input link meta noembed noframes noscript object option optgroup param script select source style template textarea title track'.split(
      ' ',
    ),
  );

  interface Open {
    el: Element;
    next: Node | null;
    list: Node[] | null;
    at: number;
    painted: boolean;
  }

  function walk(root: Element, on: PaintedVisitor): void {
    const stack: Open[] = [];
    open(root, on, stack);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const node = nextOf(top);
      if (node === null) {
        stack.pop();
        on.leave(top.el);
      } else if (dom.isElement(node)) open(node, on, stack);
      else if (top.painted && (nodeType(node) === 3 || nodeType(node) === 4)) on.text(nodeValue(node) ?? '');
    }
  }

  function nextOf(top: Open): Node | null {
    if (top.list !== null) return top.list[top.at++] ?? null;
    const node = top.next;
    if (node !== null) top.next = dom.nextSibling(node);
    return node;
  }

  function open(el: Element, on: PaintedVisitor, stack: Open[]): void {
    const tag = localName(el);
    if (skipped.has(tag)) {
      if (el instanceof HTMLInputElement && styles.paints(el) === 2) on.field?.(el);
      return;
    }
    const paint = styles.paints(el);
    if (paint === 0) return;
    const style = getComputedStyle(el);
    if (!on.enter(el, tag, style)) return;
    const list = style.contentVisibility === 'hidden' ? [] : listOf(el, tag);
    const next = list === null ? dom.firstFlat(el) : null;
    const painted = paint === 2 && showsText(el, stack.at(-1));
    stack.push({ el, next, list, at: 0, painted });
  }

  /** SVG draws text within `text` only, and links in it (SVG 2, 11.2). */
  function showsText(el: Element, around: Open | undefined): boolean {
    if (!(el instanceof SVGElement) || el instanceof SVGTextContentElement) return true;
    return (
      el instanceof SVGAElement && around?.painted === true && around.el instanceof SVGTextContentElement
    );
  }

  /** The children, where they are not simply the first one and its siblings. */
  function listOf(el: Element, tag: string): Node[] | null {
    if (tag === 'slot') return dom.slotted(el);
    if (!(el instanceof HTMLDetailsElement) || el.open) return null;
    const summary = dom.firstSummary(el);
    return summary === null ? [] : [summary];
  }

  return { walk };
}

export type PaintedWalk = ReturnType<typeof paintedWalk>;
