/// <reference lib="dom" />
import type { Dom } from './dom.ts';
import type { Sheets } from './sheets.ts';

export type BoxKind = 'hides' | 'inert' | 'scrolls' | '';

/**
 * What is painted. `checkVisibility` answers most of it without a style object; the rest is read only where it decides
 * something. Injected by its text.
 */
export function styleReaders({ dom, sheets }: { dom: Dom; sheets: Sheets }) {
  const { checkVisibility } = dom;
  const visible = { visibilityProperty: true };
  const inlineDisplay = /^(inline|contents|ruby|none)/;

  /**
   * - 2: painted; 1: not itself, but what is inside may be (`display: contents`, `visibility: hidden`);
   * - 0: neither it nor anything inside.
   */
  function paints(el: Element): 0 | 1 | 2 {
    if (checkVisibility.call(el, visible)) return 2;
    const style = getComputedStyle(el);
    const display = style.display;
    if (display === 'contents') return style.visibility === 'visible' ? 2 : 1;
    if (display === 'none' || display === '') return 0;
    // A hidden element can have visible children; what `content-visibility` hides cannot.
    if (style.visibility !== 'visible') return checkVisibility.call(el) ? 1 : 0;
    return 0;
  }

  /** True where text before and after the edge of the element does not run together. */
  function isBlock(el: Element): boolean {
    const display = getComputedStyle(el).display;
    return !inlineDisplay.test(display) || display.startsWith('inline-');
  }

  /** The text of `content` of a pseudo element; '' for none. Alternative text after the slash wins. */
  function pseudo(el: Element, which: '::before' | '::after'): string {
    if (!sheets.mayGenerate(el)) return '';
    const style = getComputedStyle(el, which);
    const content = style.content;
    if (content === 'none' || content === 'normal' || content === '' || content === '""') return '';
    const display = style.display;
    if (display === 'none' || style.visibility !== 'visible') return '';
    const text = contentText(content);
    return text !== '' && (!display.startsWith('inline') || content.includes('" / "')) ? ` ${text} ` : text;
  }

  function contentText(content: string): string {
    let text = '';
    let alternative: string | null = null;
    const quotes = content.replace(/open-quote/g, '"“"').replace(/close-quote/g, '"”"');
    for (const part of quotes
      .replace(/url\("(?:[^"\\]|\\.)*"\)/g, '')
      .matchAll(/"((?:[^"\\]|\\.)*)"|(\/)/g)) {
      if (part[2] !== undefined) alternative = '';
      else if (alternative === null) text += unescaped(part[1] ?? '');
      else alternative += unescaped(part[1] ?? '');
    }
    return alternative ?? text;
  }

  function unescaped(text: string): string {
    if (!text.includes('\\')) return text;
    return text.replace(/\\([0-9a-fA-F]{1,6}) ?|\\(.)/g, (_all, hex: string | undefined, char: string) =>
      hex === undefined ? char : String.fromCodePoint(Number.parseInt(hex, 16)),
    );
  }

  /** The mouse turns into a hand over it. */
  function pointer(el: Element): boolean {
    if (!sheets.mayPoint(el) && !(dom.attr(el, 'style') ?? '').includes('cursor')) return false;
    return getComputedStyle(el).cursor.endsWith('pointer');
  }

  /**
   * What the style of an element does to its content: 'hides' it (`content-visibility`, `hidden=until-found`), makes it
   * 'inert' (`interactivity`), 'scrolls' it (there is more than fits) or nothing ('').
   */
  function boxOf(el: Element): BoxKind {
    if (!sheets.mayBox(el) && !/overflow|content-vis|interactivity/.test(dom.attr(el, 'style') ?? ''))
      return '';
    const style = getComputedStyle(el);
    if (style.contentVisibility === 'hidden') return 'hides';
    if (style.getPropertyValue('interactivity') === 'inert') return 'inert';
    const scrolls = /auto|scroll/;
    if (scrolls.test(style.overflowY) && el.scrollHeight > el.clientHeight + 1) return 'scrolls';
    return scrolls.test(style.overflowX) && el.scrollWidth > el.clientWidth + 1 ? 'scrolls' : '';
  }

  /** The modal dialog that makes the rest of the page inert, if there is one. */
  function modal(): Element | null {
    const found = dom.docProto.querySelectorAll.call(document, 'dialog:modal');
    let top: Element | null = null;
    for (const dialog of found) {
      if (!checkVisibility.call(dialog)) continue;
      if (top === null || !reachable(top) || reachable(dialog)) top = dialog;
    }
    return top;
  }

  /** Inert content is skipped by hit tests, so only the topmost dialog answers in its own middle. */
  function reachable(dialog: Element): boolean {
    const box = dom.getBoundingClientRect.call(dialog);
    const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return hit !== null && dom.holds(dialog, hit);
  }

  function displayNone(el: Element): boolean {
    return getComputedStyle(el).display === 'none';
  }

  return { boxOf, displayNone, isBlock, modal, paints, pointer, pseudo };
}

export type Styles = ReturnType<typeof styleReaders>;
