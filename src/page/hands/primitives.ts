/// <reference lib="dom" />

/**
 * The parts of the DOM that acting needs, taken from the prototypes: a form answers `form.focus` with an input of that
 * name ([LegacyOverrideBuiltIns] in HTML), the prototypes do not. Injected by its text: it may not use anything from
 * outside.
 */
export function primitives() {
  function getter<T>(proto: object, name: string): (node: Node) => T {
    const get = Object.getOwnPropertyDescriptor(proto, name)?.get;
    if (get === undefined) throw new TypeError(`no getter ${name}`);
    return (node) => get.call(node) as T;
  }
  const elementProto = Element.prototype;
  const isConnected = getter<boolean>(Node.prototype, 'isConnected');
  const parentNode = getter<Node | null>(Node.prototype, 'parentNode');
  const nodeType = getter<number>(Node.prototype, 'nodeType');
  const localName = getter<string>(elementProto, 'localName');
  const shadowRoot = getter<ShadowRoot | null>(elementProto, 'shadowRoot');
  const activeIn = getter<Element | null>(Document.prototype, 'activeElement');
  const { getRootNode } = Node.prototype;
  const { getAttribute, hasAttribute, matches, closest, getClientRects, scrollIntoView } = elementProto;
  const { getBoundingClientRect, checkVisibility, querySelectorAll } = elementProto;
  const { focus, blur } = HTMLElement.prototype;
  const elementFromPoint = Document.prototype.elementFromPoint;
  const allInDocument = Document.prototype.querySelectorAll;

  const attr = (el: Element, name: string): string | null => getAttribute.call(el, name);
  const has = (el: Element, name: string): boolean => hasAttribute.call(el, name);
  const is = (el: Element, selector: string): boolean => matches.call(el, selector);
  const near = (el: Element, selector: string): Element | null => closest.call(el, selector);
  const within = (el: Element, selector: string): Element[] => [...querySelectorAll.call(el, selector)];
  /** Of the document itself, without its shadow roots. */
  const inDocument = (selector: string): NodeListOf<Element> => allInDocument.call(document, selector);
  const allIn = (root: Document | ShadowRoot): NodeListOf<Element> =>
    root instanceof ShadowRoot ? root.querySelectorAll('*') : allInDocument.call(root, '*');
  const rectOf = (el: Element): DOMRect => getBoundingClientRect.call(el);
  const rootOf = (node: Node): Node => getRootNode.call(node);
  const styleOf = (el: Element): CSSStyleDeclaration => getComputedStyle(el);

  /** From the document down to the root that holds the node: the node's own shadow roots, closed ones too. */
  function roots(node: Node): (Document | ShadowRoot)[] {
    const out: (Document | ShadowRoot)[] = [];
    for (let root = rootOf(node); ; ) {
      if (root instanceof ShadowRoot) {
        out.unshift(root);
        root = rootOf(root.host);
        continue;
      }
      if (root instanceof Document) out.unshift(root);
      return out;
    }
  }

  /** The slot that shows a child of a host; for a closed root only if the root is one of `known`. */
  function slotOf(el: Element, known: readonly Node[]): Element | null {
    if (el.assignedSlot !== null) return el.assignedSlot;
    const parent = parentNode(el);
    for (const root of known) {
      if (!(root instanceof ShadowRoot) || root.host !== parent) continue;
      for (const slot of root.querySelectorAll('slot')) {
        if (slot.assignedElements({ flatten: true }).includes(el)) return slot;
      }
    }
    return null;
  }

  /** The parent in the tree as it is painted: slots and hosts, not the light tree. */
  function flatParent(el: Element, known: readonly Node[]): Element | null {
    const slot = slotOf(el, known);
    if (slot !== null) return slot;
    const parent = parentNode(el);
    if (parent === null) return null;
    if (parent instanceof ShadowRoot) return parent.host;
    return nodeType(parent) === 1 ? (parent as Element) : null;
  }

  /** The element that has the focus, as seen from the tree of `node`. */
  function focused(node: Node): Element | null {
    let el = activeIn(document);
    for (const root of roots(node)) {
      if (root instanceof ShadowRoot && el === root.host) el = root.activeElement;
    }
    while (el !== null) {
      const inner: Element | null = shadowRoot(el)?.activeElement ?? null;
      if (inner === null) return el;
      el = inner;
    }
    return el;
  }

  /** Next frame. A page that draws none (hidden, throttled, starved) does not hold us for longer than `ms`: false. */
  function frame(ms = 250): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), Math.min(250, ms));
      requestAnimationFrame(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  /** Lets tasks that are queued now run first. */
  function task(): Promise<void> {
    return new Promise((resolve) => {
      setTimeout(resolve);
    });
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      setTimeout(resolve, ms);
    });
  }

  return {
    allIn,
    attr,
    blur,
    checkVisibility,
    elementFromPoint,
    flatParent,
    focus,
    focused,
    frame,
    getClientRects,
    has,
    inDocument,
    is,
    isConnected,
    localName,
    near,
    pause,
    rectOf,
    rootOf,
    roots,
    scrollIntoView,
    shadowRoot,
    styleOf,
    task,
    within,
  };
}

export type Primitives = ReturnType<typeof primitives>;
