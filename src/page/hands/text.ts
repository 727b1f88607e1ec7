/// <reference lib="dom" />
import type { Fields } from './fields.ts';
import type { Primitives } from './primitives.ts';
import type { AssignReport, Fault, FieldState, TypingReport } from './types.ts';

/** Entering text: focus, selection, and what became of it. Injected by its text. */
export function texts(p: Primitives, fields: Fields) {
  interface Record {
    node: Element;
    /** Fields that took input, in order: one-digit boxes pass the focus on while one types. */
    touched: Element[];
    stop(): void;
  }
  let record: Record | null = null;
  /** Fields that the last text went to. */
  let last: { node: Element; touched: readonly Element[] } | null = null;
  let enter: { wrong: Element | null; stop(): void } | null = null;

  /** Characters that one of the boxes takes that a code is typed into. */
  const BOX = 8;

  /** A box of a few characters, which passes the focus on when it is full. Any other field keeps what is typed into it. */
  function isBox(el: Element): boolean {
    if (!(el instanceof HTMLInputElement)) return false;
    return (el.maxLength > 0 && el.maxLength <= BOX) || fields.read(el).length <= 1;
  }

  function start(node: Element): void {
    record?.stop();
    const touched: Element[] = [];
    const listener = (event: Event) => {
      const first = event.composedPath()[0];
      if (event.isTrusted && first instanceof Element && !touched.includes(first)) touched.push(first);
    };
    addEventListener('input', listener, true);
    record = { node, touched, stop: () => removeEventListener('input', listener, true) };
  }

  /**
   * Focuses a field and puts the selection where the text is to go: over all of it, behind it, or left alone where the
   * field had the focus already.
   */
  function begin(node: Element, mode: 'replace' | 'append'): FieldState | Fault {
    const had = fields.hasFocus(node);
    if (!fields.takeFocus(node)) return { why: 'unfocusable', detail: 'the element does not take the focus' };
    if (mode === 'replace') fields.selectAll(node);
    else if (!had) fields.caretToEnd(node);
    start(node);
    return fields.state(node);
  }

  /** Sets a value that is not entered as text: dates, colours, ranges, and text areas with several lines. */
  function assign(node: Element, value: string): AssignReport {
    const before = fields.read(node);
    fields.setValue(node, value);
    const state = fields.state(node);
    const ok = same(state, value);
    if (!ok) fields.setValue(node, before);
    else if (state.value !== before) fields.announceInput(node, value);
    return { ok, state };
  }

  function same(state: FieldState, wanted: string): boolean {
    if (state.kind === 'range') return Number(state.value) === Number(wanted);
    if (state.kind === 'color') return state.value.toLowerCase() === wanted.toLowerCase();
    // A form control gives times without seconds that are zero.
    if (state.kind === 'date')
      return state.value === wanted || state.value === wanted.replace(/:00(\.0+)?$/, '');
    return state.value === wanted;
  }

  /** What the field holds now, and with `change` whatever leaving it would fire. */
  async function finish(node: Element, before: string, change: boolean): Promise<TypingReport> {
    await p.task();
    const touched = record?.node === node ? record.touched : [];
    record?.stop();
    record = null;
    const state = fields.state(node);
    if (change && p.isConnected(node) && state.value !== before) fields.announceChange(node);
    const others = touched.filter((el) => el !== node && el !== fields.host(node));
    const boxes = [node, ...others].every(isBox);
    last = { node, touched: boxes ? others : [] };
    return {
      state: fields.state(node),
      spread: boxes ? others.map((el) => fields.read(el)) : [],
      connected: p.isConnected(node),
    };
  }

  /**
   * Before Enter is pressed: keeps it from everything but the field, and the boxes that its text went on to. On a button
   * that has got the focus meanwhile it would be a click.
   * @returns false when something else has the focus already
   */
  function armEnter(node: Element): boolean {
    enter?.stop();
    const mine = new Set<Element>([node, fields.host(node)]);
    if (last?.node === node) for (const el of last.touched) mine.add(el);
    const focused = p.focused(document);
    if (focused === null || !mine.has(focused)) {
      enter = null;
      return false;
    }
    const listener = (event: KeyboardEvent) => {
      const first = event.composedPath()[0];
      if (!event.isTrusted || event.key !== 'Enter' || !(first instanceof Element)) return;
      // Within a rich text the event is of the element that the caret is in.
      for (let el: Element | null = first; el !== null; el = p.flatParent(el, [])) if (mine.has(el)) return;
      watch.wrong = first;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    const types = ['keydown', 'keypress'] as const;
    const stop = () => {
      for (const type of types) removeEventListener(type, listener, true);
    };
    const watch = { wrong: null as Element | null, stop };
    for (const type of types) addEventListener(type, listener, true);
    enter = watch;
    return true;
  }

  /** What Enter was kept from; null where it came to the field. */
  function enterWentTo(): Element | null {
    const watch = enter;
    enter = null;
    watch?.stop();
    return watch?.wrong ?? null;
  }

  return { armEnter, assign, begin, enterWentTo, finish };
}

export type Texts = ReturnType<typeof texts>;
