/// <reference lib="dom" />
import type { InjectedApi } from '../injected/types.ts';
import type { Primitives } from './primitives.ts';
import type { ListState, ToggleState } from './types.ts';

/** Reads what is checked, pressed or selected, of native and ARIA controls. Injected by its text. */
export function toggles(p: Primitives, api: InjectedApi) {
  const CHECKED = ['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio', 'treeitem'];

  function asState(value: string | null): ToggleState['state'] {
    return value === 'true' || value === 'mixed' ? value : 'false';
  }

  /** `none` for what cannot be checked. */
  function read(node: Element): ToggleState {
    if (node instanceof HTMLInputElement && (node.type === 'checkbox' || node.type === 'radio')) {
      const state = node.indeterminate ? 'mixed' : node.checked ? 'true' : 'false';
      return { state, radio: node.type === 'radio' };
    }
    const { role } = api.describe(node);
    const radio = role === 'radio' || role === 'menuitemradio';
    if (CHECKED.includes(role)) return { state: asState(p.attr(node, 'aria-checked')), radio };
    if (role === 'option') return { state: asState(p.attr(node, 'aria-selected')), radio };
    if (p.has(node, 'aria-pressed')) return { state: asState(p.attr(node, 'aria-pressed')), radio };
    return { state: 'none', radio };
  }

  /** Waits some frames for a page that shows a new state a little later. */
  async function settled(node: Element, wanted: ToggleState['state']): Promise<ToggleState> {
    const until = performance.now() + 500;
    await p.task();
    while (read(node).state !== wanted && performance.now() < until && p.isConnected(node)) await p.frame();
    return read(node);
  }

  function byIds(node: Element, ids: string | null): Element[] {
    const root = p.rootOf(node);
    if (ids === null || !(root instanceof Document || root instanceof ShadowRoot)) return [];
    return ids.split(/\s+/).flatMap((id) => root.getElementById(id) ?? []);
  }

  function isShown(el: Element): boolean {
    return p.checkVisibility.call(el, { visibilityProperty: true });
  }

  /** The list that belongs to a combobox or button: named by it, inside it, or else the only one that is shown. */
  function listOf(node: Element): Element | null {
    const LIST = '[role=listbox],[role=menu],[role=tree],[role=grid]';
    if (p.is(node, LIST)) return node;
    const named = [...byIds(node, p.attr(node, 'aria-controls')), ...byIds(node, p.attr(node, 'aria-owns'))];
    const inside = p.within(node, LIST);
    const own = [...named, ...inside].find((el) => p.is(el, LIST) && isShown(el));
    if (own !== undefined) return own;
    const shown = [...document.querySelectorAll(LIST)].filter(isShown);
    return shown.length === 1 ? (shown[0] ?? null) : null;
  }

  /** A field for text that no attribute says to have a list. */
  function isPlainField(node: Element): boolean {
    const listed =
      '[role],[list],[aria-haspopup],[aria-controls],[aria-owns],[aria-expanded],[aria-autocomplete]';
    const kinds = 'textarea,input:not([type=button],[type=submit],[type=reset],[type=image])';
    return p.is(node, kinds) && !p.is(node, listed);
  }

  function text(el: Element): string {
    const value = el instanceof HTMLInputElement ? el.value : (el.textContent ?? '');
    return value.trim().replace(/\s+/g, ' ');
  }

  /** A custom list as it is now. Gives each option a ref. */
  function list(node: Element, nextRef: number): ListState {
    let next = nextRef;
    const box = listOf(node);
    const OPTION = '[role=option],[role=menuitemradio],[role=treeitem],[role=menuitemcheckbox]';
    const options = (box === null ? [] : p.within(box, OPTION)).filter(isShown).map((option, index) => {
      const [ref, after] = api.refOf(option, next);
      next = after;
      const label = api.describe(option).name || text(option);
      const value = p.attr(option, 'data-value') ?? p.attr(option, 'value') ?? label;
      const disabled = p.attr(option, 'aria-disabled') === 'true';
      return { value, label, index, disabled, selected: read(option).state === 'true', ref };
    });
    const multiple = box !== null && p.attr(box, 'aria-multiselectable') === 'true';
    const isList = box === node;
    const isField = isPlainField(node);
    return { open: box !== null, isList, isField, options, multiple, shows: text(node), nextRef: next };
  }

  return { list, read, settled };
}

export type Toggles = ReturnType<typeof toggles>;
