/// <reference lib="dom" />
import type { Dom } from './dom.ts';
import type { Roles } from './roles.ts';
import type { Styles } from './style.ts';
import type { TextRules } from './text.ts';

interface Traversal {
  /** Elements already used: cyclic aria-labelledby and aria-owns end here. */
  readonly seen: Set<Element>;
  /** Inside aria-labelledby, which is followed once only. */
  readonly referenced: boolean;
  /** The hidden element that aria-labelledby points to: what is hidden with it counts. */
  readonly hidden: boolean;
  /** The name of a tree item does not take in the items below it. */
  readonly item: boolean;
  /** Nesting so far; deeper than `maxDepth` is left to textContent. */
  depth: number;
}

/** Names as AccName 1.2 computes them. Injected by its text. */
export function nameRules({
  dom,
  styles,
  roles,
  text,
}: {
  dom: Dom;
  styles: Styles;
  roles: Roles;
  text: TextRules;
}) {
  const { attr, has, localName, matches } = dom;
  const maxDepth = 300;
  /** Longer is no name any more; it also bounds the work on pages that put everything into one heading. */
  const maxName = 20_000;
  let labels = new WeakMap<Node, Map<Element, Element[]>>();
  let byContent = false;
  /** What aria-labelledby points to is often the same for many; each is read once. */
  let referencedTexts = new Map<Element, string>();
  /** Elements looked at for names in this operation. Nested controls name each other over and over; there is an end to it. */
  let steps = 0;
  const maxSteps = 200_000;

  /** Forget what was read; every operation begins with it. */
  function reset(): void {
    labels = new WeakMap();
    referencedTexts = new Map();
    steps = 0;
  }

  /** `el.labels` searches the tree anew for each control; one pass over the labels of a tree does for all of them. */
  function labelsOf(el: Element): Element[] {
    const root = dom.treeRoot(el);
    let map = labels.get(root);
    if (map === undefined) {
      map = new Map();
      labels.set(root, map);
      for (const label of labelsIn(root)) {
        const control = label.control;
        if (control === null) continue;
        const list = map.get(control);
        if (list === undefined) map.set(control, [label]);
        else list.push(label);
      }
    }
    return map.get(el) ?? [];
  }

  function labelsIn(root: Node): Iterable<HTMLLabelElement> {
    if (root === document)
      return dom.docProto.querySelectorAll.call(document, 'label') as NodeListOf<HTMLLabelElement>;
    return root instanceof ShadowRoot ? root.querySelectorAll('label') : [];
  }

  /** The accessible name; '' for none. */
  function nameOf(el: Element, tag: string, role: string): string {
    byContent = false;
    const own = labelName(el, tag, fresh());
    if (own !== '') return own;
    if (roles.namedByContent.has(role) || (tag === 'summary' && role === 'button')) {
      const content = contentName(el, role === 'treeitem');
      if (content !== '') {
        byContent = true;
        return content;
      }
    }
    return tag === 'img' ? '' : text.clean(attr(el, 'title') ?? '');
  }

  function fresh(): Traversal {
    return { seen: new Set(), referenced: false, hidden: false, item: false, depth: 0 };
  }

  /** By aria-labelledby, aria-label or what HTML says, without content and title. */
  function labelName(el: Element, tag: string, walk: Traversal): string {
    if (has(el, 'aria-labelledby')) {
      const name = referencedName(el, walk);
      if (name !== '') return name;
    }
    const label = attr(el, 'aria-label');
    if (label !== null) {
      const name = text.clean(label);
      if (name !== '') return name;
    }
    return nativeName(el, tag, walk);
  }

  function referencedName(el: Element, walk: Traversal): string {
    const parts: string[] = [];
    for (const target of dom.referenced(el, 'aria-labelledby', 'ariaLabelledByElements')) {
      const part = referencedTexts.get(target) ?? referencedText(target, walk.depth);
      referencedTexts.set(target, part);
      if (part !== '') parts.push(part);
    }
    return parts.join(' ');
  }

  function referencedText(target: Element, depth: number): string {
    const hidden = styles.paints(target) !== 2;
    const inner: Traversal = { seen: new Set(), referenced: true, hidden, item: false, depth: depth + 1 };
    return text.clean(textOf(target, inner, true));
  }

  function nativeName(el: Element, tag: string, walk: Traversal): string {
    switch (tag) {
      case 'input':
        return inputName(el as HTMLInputElement, walk);
      case 'textarea':
      case 'select':
      case 'button':
      case 'meter':
      case 'progress':
      case 'output': {
        const name = byLabels(el, walk);
        if (name !== '' || tag !== 'textarea') return name;
        return text.clean(attr(el, 'title') || (attr(el, 'placeholder') ?? ''));
      }
      case 'img':
      case 'area':
        return text.clean(attr(el, 'alt') ?? attr(el, 'title') ?? '');
      case 'fieldset':
        return byChild(el, 'legend', walk);
      case 'table':
        return byChild(el, 'caption', walk) || text.clean(attr(el, 'summary') ?? '');
      case 'svg':
        return byChild(el, 'title', walk);
      case 'optgroup':
        return text.clean(attr(el, 'label') ?? '');
      case 'option':
        return text.clean((el as HTMLOptionElement).label);
      case 'iframe':
        return text.clean(attr(el, 'title') || (attr(el, 'name') ?? ''));
    }
    return '';
  }

  function inputName(el: HTMLInputElement, walk: Traversal): string {
    const type = el.type;
    if (type === 'submit' || type === 'reset' || type === 'button') {
      const name = byLabels(el, walk) || text.clean(el.value);
      if (name !== '' || type === 'button') return name;
      return text.clean(attr(el, 'title') ?? '') || (type === 'submit' ? 'Submit' : 'Reset');
    }
    if (type === 'image') {
      return (
        byLabels(el, walk) ||
        text.clean(attr(el, 'alt') || attr(el, 'title') || attr(el, 'value') || 'Submit')
      );
    }
    const name = byLabels(el, walk);
    if (name !== '') return name;
    if (type === 'file')
      return text.clean(attr(el, 'title') ?? '') || (el.multiple ? 'Choose Files' : 'Choose File');
    return text.clean(attr(el, 'title') || attr(el, 'placeholder') || (attr(el, 'aria-placeholder') ?? ''));
  }

  function byLabels(el: Element, walk: Traversal): string {
    if (walk.seen.has(el)) return '';
    const parts: string[] = [];
    for (const label of labelsOf(el)) {
      const part = labelText(label, el, walk);
      if (part !== '') parts.push(part);
    }
    return parts.join(' ');
  }

  /** What a label says of its control; the control itself, where it is inside, says nothing. */
  function labelText(label: Element, control: Element, walk: Traversal = fresh()): string {
    const seen = new Set(walk.seen).add(control);
    const inner: Traversal = { seen, referenced: true, hidden: false, item: false, depth: walk.depth + 1 };
    return text.clean(textOf(label, inner, true));
  }

  function byChild(el: Element, tag: string, walk: Traversal): string {
    for (let node = dom.firstChild(el); node !== null; node = dom.nextSibling(node)) {
      if (dom.isElement(node) && localName(node) === tag) {
        if (tag === 'title') return text.clean(node.textContent ?? '');
        return text.clean(textOf(node, { ...walk, depth: walk.depth + 1 }, true));
      }
    }
    return '';
  }

  /** Name from content. The common case, one text node and nothing else, needs no traversal. */
  function contentName(el: Element, item = false): string {
    return text.clean(inside(el, { ...fresh(), item }));
  }

  /** What is inside an element: its pseudo elements, children and owned elements. */
  function inside(el: Element, walk: Traversal): string {
    if (walk.depth > maxDepth || ++steps > maxSteps) return (el.textContent ?? '').slice(0, maxName);
    walk.seen.add(el);
    let out = styles.pseudo(el, '::before');
    const assigned = dom.slotted(el);
    if (assigned !== null) {
      for (const node of assigned) out += piece(node, walk);
    } else {
      for (let node = dom.firstFlat(el); node !== null; node = dom.nextSibling(node)) {
        out += piece(node, walk);
        if (out.length > maxName) break;
      }
    }
    for (const owned of dom.referenced(el, 'aria-owns', 'ariaOwnsElements')) out += ` ${piece(owned, walk)} `;
    return out + styles.pseudo(el, '::after');
  }

  function piece(node: Node, walk: Traversal): string {
    const type = dom.nodeType(node);
    if (type === 3) return (dom.nodeValue(node) ?? '').slice(0, maxName);
    if (type !== 1) return '';
    const el = node as Element;
    if (walk.seen.has(el)) return '';
    walk.depth++;
    const part = textOf(el, walk, false);
    walk.depth--;
    return part;
  }

  const silent = new Set([
    'script',
    'style',
    'template',
    'noscript',
    'head',
    'datalist',
    'meta',
    'link',
    'title',
  ]);

  /** The text that an element gives to the name of another. */
  function textOf(el: Element, walk: Traversal, top: boolean): string {
    const tag = localName(el);
    if (silent.has(tag)) return '';
    if (tag === 'br') return ' ';
    let paint: 0 | 1 | 2 = 2;
    if (!top || !walk.hidden) {
      if (!top && attr(el, 'aria-hidden') === 'true') return '';
      paint = walk.hidden ? 2 : styles.paints(el);
      if (paint === 0) return '';
    }
    if (walk.item && /^(group|treeitem)$/.test(attr(el, 'role') ?? '')) return '';
    if (!top) {
      const embedded = embeddedValue(el, tag);
      if (embedded !== null) return ` ${embedded} `;
    }
    const own = ownText(el, tag, walk, top);
    const out =
      own !== '' ? own : paint === 1 ? hiddenInside(el, walk) : inside(el, walk) || tooltip(el, tag);
    return walk.hidden || styles.isBlock(el) ? ` ${out} ` : out;
  }

  /** A title counts for an element that has a role of its own. */
  function tooltip(el: Element, tag: string): string {
    const title = attr(el, 'title');
    return title === null || title === '' || roles.roleOf(el, tag) === '' ? '' : title;
  }

  /** `visibility: hidden`: its own text does not count, visible elements inside do. */
  function hiddenInside(el: Element, walk: Traversal): string {
    let out = '';
    walk.seen.add(el);
    for (const node of dom.flatChildren(el)) if (dom.isElement(node)) out += piece(node, walk);
    return out;
  }

  function ownText(el: Element, tag: string, walk: Traversal, top: boolean): string {
    if (has(el, 'aria-labelledby') && !walk.referenced) {
      const name = referencedName(el, walk);
      if (name !== '') return name;
    }
    const label = text.clean(attr(el, 'aria-label') ?? '');
    if (label !== '') return label;
    if (tag === 'fieldset' || tag === 'table' || tag === 'button') return '';
    if (top && tag === 'output') return '';
    return nativeName(el, tag, walk);
  }

  /** A control inside a label speaks by its value (AccName 2C). */
  function embeddedValue(el: Element, tag: string): string | null {
    const role = attr(el, 'role') ?? '';
    if (tag === 'select')
      return Array.from((el as HTMLSelectElement).selectedOptions, (o) => o.label).join(' ');
    if (tag === 'textarea') return (el as HTMLTextAreaElement).value;
    if (tag === 'input') {
      const { type, value } = el as HTMLInputElement;
      if (/^(checkbox|radio|button|submit|reset|image|file|hidden|password)$/.test(type))
        return type === 'password' ? '' : null;
      return value;
    }
    if (/^(slider|spinbutton|scrollbar|progressbar|meter)$/.test(role)) {
      return attr(el, 'aria-valuetext') ?? attr(el, 'aria-valuenow') ?? '';
    }
    if (role === 'textbox' || role === 'searchbox') return el.textContent ?? '';
    return null;
  }

  /** What a person would call the label of a field: aria-labelledby, aria-label and each label element. */
  function labelTexts(el: Element): string[] {
    const out: string[] = [];
    if (has(el, 'aria-labelledby')) out.push(referencedName(el, fresh()));
    const label = text.clean(attr(el, 'aria-label') ?? '');
    if (label !== '') out.push(label);
    for (const one of labelsOf(el)) out.push(labelText(one, el));
    return out.filter((one) => one !== '');
  }

  /** True if a label gives the control its name, so that the text of the label need not be printed again. */
  function labelled(label: Element, control: Element): boolean {
    if (has(control, 'aria-labelledby')) {
      return dom.referenced(control, 'aria-labelledby', 'ariaLabelledByElements').includes(label);
    }
    return (
      text.clean(attr(control, 'aria-label') ?? '') === '' &&
      !matches.call(control, 'button,input[type=image]')
    );
  }

  return {
    contentName,
    fromContent: () => byContent,
    labelText,
    labelTexts,
    labelled,
    labelsOf,
    nameOf,
    reset,
  };
}

export type Names = ReturnType<typeof nameRules>;
