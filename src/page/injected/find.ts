/// <reference lib="dom" />
import type { Dom } from './dom.ts';
import type { TextFinder } from './find-text.ts';
import type { Names } from './names.ts';
import type { Printer } from './printer.ts';
import type { Roles } from './roles.ts';
import type { Styles } from './style.ts';
import type { TextRules } from './text.ts';
import type { QueryError, QueryTarget } from './types.ts';

type Found = Element[] | QueryError;

/** The forms of a target, each to all elements that match it, in document order. Injected by its text. */
export function finders({
  dom,
  styles,
  roles,
  names,
  text,
  printer,
  findText,
}: {
  dom: Dom;
  styles: Styles;
  roles: Roles;
  names: Names;
  text: TextRules;
  printer: Printer;
  findText: TextFinder;
}) {
  const { attr, localName, matches } = dom;
  const silent = new Set('script style template noscript head title'.split(' '));

  function everywhere(selector: string): Element[] {
    const out: Element[] = [];
    for (const root of dom.roots()) for (const el of dom.all(root, selector)) out.push(el);
    return out;
  }

  function syntax(error: unknown): QueryError {
    const message = error instanceof Error ? error.message : String(error);
    return { kind: 'syntax', message: message.replace(/^Failed to execute '\w+' on '\w+': /, '') };
  }

  /** CSS. In each tree by itself first; a selector like `x-menu button` may also cross from a host into its root. */
  function bySelector(selector: string): Found {
    try {
      const found = everywhere(selector);
      return found.length > 0 ? found : across(selector);
    } catch (error) {
      return syntax(error);
    }
  }

  /** Splits at descendant combinators and looks for the earlier parts above the host as well. */
  function across(selector: string): Element[] {
    const steps = descendantSteps(selector);
    const last = steps.pop();
    if (last === undefined || steps.length === 0) return [];
    return everywhere(last).filter((el) => {
      let left = steps.length - 1;
      for (let up = composedParent(el); up !== null && left >= 0; up = composedParent(up)) {
        if (matches.call(up, steps[left] ?? '')) left--;
      }
      return left < 0;
    });
  }

  function composedParent(el: Element): Element | null {
    const parent = dom.parentNode(el);
    if (parent instanceof ShadowRoot) return parent.host;
    return parent !== null && dom.isElement(parent) ? parent : null;
  }

  /** `a > b c` is [`a > b`, `c`]. [] for what has commas or cannot be split safely. */
  function descendantSteps(selector: string): string[] {
    const steps: string[] = [];
    let step = '';
    let nested = 0;
    for (const char of selector
      .trim()
      .replace(/\s*([>+~])\s*/g, '$1')
      .replace(/\s+/g, ' ')) {
      if (char === '"' || char === "'" || char === ',') return [];
      if (char === '(' || char === '[') nested++;
      else if (char === ')' || char === ']') nested--;
      if (char === ' ' && nested === 0) {
        steps.push(step);
        step = '';
      } else step += char;
    }
    steps.push(step);
    return steps;
  }

  function byXPath(xpath: string): Found {
    try {
      const result = dom.docProto.evaluate.call(document, xpath, document, null, XPathResult.ANY_TYPE, null);
      if (result.resultType < XPathResult.UNORDERED_NODE_ITERATOR_TYPE) {
        return { kind: 'syntax', message: `the XPath ${xpath} gives a value, not elements` };
      }
      const out = new Set<Element>();
      for (let node = result.iterateNext(); node !== null; node = result.iterateNext()) {
        const el =
          node instanceof Attr ? node.ownerElement : dom.isElement(node) ? node : dom.parentNode(node);
        if (el instanceof Element) out.add(el);
      }
      return [...out];
    } catch (error) {
      return syntax(error);
    }
  }

  /** Compares as the target says: whole and exact, or a part whatever the case. */
  function matcher(wanted: string, exact: boolean): (actual: string) => boolean {
    const clean = text.clean(wanted);
    if (exact) return (actual) => actual === clean;
    const lower = clean.toLowerCase();
    return (actual) => actual.toLowerCase().includes(lower);
  }

  /** Every element that is painted and not hidden from a reader, with its role. */
  function offered(visit: (el: Element, tag: string, role: string) => void): void {
    const start = styles.modal() ?? dom.rootElement(document);
    const stack: Node[] = start === null ? [] : [start];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (!dom.isElement(node)) continue;
      const tag = localName(node);
      if (silent.has(tag) || dom.has(node, 'inert') || attr(node, 'aria-hidden') === 'true') continue;
      const paint = tag === 'option' || tag === 'optgroup' ? 2 : styles.paints(node);
      if (paint === 0) continue;
      if (paint === 2 && !roles.plain(node, tag))
        visit(node, tag, standsFor(node, tag) ?? roles.roleOf(node, tag));
      const children = dom.flatChildren(node);
      for (let i = children.length - 1; i >= 0; i--) {
        const child = children[i];
        if (child !== undefined) stack.push(child);
      }
    }
  }

  /** The role of the control that a label stands for. */
  function standsFor(el: Element, tag: string): string | null {
    if (tag !== 'label') return null;
    const control = printer.standsFor(el);
    return control === null ? null : roles.roleOf(control, 'input');
  }

  function byRole(target: QueryTarget): Element[] {
    const wanted = (target.role ?? '').toLowerCase();
    const role = wanted === 'image' ? 'img' : wanted;
    const named = target.name === undefined ? null : matcher(target.name, target.exact === true);
    const out: Element[] = [];
    offered((el, tag, actual) => {
      if (actual !== role && !(role === 'generic' && actual === '')) return;
      if (named === null || named(nameOf(el, tag, actual))) out.push(el);
    });
    return out;
  }

  function nameOf(el: Element, tag: string, role: string): string {
    const control = tag === 'label' ? printer.standsFor(el) : null;
    if (control !== null)
      return text.clean(attr(control, 'aria-label') ?? '') || names.labelText(el, control);
    if (roles.contentIsName.has(role)) return names.nameOf(el, tag, role) || names.contentName(el);
    return names.nameOf(el, tag, role);
  }

  function byAttribute(name: string, wanted: string, exact: boolean): Element[] {
    const match = matcher(wanted, exact);
    return everywhere(`[${name}]`).filter((el) => match(text.clean(attr(el, name) ?? '')));
  }

  function byLabel(target: QueryTarget): Element[] {
    const match = matcher(target.label ?? '', target.exact === true);
    const out: Element[] = [];
    for (const el of everywhere(
      'input,textarea,select,button,meter,output,progress,[aria-label],[aria-labelledby]',
    )) {
      if (!names.labelTexts(el).some(match)) continue;
      const label = names.labelsOf(el).find((one) => printer.standsFor(one) === el);
      out.push(label ?? el);
    }
    return out;
  }

  /** All elements that match, whatever `nth` says. */
  function find(target: QueryTarget): Found {
    const exact = target.exact === true;
    if (target.selector !== undefined) return bySelector(target.selector);
    if (target.xpath !== undefined) return byXPath(target.xpath);
    if (target.role !== undefined) return byRole(target);
    if (target.text !== undefined) return findText.byText(target.text, exact);
    if (target.label !== undefined) return byLabel(target);
    if (target.placeholder !== undefined) return byAttribute('placeholder', target.placeholder, exact);
    if (target.testId !== undefined) return byAttribute('data-testid', target.testId, true);
    return {
      kind: 'syntax',
      message: 'the target has no ref, selector, xpath, role, text, label, placeholder or testId',
    };
  }

  return { everywhere, find, nameOf, offered, syntax };
}

export type Finders = ReturnType<typeof finders>;
