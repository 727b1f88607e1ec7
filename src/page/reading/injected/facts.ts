/// <reference lib="dom" />
import type { Dom } from '../../injected/dom.ts';
import type { States } from '../../injected/states.ts';
import type { MarkupReader } from './markup.ts';
import type { TextReader } from './text.ts';
import type { Box, FactName, Facts, StyleOrder } from './types.ts';

/** What is asked of single elements. Injected by its text. */
export function factReader({
  dom,
  states,
  texts,
  markup,
}: {
  dom: Dom;
  states: States;
  texts: TextReader;
  markup: MarkupReader;
}) {
  /** What a field holds now; null for what is none. */
  function heldBy(el: Element): string | string[] | null {
    if (states.isSecret(el)) return states.valueFor(el, dom.localName(el), '') === '' ? '' : '[redacted]';
    if (el instanceof HTMLInputElement)
      return el.type === 'file' ? Array.from(el.files ?? [], (file) => file.name) : el.value;
    if (el instanceof HTMLTextAreaElement || el instanceof HTMLButtonElement) return el.value;
    if (el instanceof HTMLOptionElement || el instanceof HTMLDataElement) return el.value;
    if (el instanceof HTMLSelectElement)
      return el.multiple ? Array.from(el.selectedOptions, (option) => option.value) : el.value;
    if (el instanceof HTMLOutputElement) return el.value;
    if (el instanceof HTMLProgressElement || el instanceof HTMLMeterElement) return String(el.value);
    return null;
  }

  function boxOf(el: Element): Box | null {
    const { x, y, width, height } = dom.getBoundingClientRect.call(el);
    return dom.checkVisibility.call(el) ? { x, y, width, height } : null;
  }

  function attributesOf(el: Element): Record<string, string> {
    const all = dom.getAttributeNames.call(el).map((name) => [name, markup.attribute(el, name)]);
    return Object.fromEntries(all);
  }

  /** What tells how something looks and whether it can be seen. */
  const common =
    'background-color color cursor display font-family font-size font-weight opacity overflow pointer-events position text-align text-decoration-line text-transform visibility z-index'.split(
      ' ',
    );

  function styleOf(el: Element, names: string[]): Record<string, string> {
    const style = getComputedStyle(el);
    const wanted = names.length > 0 ? names : common;
    return Object.fromEntries(wanted.map((name) => [name, style.getPropertyValue(name)]));
  }

  function factsOf(
    el: Element,
    ref: number,
    wanted: FactName[],
    limit: number,
    style: StyleOrder | null,
  ): Facts {
    const facts: Facts = { ref, over: [] };
    for (const name of wanted) {
      if (name === 'text') {
        const { text, over } = texts.textOf(el, limit);
        facts.text = text.trim();
        if (over) facts.over.push('text');
      } else if (name === 'html') {
        const { html, over } = markup.htmlOf(el, limit);
        facts.html = html;
        if (over) facts.over.push('html');
      } else if (name === 'value') facts.value = heldBy(el);
      else if (name === 'attributes') facts.attributes = attributesOf(el);
      else facts.box = boxOf(el);
    }
    if (style !== null) facts.style = styleOf(el, style.names);
    return facts;
  }

  return { factsOf, heldBy };
}

export type FactReader = ReturnType<typeof factReader>;
