/// <reference lib="dom" />
/**
 * Reads the DOM in a way that a page cannot bend. A form answers `form.tagName` or `form.parentNode` with an input of that name
 * ([LegacyOverrideBuiltIns] in HTML), and a document does the same for named images; the getters of the prototypes do not.
 * Injected by its text: it may not use anything from outside.
 */
export function domReaders() {
  function getter<T>(proto: object, name: string): (node: Node) => T {
    const get = Object.getOwnPropertyDescriptor(proto, name)?.get;
    if (get === undefined) throw new TypeError(`no getter ${name}`);
    return (node) => get.call(node) as T;
  }
  const elementProto = Element.prototype;
  const docProto = Document.prototype;
  const nodeType = getter<number>(Node.prototype, 'nodeType');
  const firstChild = getter<Node | null>(Node.prototype, 'firstChild');
  const nextSibling = getter<Node | null>(Node.prototype, 'nextSibling');
  const previousElement = getter<Element | null>(elementProto, 'previousElementSibling');
  const parentNode = getter<Node | null>(Node.prototype, 'parentNode');
  const nodeValue = getter<string | null>(Node.prototype, 'nodeValue');
  const isConnected = getter<boolean>(Node.prototype, 'isConnected');
  const localName = getter<string>(elementProto, 'localName');
  const namespaceOf = getter<string | null>(elementProto, 'namespaceURI');
  const openRoot = getter<ShadowRoot | null>(elementProto, 'shadowRoot');
  const activeIn = getter<Element | null>(docProto, 'activeElement');
  const bodyOf = getter<HTMLElement | null>(docProto, 'body');
  const baseOf = getter<string>(Node.prototype, 'baseURI');
  const titleOf = getter<string>(docProto, 'title');
  const rootElement = getter<Element | null>(docProto, 'documentElement');
  const { getAttribute, hasAttribute, hasAttributes, getAttributeNames, matches, closest } = elementProto;
  const { getBoundingClientRect, checkVisibility } = elementProto;
  const docFragmentQuery = DocumentFragment.prototype.querySelectorAll;
  const { getRootNode, compareDocumentPosition: comparePosition } = Node.prototype;
  /** Closed roots that the service handed over; null for a host that was asked for and has none. */
  const closedRoots = new WeakMap<Node, ShadowRoot | null>();

  const attr = (el: Element, name: string): string | null => getAttribute.call(el, name);
  const has = (el: Element, name: string): boolean => hasAttribute.call(el, name);
  const hasAny = (el: Element): boolean => hasAttributes.call(el);
  const isElement = (node: Node): node is Element => nodeType(node) === 1;
  const isHtml = (el: Element): boolean => namespaceOf(el) === 'http://www.w3.org/1999/xhtml';
  const treeRoot = (node: Node): Node => getRootNode.call(node);
  let anyClosed = false;
  const shadowOf = (el: Element): ShadowRoot | null =>
    openRoot(el) ?? (anyClosed ? (closedRoots.get(el) ?? null) : null);

  function keepClosedRoot(host: Element, root: ShadowRoot | null): void {
    closedRoots.set(host, root);
    anyClosed ||= root !== null;
  }

  /** The parent in the tree as it is painted: slots and hosts, not the light tree. */
  function flatParent(node: Node): Element | null {
    const parent = parentNode(node);
    if (parent === null) return null;
    if (nodeType(parent) === 11) return parent instanceof ShadowRoot ? parent.host : null;
    if (nodeType(parent) !== 1) return null;
    const host = parent as Element;
    const root = shadowOf(host);
    if (root === null) return host;
    return slotOf(node, root);
  }

  /** The slot of `root` that shows a child of its host. `assignedSlot` is null for closed roots. */
  function slotOf(node: Node, root: ShadowRoot): Element | null {
    const open = node instanceof Element || node instanceof Text ? node.assignedSlot : null;
    if (open !== null || root.mode === 'open') return open;
    for (const slot of root.querySelectorAll('slot')) {
      if (slot.assignedNodes().includes(node as Element)) return slot;
    }
    return null;
  }

  /** What a slot shows, or null where it shows its own fallback. */
  function slotted(el: Element): Node[] | null {
    if (!(el instanceof HTMLSlotElement)) return null;
    const nodes = el.assignedNodes();
    return nodes.length > 0 ? nodes : null;
  }

  /** First child in the painted tree; go on with `nextSibling`. Not for slots with content. */
  function firstFlat(el: Element): Node | null {
    return firstChild(shadowOf(el) ?? el);
  }

  /** All children in the painted tree. */
  function flatChildren(el: Element): Node[] {
    const assigned = slotted(el);
    if (assigned !== null) return assigned;
    const out: Node[] = [];
    for (let node = firstFlat(el); node !== null; node = nextSibling(node)) out.push(node);
    return out;
  }

  /** The element that has the focus, through shadow roots. */
  function deepFocus(): Element | null {
    let el = activeIn(document);
    for (let root = el === null ? null : shadowOf(el); root !== null; ) {
      const inner: Element | null = root.activeElement;
      if (inner === null) break;
      el = inner;
      root = shadowOf(inner);
    }
    return el === bodyOf(document) ? null : el;
  }

  /** True if `el` is `inner` or one of its ancestors in the painted tree. */
  function holds(el: Element, inner: Node | null): boolean {
    for (let node = inner; node !== null; node = flatParent(node)) if (node === el) return true;
    return false;
  }

  /** Elements by the ids in an attribute, in the tree of `el`, or the elements set by script (ariaLabelledByElements). */
  function referenced(el: Element, name: string, property: string): Element[] {
    const value = attr(el, name);
    if (value === null) return [];
    if (value === '') {
      const set: unknown = Reflect.get(elementProto, property, el);
      return Array.isArray(set) ? set.filter((item): item is Element => item instanceof Element) : [];
    }
    const root = treeRoot(el);
    const out: Element[] = [];
    for (const id of value.split(/\s+/)) {
      if (id === '') continue;
      const found = byId(root, id);
      if (found !== null) out.push(found);
    }
    return out;
  }

  function byId(root: Node, id: string): Element | null {
    if (nodeType(root) === 9) return docProto.getElementById.call(root, id);
    if (root instanceof ShadowRoot) return root.getElementById(id);
    return null;
  }

  /** The summary that opens a details: its first one. */
  function firstSummary(details: Element): Element | null {
    for (let node = firstChild(details); node !== null; node = nextSibling(node)) {
      if (isElement(node) && localName(node) === 'summary' && isHtml(node)) return node;
    }
    return null;
  }

  /** `querySelectorAll` in one tree. */
  function all(root: Document | ShadowRoot, selector: string): NodeListOf<Element> {
    return root instanceof ShadowRoot
      ? root.querySelectorAll(selector)
      : docProto.querySelectorAll.call(root, selector);
  }

  /** `querySelectorAll` below an element, in the shadow roots inside too. */
  function within(el: Element, selector: string): Element[] {
    const out: Element[] = [];
    const queue: (Element | ShadowRoot)[] = [el];
    const own = shadowOf(el);
    if (own !== null) queue.push(own);
    for (let i = 0; i < queue.length; i++) {
      const root = queue[i];
      if (root === undefined) break;
      const query = root instanceof ShadowRoot ? docFragmentQuery : elementProto.querySelectorAll;
      for (const found of query.call(root, selector)) out.push(found);
      for (const host of query.call(root, '*')) {
        const shadow = shadowOf(host);
        if (shadow !== null) queue.push(shadow);
      }
    }
    return out;
  }

  /** The document and every shadow root that is open or was handed over, outer ones first. */
  function roots(): (Document | ShadowRoot)[] {
    const out: (Document | ShadowRoot)[] = [document];
    for (let i = 0; i < out.length; i++) {
      const root = out[i];
      if (root === undefined) break;
      for (const el of all(root, '*')) {
        const shadow = shadowOf(el);
        if (shadow !== null) out.push(shadow);
      }
    }
    return out;
  }

  return {
    all,
    attr,
    baseOf,
    checkVisibility,
    closedRoots,
    closest,
    comparePosition,
    deepFocus,
    docProto,
    firstChild,
    firstFlat,
    firstSummary,
    flatChildren,
    flatParent,
    getAttributeNames,
    getBoundingClientRect,
    has,
    hasAny,
    holds,
    isConnected,
    isElement,
    isHtml,
    keepClosedRoot,
    localName,
    matches,
    nextSibling,
    nodeType,
    nodeValue,
    openRoot,
    parentNode,
    previousElement,
    referenced,
    rootElement,
    roots,
    shadowOf,
    slotted,
    titleOf,
    treeRoot,
    within,
  };
}

export type Dom = ReturnType<typeof domReaders>;
