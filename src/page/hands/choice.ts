/// <reference lib="dom" />
import type { Fields } from './fields.ts';
import type { Primitives } from './primitives.ts';
import type { ChoiceReport, OptionTold, Wanted } from './types.ts';

/** Choosing in a native `<select>`. Injected by its text. */
export function choices(p: Primitives, fields: Fields) {
  const clean = (text: string): string => text.trim().replace(/\s+/g, ' ');

  function isDisabled(option: HTMLOptionElement): boolean {
    return p.is(option, ':disabled') || p.near(option, 'optgroup:disabled') !== null;
  }

  function tell(option: HTMLOptionElement): OptionTold {
    const { value, label, index, selected } = option;
    return { value, label: clean(label), index, selected, disabled: isDisabled(option) };
  }

  function report(
    list: HTMLSelectElement,
    outcome: ChoiceReport['outcome'],
    which?: string | number,
  ): ChoiceReport {
    const options = [...list.options].map(tell);
    return { outcome, options, multiple: list.multiple, ...(which === undefined ? {} : { which }) };
  }

  /** The option that is meant: of several that fit, one that can be chosen. */
  function pick(
    list: HTMLSelectElement,
    fits: (option: HTMLOptionElement) => boolean,
  ): HTMLOptionElement | undefined {
    const fitting = [...list.options].filter(fits);
    return fitting.find((option) => !isDisabled(option)) ?? fitting[0];
  }

  function byValue(list: HTMLSelectElement, value: string): HTMLOptionElement | undefined {
    return pick(list, (option) => option.value === value);
  }

  function byLabel(list: HTMLSelectElement, label: string): HTMLOptionElement | undefined {
    return pick(list, (option) => clean(option.label) === clean(label));
  }

  function find(list: HTMLSelectElement, wanted: Wanted): [string | number, HTMLOptionElement | undefined][] {
    if (wanted.values) return wanted.values.map((value) => [value, byValue(list, value)]);
    if (wanted.labels) return wanted.labels.map((label) => [label, byLabel(list, label)]);
    if (wanted.indexes) return wanted.indexes.map((index) => [index, list.options[index]]);
    return (wanted.either ?? []).map((text) => [text, byValue(list, text) ?? byLabel(list, text)]);
  }

  /** Selects exactly what is wanted, or changes nothing. Fires input and change once, and only for a change. */
  async function choose(node: Element, wanted: Wanted): Promise<ChoiceReport> {
    if (!(node instanceof HTMLSelectElement)) return { outcome: 'not-a-list', options: [], multiple: false };
    const found = find(node, wanted);
    for (const [which, option] of found) {
      if (option === undefined) return report(node, 'not-found', which);
      if (isDisabled(option) && !option.selected) return report(node, 'disabled', which);
    }
    const chosen = new Set(found.map(([, option]) => option));
    if (!node.multiple && chosen.size !== 1) return report(node, 'too-many');
    if ([...node.options].every((option) => option.selected === chosen.has(option)))
      return report(node, 'done');
    fields.takeFocus(node);
    for (const option of node.options) option.selected = chosen.has(option);
    const wantedValues = fields.read(node);
    node.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    node.dispatchEvent(new Event('change', { bubbles: true }));
    await p.task();
    // A page that answers by building the list anew has taken the choice; the old list says nothing any more.
    const holds = !p.isConnected(node) || fields.read(node) === wantedValues;
    return report(node, holds ? 'done' : 'not-verified');
  }

  /** By the option itself; in a list of several it is added to what is selected. */
  async function chooseOption(node: Element): Promise<ChoiceReport> {
    const list = node instanceof HTMLOptionElement ? p.near(node, 'select') : null;
    if (!(node instanceof HTMLOptionElement) || !(list instanceof HTMLSelectElement)) {
      return { outcome: 'not-a-list', options: [], multiple: false };
    }
    const before = list.multiple ? [...list.selectedOptions].map((option) => option.index) : [];
    return choose(list, { indexes: [...before, node.index] });
  }

  return { choose, chooseOption };
}

export type Choices = ReturnType<typeof choices>;
