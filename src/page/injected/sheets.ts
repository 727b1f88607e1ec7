/// <reference lib="dom" />
import type { Dom } from './dom.ts';

/** What the rules of one style sheet can do, told by selectors without pseudo elements. */
interface SheetFacts {
  /** The rules that were read: the same objects, the same facts. */
  readonly rules: CSSRule[];
  /** Can set the hand cursor. */
  readonly pointer: string[];
  /** Can put text before or after. */
  readonly pseudo: string[];
  /** Can make a box that scrolls, or hide its content. */
  readonly boxes: string[];
  /** `::part` reaches into shadow trees. */
  part: boolean;
}

interface TreeFacts {
  readonly pointer: Set<Element>;
  readonly pseudo: Set<Element>;
  readonly boxes: Set<Element>;
  /** A sheet cannot be read (another origin) or a selector not be used: every element has to be asked. */
  readonly opaque: boolean;
}

type FactKind = 'pointer' | 'pseudo' | 'boxes';

/**
 * Which elements of a tree can have a hand cursor or generated text at all. A style object for each element costs more than
 * everything else in the walk; the sheets say in one query for each tree that most elements need none. Always too
 * many, never too few: who is in a set is then asked for its computed style. Injected by its text.
 */
export function sheetReaders({ dom }: { dom: Dom }) {
  const sheets = new WeakMap<CSSStyleSheet, SheetFacts>();
  /** Rules to read that one element is worth: below this, asking each element is cheaper than reading the sheets. */
  const rulesPerElement = 4;
  let trees: Map<Node, TreeFacts> | null = null;
  let elements = 0;
  let page: TreeFacts | null = null;
  let partsReach = false;
  const opaque: TreeFacts = { pointer: new Set(), pseudo: new Set(), boxes: new Set(), opaque: true };

  /** From here to `end`, sheets are read once; outside, every element is asked. */
  function begin(): void {
    trees = new Map();
    partsReach = false;
    page = null;
    elements = dom.docProto.getElementsByTagName.call(document, '*').length;
    page = treeFacts(document);
  }

  function end(): void {
    trees = null;
  }

  function factsFor(el: Element): TreeFacts {
    if (trees === null) return opaque;
    // Hosts are met before what is inside them, so as long as one tree is known this is the document's.
    if (trees.size === 1 && page !== null && dom.shadowOf(el) === null) return page;
    const shadow = dom.shadowOf(el);
    if (shadow !== null) treeFacts(shadow);
    return treeFacts(dom.treeRoot(el));
  }

  function treeFacts(root: Node): TreeFacts {
    const known = trees?.get(root);
    if (known !== undefined) return known;
    const facts =
      root === document || root instanceof ShadowRoot ? readTree(root as Document | ShadowRoot) : opaque;
    trees?.set(root, facts);
    return facts;
  }

  function readTree(root: Document | ShadowRoot): TreeFacts {
    const reached = root instanceof ShadowRoot && partsReach;
    const pointer: string[] = [];
    const pseudo: string[] = ['q'];
    const boxes: string[] = ['[hidden]'];
    for (const sheet of [...root.styleSheets, ...root.adoptedStyleSheets]) {
      if (sheet.disabled) continue;
      const facts = sheetFacts(sheet);
      if (facts === null) return opaque;
      partsReach ||= facts.part;
      for (const selector of facts.pointer) pointer.push(selector);
      for (const selector of facts.pseudo) pseudo.push(selector);
      for (const selector of facts.boxes) boxes.push(selector);
    }
    try {
      return {
        pointer: matching(root, pointer, 'pointer'),
        pseudo: matching(root, pseudo, 'pseudo'),
        boxes: matching(root, boxes, 'boxes'),
        opaque: reached,
      };
    } catch (error) {
      if (error instanceof DOMException) return opaque;
      throw error;
    }
  }

  /** The elements that selectors match. `:host` and `::slotted` are about the tree outside: those go into its set. */
  function matching(root: Document | ShadowRoot, selectors: string[], kind: FactKind): Set<Element> {
    const own: string[] = [];
    for (const selector of selectors) {
      if (!/:host|::slotted/.test(selector)) own.push(selector);
      else {
        if (root instanceof ShadowRoot) reachOut(root.host, selector, kind);
        // `:host(.on) button` is about an element inside; which one matters little.
        if (/:host.*[\s>+~]/.test(selector)) own.push('*');
      }
    }
    const out = new Set<Element>();
    if (own.length > 0) for (const el of dom.all(root, own.join(','))) out.add(el);
    return out;
  }

  function reachOut(host: Element, selector: string, kind: FactKind): void {
    const set = treeFacts(dom.treeRoot(host))[kind];
    set.add(host);
    if (!selector.includes('::slotted')) return;
    for (let node = dom.firstChild(host); node !== null; node = dom.nextSibling(node)) {
      if (dom.isElement(node)) set.add(node);
    }
  }

  function sheetFacts(sheet: CSSStyleSheet): SheetFacts | null {
    const list = rulesOf(sheet);
    if (list === null) return null;
    const known = sheets.get(sheet);
    if (known !== undefined && sameRules(known.rules, list)) return known;
    if (list.length > elements * rulesPerElement + 200) return null;
    const facts: SheetFacts = { rules: [...list], pointer: [], pseudo: [], boxes: [], part: false };
    if (!readRules(list, '', facts)) return null;
    sheets.set(sheet, facts);
    return facts;
  }

  /** Null for a sheet of another origin. */
  function rulesOf(sheet: CSSStyleSheet): CSSRuleList | null {
    try {
      return sheet.cssRules;
    } catch (error) {
      if (error instanceof DOMException) return null;
      throw error;
    }
  }

  function sameRules(known: CSSRule[], list: CSSRuleList): boolean {
    if (known.length !== list.length) return false;
    for (let i = 0; i < known.length; i++) if (known[i] !== list[i]) return false;
    return true;
  }

  /** False if an imported sheet cannot be read. Conditions (media, supports, container) are taken as met. */
  function readRules(list: CSSRuleList, parent: string, facts: SheetFacts): boolean {
    for (const rule of list) {
      if (rule instanceof CSSStyleRule) {
        readRule(rule, parent, facts);
        if (rule.cssRules.length > 0 && !readRules(rule.cssRules, nested(rule.selectorText, parent), facts))
          return false;
      } else if (rule instanceof CSSImportRule) {
        const inner = rule.styleSheet === null ? null : rulesOf(rule.styleSheet);
        if (rule.styleSheet !== null && inner === null) return false;
        if (inner !== null && !readRules(inner, parent, facts)) return false;
      } else if (rule instanceof CSSNestedDeclarations) {
        readDeclarations(rule.style, parent, facts);
      } else if (rule instanceof CSSScopeRule || rule instanceof CSSKeyframesRule) {
        if (/cursor|content|overflow/.test(rule.cssText)) return false;
      } else if (rule instanceof CSSGroupingRule && !readRules(rule.cssRules, parent, facts)) return false;
    }
    return true;
  }

  function readRule(rule: CSSStyleRule, parent: string, facts: SheetFacts): void {
    readDeclarations(rule.style, null, facts, () => nested(rule.selectorText, parent));
  }

  function readDeclarations(
    style: CSSStyleDeclaration,
    selector: string | null,
    facts: SheetFacts,
    selectorOf: () => string = () => selector ?? '*',
  ): void {
    const cursor = style.cursor;
    if (cursor !== '' && /pointer|var\(|url\(/.test(cursor))
      addSelectors(selectorOf(), facts, facts.pointer, false);
    if (
      /auto|scroll|var\(/.test(style.overflow + style.overflowX + style.overflowY) ||
      style.contentVisibility !== '' ||
      style.getPropertyValue('interactivity') !== ''
    ) {
      addSelectors(selectorOf(), facts, facts.boxes, false);
    }
    const content = style.content;
    if (content !== '' && !/^(none|normal|""|'')$/.test(content))
      addSelectors(selectorOf(), facts, facts.pseudo, true);
  }

  /** Takes the pseudo elements for generated text off, and leaves out selectors about parts that are no elements. */
  function addSelectors(text: string, facts: SheetFacts, into: string[], generated: boolean): void {
    facts.part ||= text.includes('::part');
    for (const one of text.includes(',') ? splitList(text) : [text]) {
      const plain = one.replace(/::?(before|after)(?![\w-])/g, ':is(*)');
      if (generated && plain === one) continue;
      if (!plain.replace(/::slotted/g, '').includes('::')) into.push(plain);
    }
  }

  /** Splits a selector list at its outer commas. */
  function splitList(text: string): string[] {
    const out: string[] = [];
    let nesting = 0;
    let start = 0;
    for (let i = 0; i < text.length; i++) {
      const char = text[i];
      if (char === '\\') i++;
      else if (char === '(' || char === '[') nesting++;
      else if (char === ')' || char === ']') nesting--;
      else if (char === ',' && nesting === 0) {
        out.push(text.slice(start, i));
        start = i + 1;
      }
    }
    out.push(text.slice(start));
    return out;
  }

  function nested(selector: string, parent: string): string {
    if (parent === '') return selector;
    const above = `:is(${parent.replace(/::?[\w-]+(\([^()]*\))?$/, '')})`;
    return selector.includes('&') ? selector.replaceAll('&', above) : `${above} :is(${selector})`;
  }

  return {
    begin,
    end,
    mayGenerate: (el: Element): boolean => {
      const facts = factsFor(el);
      return facts.opaque || facts.pseudo.has(el);
    },
    mayBox: (el: Element): boolean => {
      const facts = factsFor(el);
      return facts.opaque || facts.boxes.has(el);
    },
    mayPoint: (el: Element): boolean => {
      const facts = factsFor(el);
      return facts.opaque || facts.pointer.has(el);
    },
  };
}

export type Sheets = ReturnType<typeof sheetReaders>;
