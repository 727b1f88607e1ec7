/// <reference lib="dom" />
import type { Dom } from '../../injected/dom.ts';
import type { States } from '../../injected/states.ts';
import type { Pieces } from './pieces.ts';

/**
 * A document or element as HTML: the serialisation of the HTML standard (13.3), with shadow roots as declarative ones.
 * The engine's own would print what may not be told, and a copy of the nodes would run scripts of custom elements.
 * Injected by its text.
 */
export function markupReader({
  dom,
  states,
  pieces: newPieces,
}: {
  dom: Dom;
  states: States;
  pieces: (limit: number) => Pieces;
}) {
  const { attr, localName, nodeType, nodeValue } = dom;
  const empty = new Set(
    'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'.split(
      ' ',
    ),
  );
  const raw = new Set('style script xmp iframe noembed noframes plaintext'.split(' '));
  function getter<T>(proto: object, name: string): (node: Node) => T {
    const get = Object.getOwnPropertyDescriptor(proto, name)?.get;
    if (get === undefined) throw new TypeError(`no getter ${name}`);
    return (node) => get.call(node) as T;
  }
  const contentOf = getter<DocumentFragment>(HTMLTemplateElement.prototype, 'content');
  const documentOf = getter<Document | null>(Node.prototype, 'ownerDocument');
  // As the engine's own serialisation has it.
  const probe = document.createElement('noscript');
  probe.textContent = '<';
  const scriptsRun = probe.innerHTML === '<';

  function escapeText(value: string): string {
    return value
      .replace(/&/g, '&amp;')
      .replace(/\u00a0/g, '&nbsp;')
      .replace(/</g, '&lt;')
      .replace(/>/g, '&gt;');
  }

  function escapeAttribute(value: string): string {
    return escapeText(value).replace(/"/g, '&quot;');
  }

  /** The value of an attribute as it may be told. */
  function attribute(el: Element, name: string): string {
    const value = attr(el, name) ?? '';
    if (value === '' || !states.isSecret(el)) return value;
    // A copy of the value gives it away as well.
    const copied = el instanceof HTMLInputElement && value === el.value;
    return name === 'value' || copied ? '[redacted]' : value;
  }

  function startTag(el: Element, tag: string): string {
    let out = `<${tag}`;
    for (const name of dom.getAttributeNames.call(el)) {
      out += ` ${name}="${escapeAttribute(attribute(el, name))}"`;
    }
    return `${out}>`;
  }

  function write(root: Node, out: Pieces): void {
    /** Nodes to print, and the texts that end what is open. */
    const stack: (Node | string)[] = [root];
    for (let item = stack.pop(); item !== undefined && !out.isOver(); item = stack.pop()) {
      if (typeof item === 'string') out.add(item);
      else if (dom.isElement(item)) element(item, out, stack);
      else if (nodeType(item) === 3) out.add(textNode(item));
      else if (nodeType(item) === 8) out.add(`<!--${nodeValue(item)}-->`);
      else if (item instanceof DocumentType) out.add(`<!DOCTYPE ${item.name}>`);
      else push(item, stack);
    }
  }

  function textNode(node: Node): string {
    const parent = dom.parentNode(node);
    const value = nodeValue(node) ?? '';
    if (parent === null || !dom.isElement(parent)) return escapeText(value);
    return isRaw(parent) ? value : escapeText(value);
  }

  /** Whether text in it is written as it is. In `noscript` where scripts run: not within a template, nor in a sandbox. */
  function isRaw(el: Element): boolean {
    if (!dom.isHtml(el)) return false;
    if (localName(el) !== 'noscript') return raw.has(localName(el));
    return documentOf(el) === document && scriptsRun;
  }

  function element(el: Element, out: Pieces, stack: (Node | string)[]): void {
    const tag = localName(el);
    out.add(startTag(el, tag));
    if (empty.has(tag) && dom.isHtml(el)) return;
    stack.push(`</${tag}>`);
    if (states.isSecret(el)) {
      if (dom.firstChild(el) !== null) stack.push('[redacted]');
      return;
    }
    push(el instanceof HTMLTemplateElement ? contentOf(el) : el, stack);
    const shadow = dom.shadowOf(el);
    if (shadow === null) return;
    stack.push('</template>');
    push(shadow, stack);
    stack.push(`<template shadowrootmode="${shadow.mode}">`);
  }

  function push(parent: Node, stack: (Node | string)[]): void {
    const children: Node[] = [];
    for (let node = dom.firstChild(parent); node !== null; node = dom.nextSibling(node)) children.push(node);
    while (children.length > 0) stack.push(children.pop() ?? '');
  }

  /** One element as HTML, and whether it was too long. */
  function htmlOf(el: Element, limit: number): { html: string; over: boolean } {
    const out = newPieces(limit);
    write(el, out);
    const { pieces, over } = out.finish();
    return { html: pieces.join(''), over };
  }

  return { attribute, htmlOf, write };
}

export type MarkupReader = ReturnType<typeof markupReader>;
