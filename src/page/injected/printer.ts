/// <reference lib="dom" />
import type { Dom } from './dom.ts';
import type { Names } from './names.ts';
import type { Refs } from './refs.ts';
import type { Roles } from './roles.ts';
import type { States } from './states.ts';
import type { Styles } from './style.ts';
import type { TextRules } from './text.ts';
import type { Run, Visit } from './walk.ts';

/** What is said of one element, in the grammar of a line. Injected by its text. */
export function printer({
  dom,
  styles,
  roles,
  names,
  states,
  refs,
  text,
}: {
  dom: Dom;
  styles: Styles;
  roles: Roles;
  names: Names;
  states: States;
  refs: Refs;
  text: TextRules;
}) {
  const { attr, has } = dom;
  /** Flags that an element hands down to its children. */
  const flags = {
    /** Inside something clickable. */
    POINTER: 1,
    /** The text is in the name of an ancestor already. */
    MUTE: 2,
    /** `visibility: hidden`: text is not painted, but elements inside may be. */
    UNPAINTED: 4,
    /** Below `aria-disabled`. */
    DISABLED: 8,
    /** Inside a presentational table: its rows and cells are presentational too. */
    PLAIN_TABLE: 16,
    PLAIN_LIST: 32,
    /** Inside a grid: a cell is a gridcell. */
    GRID: 128,
    /** All content is in the name of an ancestor: only what can be acted on is printed. */
    NAMED: 64,
  };
  const { MUTE, NAMED, DISABLED } = flags;

  /** Elements without children to walk: what they hold is their value. */
  const atomic = new Set('iframe frame img input textarea video audio progress meter hr'.split(' '));
  /** Say something even when empty and nameless: a place in a row, a picture that can be clicked. */
  const keptEmpty = /^(cell|gridcell|columnheader|rowheader|tab|progressbar|meter|scrollbar)$/;
  /** Nameless, they only wrap. */
  const needName = /^(group|img|figure|form|region)$/;
  const bare = /^(cell|listitem)$/;

  /** True for an element that prints no line of its own. */
  function silent(visit: Visit): boolean {
    const { role, act, flags: inherited } = visit;
    if ((inherited & flags.UNPAINTED) !== 0) return true;
    if (act === 2 || visit.box === 'scrolls') return false;
    if ((inherited & NAMED) !== 0) return act === 0;
    if (act === 1) return false;
    if (role === '' || role === 'rowgroup' || role === 'separator' || roles.folded.has(role)) return true;
    return needName.test(role) && visit.tag !== 'img' && nameOf(visit) === '';
  }

  /** Named by their children or live state although they may have no attribute. */
  const selfNamed = new Set(
    'button fieldset input meter output progress select svg table textarea'.split(' '),
  );

  function nameOf(visit: Visit): string {
    if (visit.bare && !selfNamed.has(visit.tag) && !roles.namedByContent.has(visit.role)) return '';
    return names.nameOf(visit.el, visit.tag, visit.role);
  }

  /** Prints the line of an element, or nothing (null) if it says nothing. */
  function print(run: Run, visit: Visit): { index: number; leaf: boolean; flags: number } | null {
    const { el, tag, role, act } = visit;
    const name = nameOf(visit);
    const fromContent = name !== '' && names.fromContent();
    if (role === 'img' && name === '' && act === 0) return null;
    const stated = states.statesOf(el, tag, role, visit.aria, act > 0 && (visit.flags & DISABLED) !== 0);
    const value = states.valueFor(el, tag, role) ?? otherText(visit, name, fromContent);
    const head = headOf(role, name);
    const line = head + tailOf(run, visit, el, stated, value);
    const { lines } = run;
    const offered = act > 0 || visit.box === 'scrolls';
    let flag = offered ? lines.ACT : 0;
    if (act === 1 && role === '') flag |= lines.LOOSE;
    if (visit.seen) flag |= lines.SEEN;
    if (role === 'iframe') flag |= lines.FRAME;
    if (!offered && name === '' && value === null) {
      if (bare.test(role) && stated.length === 0) flag |= lines.BARE;
      if (!keptEmpty.test(role)) flag |= lines.HOLLOW;
    }
    const index = lines.push(line, visit.depth, flag, el, head.length);
    const inner =
      visit.flags | (fromContent ? MUTE | NAMED : name !== '' && roles.namedByContent.has(role) ? MUTE : 0);
    return { index, leaf: atomic.has(tag) || (fromContent && onlyText(el)), flags: inner };
  }

  /** What a labelled button or link shows, where its label does not say it: a person may speak of either. */
  function otherText(visit: Visit, name: string, fromContent: boolean): string | null {
    if (fromContent || name === '' || !roles.namedByContent.has(visit.role)) return null;
    const shown = names.contentName(visit.el);
    const letters = (from: string): string => from.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
    const short = letters(shown);
    return short.length < 2 || letters(name).includes(short) ? null : shown;
  }

  function onlyText(el: Element): boolean {
    const first = dom.firstFlat(el);
    return (
      first === null ||
      (dom.nodeType(first) === 3 && dom.nextSibling(first) === null && !has(el, 'aria-owns'))
    );
  }

  function headOf(role: string, name: string): string {
    const shown = role === '' || role === 'none' ? 'generic' : role;
    return name === '' ? shown : `${shown} ${text.quote(name)}`;
  }

  /** What follows role and name: ` [ref=e1] [state]…: value` */
  function tailOf(run: Run, visit: Visit, node: Element, stated: string[], value: string | null): string {
    const { role } = visit;
    let line = '';
    if (visit.act > 0 || visit.box === 'scrolls') line += ` [ref=${run.options.prefix}e${refs.give(node)}]`;
    if (node === run.focus) line += ' [focused]';
    for (const state of stated) line += ` [${state}]`;
    if (visit.box === 'scrolls') line += ' [scrollable]';
    if (run.options.boxes === true) line += box(node);
    if (role === 'iframe') line += ` src=${address((visit.el as HTMLIFrameElement).src || 'about:srcdoc')}`;
    else if (role === 'link' && run.options.urls === true) line += link(visit.el);
    if (value !== null && value !== '') line += `: ${text.value(value)}`;
    return line;
  }

  function box(el: Element): string {
    const { x, y, width, height } = dom.getBoundingClientRect.call(el);
    return ` [box=${Math.round(x)},${Math.round(y)},${Math.round(width)},${Math.round(height)}]`;
  }

  function link(el: Element): string {
    const href =
      el instanceof HTMLAnchorElement || el instanceof HTMLAreaElement ? el.href : (attr(el, 'href') ?? '');
    return href === '' ? '' : ` url=${address(href)}`;
  }

  /** A parsed URL has no white space; one that could not be parsed may have anything. */
  function address(url: string): string {
    return text.cap(url.replace(/\s+/g, '%20'), url.startsWith('data:') ? 60 : 500);
  }

  /** The options of a select belong to it whether it is open or not. */
  function select(run: Run, visit: Visit): void {
    const { lines } = run;
    const printed = print(run, visit);
    if (printed === null) return;
    let group: HTMLOptGroupElement | null = null;
    let depth = visit.depth + 1;
    const seen = visit.seen ? lines.SEEN : 0;
    for (const option of (visit.el as HTMLSelectElement).options) {
      const parent = dom.parentNode(option);
      const inGroup = parent instanceof HTMLOptGroupElement ? parent : null;
      if (inGroup !== group) {
        group = inGroup;
        depth = visit.depth + (group === null ? 1 : 2);
        if (group !== null) lines.push(groupLine(group), visit.depth + 1, seen, group, 5);
      }
      if (option.hidden || styles.displayNone(option)) continue;
      const name = names.nameOf(option, 'option', 'option');
      const stated = states.statesOf(option, 'option', 'option', false, false);
      const inner: Visit = { ...visit, el: option, tag: 'option', role: 'option', act: 2 };
      const head = headOf('option', name);
      lines.push(
        head + tailOf(run, inner, option, stated, null),
        depth,
        lines.ACT | seen,
        option,
        head.length,
      );
    }
    lines.flush();
  }

  function groupLine(group: HTMLOptGroupElement): string {
    return `group ${text.quote(text.clean(group.label))}${group.disabled ? ' [disabled]' : ''}`;
  }

  /**
   * A label whose radio, checkbox or file input is not painted is what a person clicks, so it is printed as the
   * control, with a ref of its own. False for any other label.
   */
  function standIn(run: Run, visit: Visit): boolean {
    const control = standsFor(visit.el);
    if (control === null) return false;
    const role = roles.roleOf(control, 'input');
    const name = text.clean(attr(control, 'aria-label') ?? '') || names.labelText(visit.el, control);
    const stated = states.statesOf(control, 'input', role, true, (visit.flags & DISABLED) !== 0);
    const inner: Visit = { ...visit, role, act: 2 };
    const head = headOf(role, name);
    const line = head + tailOf(run, inner, visit.el, stated, states.valueFor(control, 'input', role));
    const flag = run.lines.ACT | (visit.seen ? run.lines.SEEN : 0);
    run.lines.push(line, visit.depth, flag, visit.el, head.length);
    visit.flags |= MUTE | NAMED;
    visit.act = 2;
    return true;
  }

  /** The radio, checkbox or file input that is not offered itself, so that its label stands for it. */
  function standsFor(label: Element): HTMLInputElement | null {
    const control = label instanceof HTMLLabelElement ? label.control : null;
    if (!(control instanceof HTMLInputElement)) return null;
    return /^(checkbox|radio|file)$/.test(control.type) && !offered(control) ? control : null;
  }

  function offered(control: Element): boolean {
    return styles.paints(control) === 2 && dom.closest.call(control, '[aria-hidden=true]') === null;
  }

  /** What a label hands down: its text is the name of its control, and a click on it goes to the control. */
  function labelFlags(label: Element): number {
    const control = label instanceof HTMLLabelElement ? label.control : null;
    if (control === null) return 0;
    return offered(control) && names.labelled(label, control) ? MUTE | flags.POINTER : flags.POINTER;
  }

  /** A caption that names its table or fieldset is not printed again. */
  function captionFlags(el: Element): number {
    const parent = dom.parentNode(el);
    if (parent === null || !dom.isElement(parent)) return 0;
    const labelled = (attr(parent, 'aria-label') ?? '').trim() !== '' || has(parent, 'aria-labelledby');
    return labelled || !/^(table|fieldset)$/.test(dom.localName(parent)) ? 0 : MUTE;
  }

  return { captionFlags, flags, labelFlags, headOf, print, select, silent, standIn, standsFor };
}

export type Printer = ReturnType<typeof printer>;
