/// <reference lib="dom" />
import type { Dom } from './dom.ts';
import type { TextRules } from './text.ts';

/** States and values, live rather than as the attributes say. Injected by its text. */
export function stateRules({ dom, text }: { dom: Dom; text: TextRules }) {
  const { attr, has, matches } = dom;
  const secrets = new WeakSet<Element>();
  const checkables = /^(checkbox|radio|switch|menuitemcheckbox|menuitemradio|option|treeitem)$/;
  const selectables = /^(option|tab|row|gridcell|cell|columnheader|rowheader|treeitem)$/;
  const fields =
    /^(textbox|searchbox|combobox|listbox|spinbutton|slider|checkbox|radiogroup|switch|gridcell|tree|radio)$/;
  const typed = /^(date|time|month|week|datetime-local|color|file|email|tel|url)$/;

  /** Elements that have states without any aria attribute. */
  const stateful = new Set(
    'button details fieldset input optgroup option select summary textarea'.split(' '),
  );
  const stateless: string[] = [];

  function tristate(value: string | null): string {
    return value === 'true' ? '' : value === 'mixed' ? '=mixed' : 'no';
  }

  /**
   * The states of an element as printed, without brackets.
   * @param aria false if the element has no aria attribute at all, which saves asking for each
   */
  function statesOf(el: Element, tag: string, role: string, aria: boolean, disabledAbove: boolean): string[] {
    if (!aria && !disabledAbove && !stateful.has(tag) && role !== 'heading') return stateless;
    const out: string[] = [];
    const form =
      tag === 'input' || tag === 'select' || tag === 'textarea' || tag === 'button' || tag === 'option';
    if (tag === 'input') inputStates(el as HTMLInputElement, role, out);
    if (tag === 'option' && (el as HTMLOptionElement).selected) out.push('selected');
    if (form || tag === 'fieldset' || tag === 'optgroup') nativeStates(el, tag, out);
    if (tag === 'summary' && role === 'button') {
      const details = dom.parentNode(el);
      out.push(details instanceof HTMLDetailsElement && details.open ? 'expanded' : 'expanded=false');
    }
    if (tag === 'details' && !dom.firstSummary(el))
      out.push((el as HTMLDetailsElement).open ? 'expanded' : 'expanded=false');
    if (aria || disabledAbove) ariaStates(el, tag, role, out, disabledAbove);
    if (role === 'heading') out.push(`level=${level(el, tag)}`);
    return out;
  }

  function inputStates(el: HTMLInputElement, role: string, out: string[]): void {
    if (el.type === 'checkbox' || el.type === 'radio') {
      if (el.indeterminate && el.type === 'checkbox') out.push('checked=mixed');
      else if (el.checked) out.push('checked');
    } else if (typed.test(el.type) && role !== 'combobox') out.push(`type=${el.type}`);
  }

  function nativeStates(el: Element, tag: string, out: string[]): void {
    if (matches.call(el, ':disabled')) out.push('disabled');
    if (tag !== 'input' && tag !== 'textarea' && tag !== 'select') return;
    if (tag !== 'select' && has(el, 'readonly') && matches.call(el, ':read-only')) out.push('readonly');
    if (has(el, 'required') && matches.call(el, ':required')) out.push('required');
    if (matches.call(el, ':user-invalid')) out.push('invalid');
  }

  function add(out: string[], state: string): void {
    const name = state.split('=')[0] ?? state;
    if (!out.some((s) => s === name || s.startsWith(`${name}=`))) out.push(state);
  }

  function ariaStates(el: Element, tag: string, role: string, out: string[], disabledAbove: boolean): void {
    if (checkables.test(role) && tag !== 'input' && tag !== 'option') {
      const checked = tristate(attr(el, 'aria-checked'));
      if (checked !== 'no') add(out, `checked${checked}`);
    }
    if (selectables.test(role) && attr(el, 'aria-selected') === 'true') add(out, 'selected');
    const expanded = attr(el, 'aria-expanded');
    if (expanded === 'true') add(out, 'expanded');
    else if (expanded === 'false') add(out, 'expanded=false');
    if (role === 'button') {
      const pressed = tristate(attr(el, 'aria-pressed'));
      if (pressed !== 'no') add(out, `pressed${pressed}`);
    }
    if (disabledAbove || attr(el, 'aria-disabled') === 'true') add(out, 'disabled');
    if (fields.test(role)) {
      if (attr(el, 'aria-readonly') === 'true') add(out, 'readonly');
      if (attr(el, 'aria-required') === 'true') add(out, 'required');
      const invalid = attr(el, 'aria-invalid');
      if (invalid !== null && invalid !== '' && invalid !== 'false') add(out, 'invalid');
    }
    const current = attr(el, 'aria-current');
    if (current !== null && current !== '' && current !== 'false') {
      add(out, current === 'true' ? 'current' : `current=${text.clean(current).replace(/[^\w-]/g, '')}`);
    }
  }

  function level(el: Element, tag: string): number {
    const set = Number(attr(el, 'aria-level'));
    if (Number.isInteger(set) && set > 0) return set;
    return /^h[1-6]$/.test(tag) ? Number(tag[1]) : 2;
  }

  /** The live value of a field or a range; null for what has none. */
  function valueFor(el: Element, tag: string, role: string): string | null {
    const value = rawValue(el, tag, role);
    return value !== null && value !== '' && secrets.has(el) ? '[redacted]' : value;
  }

  function rawValue(el: Element, tag: string, role: string): string | null {
    if (tag === 'input') {
      const input = el as HTMLInputElement;
      switch (input.type) {
        case 'password':
          return input.value === '' ? '' : '[redacted]';
        case 'file':
          return Array.from(input.files ?? [], (file) => file.name).join(', ');
        case 'button':
        case 'checkbox':
        case 'image':
        case 'radio':
        case 'reset':
        case 'submit':
          return null;
      }
      return attr(el, 'aria-valuetext') ?? input.value;
    }
    if (tag === 'textarea') return (el as HTMLTextAreaElement).value;
    if (tag === 'select') {
      const select = el as HTMLSelectElement;
      if (role !== 'combobox') return null;
      return Array.from(select.selectedOptions, (option) => text.clean(option.label)).join(', ');
    }
    if (/^(slider|spinbutton|progressbar|meter|scrollbar|separator)$/.test(role)) {
      const set = attr(el, 'aria-valuetext') ?? attr(el, 'aria-valuenow');
      if (set !== null) return set;
      if (tag === 'progress') return has(el, 'value') ? String((el as HTMLProgressElement).value) : null;
      if (tag === 'meter') return String((el as HTMLMeterElement).value);
    }
    return null;
  }

  /** What the element holds is never told: a password, or a field that was filled with a secret. */
  function isSecret(el: Element): boolean {
    return secrets.has(el) || (el instanceof HTMLInputElement && el.type === 'password');
  }

  return { isSecret, markSecret: (el: Element): void => void secrets.add(el), statesOf, valueFor };
}

export type States = ReturnType<typeof stateRules>;
