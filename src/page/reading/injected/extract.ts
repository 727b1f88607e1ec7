/// <reference lib="dom" />
import type { Dom } from '../../injected/dom.ts';
import type { Finders } from '../../injected/find.ts';
import type { QueryError } from '../../injected/types.ts';
import type { FactReader } from './facts.ts';
import type { MarkupReader } from './markup.ts';
import type { TextReader } from './text.ts';
import type { ExtractAnswer, Extracted, FieldSpec } from './types.ts';

/** Data by CSS. Injected by its text. */
export function extractor({
  dom,
  find,
  texts,
  markup,
  facts,
}: {
  dom: Dom;
  find: Finders;
  texts: TextReader;
  markup: MarkupReader;
  facts: FactReader;
}) {
  const addresses = /^(href|src|action|poster|cite|formaction|data)$/;

  class Refused extends Error {
    readonly answer: NonNullable<ExtractAnswer['error']>;
    constructor(selector: string, { kind, message }: QueryError) {
      super(message);
      this.answer = { kind, message, selector };
    }
  }

  function extract(fields: Record<string, FieldSpec>, scope: Element | null, limit: number): ExtractAnswer {
    let left = limit;

    function take(value: string): string {
      left -= value.length;
      return left < 0 ? '' : value;
    }

    function textOf(el: Element): string {
      const { text, over } = texts.textOf(el, Math.max(0, left));
      if (over) left = -1;
      return take(text.trim());
    }

    function objectOf(from: Element | null, inner: Record<string, FieldSpec>): Record<string, Extracted> {
      // A name such as __proto__ is data too.
      return Object.fromEntries(Object.entries(inner).map(([name, spec]) => [name, fieldOf(from, spec)]));
    }

    function fieldOf(from: Element | null, spec: FieldSpec): Extracted {
      const found = spec.selector === undefined ? (from === null ? [] : [from]) : select(from, spec.selector);
      if (spec.exists === true) return found.length > 0;
      if (spec.all === true) return found.flatMap((el) => (left < 0 ? [] : [dataOf(el, spec)]));
      const [first] = found;
      return first === undefined ? null : dataOf(first, spec);
    }

    function dataOf(el: Element, spec: FieldSpec): Extracted {
      if (spec.fields !== undefined) return objectOf(el, spec.fields);
      if (spec.attr === undefined) return textOf(el);
      const value = attributeOf(el, spec.attr);
      if (Array.isArray(value)) return value.map(take);
      return value === null ? null : take(value);
    }

    try {
      const data = objectOf(scope, fields);
      return left < 0 ? { over: true } : { data, over: false };
    } catch (error) {
      if (error instanceof Refused) return { error: error.answer, over: false };
      throw error;
    }
  }

  /** Addresses are absolute, and the value of a field is what it holds now. */
  function attributeOf(el: Element, name: string): string | string[] | null {
    if (name === 'value') {
      const value = facts.heldBy(el);
      if (value !== null) return value;
    }
    if (!dom.has(el, name)) return null;
    const value = markup.attribute(el, name);
    if (!addresses.test(name)) return value;
    return URL.parse(value, dom.baseOf(el))?.href ?? value;
  }

  function select(from: Element | null, selector: string): Element[] {
    if (from !== null) {
      try {
        return dom.within(from, selector);
      } catch (error) {
        throw new Refused(selector, find.syntax(error));
      }
    }
    const found = find.find({ selector });
    if (Array.isArray(found)) return found;
    throw new Refused(selector, found);
  }

  return { extract };
}

export type Extractor = ReturnType<typeof extractor>;
