/// <reference lib="dom" />
import type { Primitives } from './primitives.ts';
import type { Fault, FieldKind, Needs } from './types.ts';

/** Whether an element can be used now, and what it is for typing. Injected by its text. */
export function elementStates(p: Primitives) {
  const DATES = ['date', 'time', 'month', 'week', 'datetime-local'];
  const BUTTONS = ['button', 'submit', 'reset', 'image', 'hidden'];
  const visible = { visibilityProperty: true, contentVisibilityAuto: true };
  const DISABLED = ['button', 'input', 'select', 'textarea', 'option', 'optgroup']
    .map((tag) => `${tag}:disabled`)
    .join();

  /** The control of a label; any other element is itself. */
  function controlOf(el: Element): Element {
    const label = el instanceof HTMLLabelElement ? el : null;
    return label?.control ?? el;
  }

  /** The labels of a control that can stand for it. */
  function labelsOf(el: Element): Element[] {
    if (!(el instanceof HTMLElement) || !('labels' in el)) return [];
    const labels = el.labels;
    return labels instanceof NodeList ? [...labels].filter((label) => label instanceof Element) : [];
  }

  function kindOf(el: Element): FieldKind {
    if (el instanceof HTMLTextAreaElement) return 'text';
    if (el instanceof HTMLSelectElement) return 'select';
    if (el instanceof HTMLInputElement) {
      const type = el.type;
      if (
        type === 'checkbox' ||
        type === 'radio' ||
        type === 'color' ||
        type === 'range' ||
        type === 'file'
      ) {
        return type;
      }
      if (DATES.includes(type)) return 'date';
      return BUTTONS.includes(type) ? 'none' : 'text';
    }
    return el instanceof HTMLElement && el.isContentEditable ? 'rich' : 'none';
  }

  function isDisabled(el: Element): boolean {
    return (
      p.near(el, DISABLED) !== null || p.attr(p.near(el, '[aria-disabled]') ?? el, 'aria-disabled') === 'true'
    );
  }

  function isReadonly(el: Element): boolean {
    if (p.is(el, 'input:read-only, textarea:read-only') && p.has(el, 'readonly')) return true;
    return p.attr(el, 'aria-readonly') === 'true';
  }

  /** Something of it is painted: a box with an area, its own or of what is inside. */
  function isVisible(el: Element): boolean {
    if (el instanceof HTMLAreaElement) return areaBox(el).length > 0;
    if (p.styleOf(el).display === 'contents') return within(el).length > 0;
    return p.checkVisibility.call(el, visible) && boxesOf(el).length > 0;
  }

  function within(el: Element): DOMRect[] {
    const out: DOMRect[] = [];
    for (const child of p.within(el, '*').slice(0, 200)) {
      if (!p.checkVisibility.call(child, visible)) continue;
      out.push(...areas(child));
      if (out.length >= 10) break;
    }
    return out;
  }

  function areas(el: Element): DOMRect[] {
    return [...p.getClientRects.call(el)].filter((rect) => rect.width > 0 && rect.height > 0);
  }

  /**
   * The boxes that a pointer can aim at: a wrapped inline has one for each line, an element without an area of its own
   * (floated or positioned children, `display: contents`) those of what is inside.
   */
  function boxesOf(el: Element): DOMRect[] {
    if (el instanceof HTMLAreaElement) return areaBox(el);
    const own = areas(el);
    return own.length > 0 ? own : within(el);
  }

  function imageOf(area: HTMLAreaElement): Element | null {
    const map = p.near(area, 'map');
    const name = map === null ? null : (p.attr(map, 'name') ?? p.attr(map, 'id'));
    if (name === null) return null;
    return p.within(document.documentElement, `[usemap=${JSON.stringify(`#${name}`)}]`)[0] ?? null;
  }

  /** What is on the screen for an element: itself, the label of a checkbox that is not to be seen, an area's image. */
  function anchorOf(el: Element): Element {
    if (el instanceof HTMLAreaElement) return imageOf(el) ?? el;
    return isVisible(el) ? el : (standIn(el) ?? el);
  }

  /** An area of an image map has no box in the layout: its shape lies on the image, in CSS pixels. */
  function areaBox(area: HTMLAreaElement): DOMRect[] {
    const image = imageOf(area);
    const rect = image === null ? undefined : areas(image)[0];
    if (rect === undefined) return [];
    const numbers = area.coords.split(',').map(Number);
    if (area.shape === 'default' || numbers.some(Number.isNaN) || numbers.length < 3) return [rect];
    if (area.shape === 'circle') {
      const [x = 0, y = 0, radius = 0] = numbers;
      return [new DOMRect(rect.x + x - radius, rect.y + y - radius, 2 * radius, 2 * radius)];
    }
    const xs = numbers.filter((_, index) => index % 2 === 0);
    const ys = numbers.filter((_, index) => index % 2 === 1);
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    return [new DOMRect(rect.x + left, rect.y + top, Math.max(...xs) - left, Math.max(...ys) - top)];
  }

  function editability(el: Element): Fault | null {
    const kind = kindOf(el);
    if (kind === 'none') return { why: 'not-editable', detail: `<${p.localName(el)}> is not a field` };
    if (kind === 'file') return { why: 'not-editable', detail: 'a file field takes files, by upload' };
    return isReadonly(el) ? { why: 'readonly', detail: 'the field is read-only' } : null;
  }

  /** The first need that does not hold, those that need no pointer only. */
  function obstacle(el: Element, needs: Needs): Fault | null {
    if (!p.isConnected(el)) return { why: 'gone', detail: 'the element is no longer in the document' };
    if (needs.enabled && isDisabled(controlOf(el)))
      return { why: 'disabled', detail: 'the element is disabled' };
    if (needs.editable) {
      const fault = editability(el);
      if (fault !== null) return fault;
    }
    if (isVisible(el) || (standIn(el) !== null && needs.hit)) return null;
    return { why: 'hidden', detail: hiddenBecause(el) };
  }

  /** The visible label of a checkbox or radio that is itself not to be seen. */
  function standIn(el: Element): Element | null {
    const kind = kindOf(el);
    if (kind !== 'checkbox' && kind !== 'radio' && kind !== 'file') return null;
    return labelsOf(el).find((label) => isVisible(label)) ?? null;
  }

  function hiddenBecause(el: Element): string {
    for (let node: Element | null = el; node !== null; node = p.flatParent(node, [])) {
      const style = p.styleOf(node);
      const what = node === el ? 'the element' : `its ancestor <${p.localName(node)}>`;
      if (style.display === 'none') return `${what} has display: none`;
      if (node === el && style.visibility !== 'visible') return `${what} has visibility: ${style.visibility}`;
      if (node !== el && style.contentVisibility === 'hidden')
        return `${what} has content-visibility: hidden`;
    }
    return 'the element has no area';
  }

  return {
    anchorOf,
    boxesOf,
    controlOf,
    editability,
    hiddenBecause,
    isDisabled,
    isReadonly,
    isVisible,
    kindOf,
    labelsOf,
    obstacle,
    standIn,
  };
}

export type ElementStates = ReturnType<typeof elementStates>;
