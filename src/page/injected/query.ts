/// <reference lib="dom" />
import type { Dom } from './dom.ts';
import type { Finders } from './find.ts';
import type { Names } from './names.ts';
import type { Printer } from './printer.ts';
import type { Refs } from './refs.ts';
import type { Roles } from './roles.ts';
import type { States } from './states.ts';
import type { Styles } from './style.ts';
import type { TextRules } from './text.ts';
import type { Described, QueryAnswer, QueryError, QueryTarget } from './types.ts';

interface Near {
  el: Element;
  score: number;
}

/** Targets to elements, with what an agent needs to correct a target that did not fit. Injected by its text. */
export function queries({
  dom,
  styles,
  roles,
  names,
  states,
  refs,
  text,
  printer,
  find,
}: {
  dom: Dom;
  styles: Styles;
  roles: Roles;
  names: Names;
  states: States;
  refs: Refs;
  text: TextRules;
  printer: Printer;
  find: Finders;
}) {
  const { attr, localName } = dom;
  const maxListed = 20;
  const maxNear = 5;

  function describe(el: Element): Described {
    const tag = localName(el);
    const control = tag === 'label' ? printer.standsFor(el) : null;
    const subject = control ?? el;
    const subjectTag = control === null ? tag : 'input';
    const role = roles.plain(subject, subjectTag) ? 'none' : roles.roleOf(subject, subjectTag);
    const name = find.nameOf(el, tag, role);
    const disabled = dom.closest.call(subject, '[aria-disabled=true]') !== null;
    const stated = states.statesOf(subject, subjectTag, role, true, disabled);
    if (el === dom.deepFocus()) stated.unshift('focused');
    const value = states.valueFor(subject, subjectTag, role) ?? '';
    const shown = role === '' || role === 'none' ? 'generic' : role;
    let line = printer.headOf(role, name);
    for (const state of stated) line += ` [${state}]`;
    const content =
      name === '' && value === '' ? text.cap(text.clean(el.textContent ?? ''), 80) : text.value(value);
    if (content !== '') line += `: ${content}`;
    const visible = tag === 'option' || styles.paints(el) === 2;
    return { ref: refs.peek(el), role: shown, name, states: stated, value, line, tag, visible };
  }

  function list(found: Element[], max: number): Described[] {
    return found.slice(0, max).map((el) => {
      refs.give(el);
      return describe(el);
    });
  }

  function byRef(ref: number): Element[] | QueryError {
    const { status, node } = refs.resolve(ref);
    if (status === 'live' && node !== null) return [node];
    if (status === 'unknown') return { kind: 'unknown', message: `e${ref} is not a ref of this document` };
    return { kind: 'stale', message: `the element of e${ref} is no longer in the document` };
  }

  function select(target: QueryTarget): Element[] | QueryError {
    return target.ref === undefined ? find.find(target) : byRef(target.ref);
  }

  function query(target: QueryTarget, nextRef: number): QueryAnswer {
    refs.begin(nextRef);
    names.reset();
    const found = select(target);
    if (!Array.isArray(found))
      return { count: 0, matches: [], near: [], nextRef: refs.nextRef(), error: found };
    const one = target.nth === undefined ? undefined : found.at(target.nth);
    const chosen = target.nth === undefined ? found : one === undefined ? [] : [one];
    const near = chosen.length > 0 ? [] : nearest(target);
    const matches = list(chosen, maxListed);
    return { count: found.length, matches, near: list(near, maxNear), nextRef: refs.nextRef() };
  }

  /** What comes close to a target that matches nothing. */
  function nearest(target: QueryTarget): Element[] {
    const wanted =
      target.name ??
      target.text ??
      target.label ??
      target.placeholder ??
      target.testId ??
      target.selector ??
      '';
    const found: Near[] = [];
    if (target.selector !== undefined || target.testId !== undefined) nearAttributes(wanted, found);
    else nearNames(target, wanted, found);
    found.sort((a, b) => b.score - a.score);
    return found.slice(0, maxNear).map((one) => one.el);
  }

  function nearNames(target: QueryTarget, wanted: string, found: Near[]): void {
    let looked = 0;
    find.offered((el, tag, role) => {
      if (role === 'none' || (role === '' && !dom.has(el, 'aria-label')) || ++looked > 5000) return;
      const sameRole = role === target.role;
      if (!sameRole && !roles.actionable.has(role) && role !== 'heading') return;
      const name = find.nameOf(el, tag, role);
      const score = (wanted === '' ? 0 : likeness(wanted, name)) + (sameRole ? 0.35 : 0);
      if (score >= 0.35) found.push({ el, score });
    });
  }

  function nearAttributes(wanted: string, found: Near[]): void {
    const words = wanted.match(/[\w-]{2,}/g) ?? [];
    let looked = 0;
    for (const el of find.everywhere('[id],[class],[data-testid],[name]')) {
      if (++looked > 5000) break;
      let score = 0;
      for (const name of ['id', 'data-testid', 'name', 'class']) {
        for (const token of (attr(el, name) ?? '').split(/\s+/)) {
          for (const word of words) if (token !== '') score = Math.max(score, likeness(word, token));
        }
      }
      if (score >= 0.5) found.push({ el, score });
    }
  }

  /** Shared letter pairs (Dice), 0 to 1. */
  function likeness(a: string, b: string): number {
    const left = pairs(a);
    const right = pairs(b);
    if (left.size === 0 || right.size === 0) return a.toLowerCase() === b.toLowerCase() ? 1 : 0;
    let shared = 0;
    for (const pair of left) if (right.has(pair)) shared++;
    return (2 * shared) / (left.size + right.size);
  }

  function pairs(word: string): Set<string> {
    const lower = word.slice(0, 200).toLowerCase();
    const out = new Set<string>();
    for (let i = 0; i + 1 < lower.length; i++) out.add(lower.slice(i, i + 2));
    return out;
  }

  return { describe, query, select };
}

export type Queries = ReturnType<typeof queries>;
