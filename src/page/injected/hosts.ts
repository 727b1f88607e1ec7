/// <reference lib="dom" />
import type { Dom } from './dom.ts';

/**
 * Which elements may have a closed shadow root. A script cannot see one, not even in an isolated world, so the service asks
 * CDP about these few and hands over what it finds. To ask about every element would cost a message each; so
 * elements of one kind (the name of a custom element, tag and class of others) answer for each other until one of the
 * kind has a closed root. Injected by its text.
 */
export function hostRules({ dom }: { dom: Dom }) {
  /** The elements that attachShadow accepts besides custom ones (DOM, 4.9). */
  const capable = new Set(
    'article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span'.split(' '),
  );
  const perKind = 2;
  const most = 500;
  const kinds = new Map<string, { asked: number; found: boolean }>();

  function kindOf(el: Element, tag: string): string {
    return tag.includes('-') ? tag : `${tag}.${dom.attr(el, 'class') ?? ''}`;
  }

  /**
   * True if it is worth asking about the element. Whether one of its children is not painted the walk sees by itself.
   */
  function mayHost(el: Element, tag: string): boolean {
    const custom = tag.includes('-');
    if (!custom && !capable.has(tag)) return false;
    if (dom.closedRoots.has(el) || dom.openRoot(el) !== null) return false;
    const kind = kinds.get(kindOf(el, tag));
    if (kind !== undefined && !kind.found && kind.asked >= perKind) return false;
    return custom || paintsNothingOfItsOwn(el);
  }

  /** A child that no slot shows is not in the painted tree, and then it has no style. */
  function unslotted(child: Element): boolean {
    return getComputedStyle(child).display === '';
  }

  /** True for an element that may have a root in which a child of it has no slot. */
  function mayHide(el: Element): boolean {
    return capable.has(dom.localName(el)) && !dom.closedRoots.has(el) && dom.openRoot(el) === null;
  }

  function hidesChild(el: Element): boolean {
    if (!mayHide(el)) return false;
    for (let node = dom.firstChild(el); node !== null; node = dom.nextSibling(node)) {
      if (dom.isElement(node)) return !dom.checkVisibility.call(node) && unslotted(node);
    }
    return false;
  }

  /** Without children it would have no height, unless a style gives it one. */
  function paintsNothingOfItsOwn(el: Element): boolean {
    if (dom.firstChild(el) !== null) return false;
    const { width, height } = dom.getBoundingClientRect.call(el);
    return width > 0 && height > 0;
  }

  /** The elements to ask about now; at most two of a kind of which nothing is known. */
  function list(roots: Iterable<Document | ShadowRoot>): Element[] {
    const out: Element[] = [];
    const counts = new Map<string, number>();
    for (const root of roots) {
      for (const el of dom.all(root, '*')) {
        const tag = dom.localName(el);
        if (!mayHost(el, tag) && !hidesChild(el)) continue;
        const kind = kindOf(el, tag);
        const count = (counts.get(kind) ?? 0) + 1;
        counts.set(kind, count);
        const known = kinds.get(kind);
        if (known?.found === true || count + (known?.asked ?? 0) <= perKind) out.push(el);
        if (out.length >= most) return out;
      }
    }
    return out;
  }

  function adopt(host: Element, root: ShadowRoot | null): void {
    dom.keepClosedRoot(host, root);
    const tag = dom.localName(host);
    const name = kindOf(host, tag);
    const kind = kinds.get(name) ?? { asked: 0, found: false };
    // Before its definition is loaded a custom element says nothing about its kind.
    if (root !== null || dom.matches.call(host, ':defined')) kind.asked++;
    else dom.closedRoots.delete(host);
    kind.found ||= root !== null;
    kinds.set(name, kind);
  }

  return { adopt, list, mayHide, mayHost, unslotted };
}

export type Hosts = ReturnType<typeof hostRules>;
