/// <reference lib="dom" />
import type { Primitives } from './primitives.ts';
import type { ElementStates } from './states.ts';
import type { FieldState } from './types.ts';

/** Reads and sets the values of fields. Injected by its text. */
export function fields(p: Primitives, states: ElementStates) {
  function accessor(proto: object): { get(el: Element): string; set(el: Element, value: string): void } {
    const own = Object.getOwnPropertyDescriptor(proto, 'value');
    return {
      get: (el) => String(own?.get?.call(el)),
      set: (el, value) => own?.set?.call(el, value),
    };
  }
  const inputValue = accessor(HTMLInputElement.prototype);
  const areaValue = accessor(HTMLTextAreaElement.prototype);

  /** As a person reads it: the blank line that an editor keeps at its end is not text. */
  function richText(el: Element): string {
    // biome-ignore lint/performance/useDomNodeTextContent: lines are what a person sees as lines; textContent has none
    const text = el instanceof HTMLElement ? el.innerText : '';
    return text
      .replace(/\u00a0/g, ' ')
      .replace(/\r\n?/g, '\n')
      .replace(/\n$/, '');
  }

  function read(el: Element): string {
    if (el instanceof HTMLInputElement) return inputValue.get(el);
    if (el instanceof HTMLTextAreaElement) return areaValue.get(el);
    if (el instanceof HTMLSelectElement)
      return [...el.selectedOptions].map((option) => option.value).join(', ');
    return richText(el);
  }

  function state(el: Element): FieldState {
    const maxLength = el instanceof HTMLInputElement || el instanceof HTMLTextAreaElement ? el.maxLength : -1;
    const type = el instanceof HTMLInputElement ? el.type : p.localName(el);
    const secret = type === 'password';
    return { kind: states.kindOf(el), type, value: read(el), maxLength, secret, selected: selected(el) };
  }

  /** Number and e-mail fields do not tell; theirs counts as empty. */
  function selected(el: Element): string {
    if (el instanceof HTMLInputElement || el instanceof HTMLTextAreaElement) {
      return read(el).slice(el.selectionStart ?? 0, el.selectionEnd ?? 0);
    }
    return states.kindOf(el) === 'rich' ? (getSelection()?.toString() ?? '') : '';
  }

  /** The element that takes the keys: for a part of a rich text, the part's editing host. */
  function host(el: Element): Element {
    if (states.kindOf(el) !== 'rich') return el;
    let top = el;
    for (
      let up = p.flatParent(el, []);
      up instanceof HTMLElement && up.isContentEditable;
      up = p.flatParent(up, [])
    ) {
      top = up;
    }
    return top;
  }

  function hasFocus(el: Element): boolean {
    return p.focused(el) === host(el);
  }

  /** @returns whether the element has the focus now */
  function takeFocus(el: Element): boolean {
    if (hasFocus(el)) return true;
    p.focus.call(host(el), { preventScroll: true });
    return hasFocus(el);
  }

  function selectAll(el: Element): void {
    if (el instanceof HTMLInputElement || el instanceof HTMLTextAreaElement) el.select();
    else getSelection()?.selectAllChildren(el);
  }

  /** Moves the caret behind the last character. Number and e-mail fields have no other way than this one. */
  function caretToEnd(el: Element): void {
    if (el instanceof HTMLInputElement || el instanceof HTMLTextAreaElement) {
      getSelection()?.modify('move', 'forward', 'documentboundary');
      return;
    }
    const selection = getSelection();
    selection?.selectAllChildren(el);
    selection?.collapseToEnd();
  }

  function setValue(el: Element, value: string): void {
    if (el instanceof HTMLInputElement) inputValue.set(el, value);
    else if (el instanceof HTMLTextAreaElement) areaValue.set(el, value);
  }

  function announceInput(el: Element, data: string | null): void {
    const type = 'insertReplacementText';
    el.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, inputType: type, data }));
  }

  /**
   * Fires `change` now, as leaving the field would, without leaving it. The engine fires its own when the focus goes;
   * that one is dropped if the value is still the same, so that the page hears of one change once.
   */
  function announceChange(el: Element): void {
    const value = read(el);
    el.dispatchEvent(new Event('change', { bubbles: true }));
    const drop = (event: Event) => {
      if (!event.isTrusted || event.composedPath()[0] !== el) return;
      removeEventListener('change', drop, true);
      if (read(el) === value) event.stopImmediatePropagation();
    };
    const done = (event: Event) => {
      if (event.composedPath()[0] !== el) return;
      removeEventListener('change', drop, true);
      removeEventListener('blur', done, true);
    };
    if (!hasFocus(el)) return;
    addEventListener('change', drop, true);
    addEventListener('blur', done, true);
  }

  return {
    announceChange,
    announceInput,
    caretToEnd,
    hasFocus,
    host,
    read,
    richText,
    selectAll,
    setValue,
    state,
    takeFocus,
  };
}

export type Fields = ReturnType<typeof fields>;
