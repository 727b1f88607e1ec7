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
    return {
      state: fields.state(node),
      spread: others.map((el) => fields.read(el)),
      connected: p.isConnected(node),
    };
  }

  return { assign, begin, finish };
}

export type Texts = ReturnType<typeof texts>;
