/// <reference lib="dom" />
import type { Dom } from '../../injected/dom.ts';
import type { Refs } from '../../injected/refs.ts';
import type { States } from '../../injected/states.ts';
import type { Styles } from '../../injected/style.ts';
import type { TextRules } from '../../injected/text.ts';
import type { PaintedWalk } from './painted.ts';
import type { Pieces } from './pieces.ts';

/**
 * Text as it is laid out: `innerText` (HTML, 3.2.7) over shadow roots and slots too. Blocks are lines, paragraphs have a
 * blank line around them, cells are parted by tabs. Injected by its text.
 */
export function textReader({
  dom,
  styles,
  states,
  refs,
  text: rules,
  painted,
  pieces: newPieces,
}: {
  dom: Dom;
  styles: Styles;
  states: States;
  refs: Refs;
  text: TextRules;
  painted: PaintedWalk;
  pieces: (limit: number) => Pieces;
}) {
  const inline = /^(inline|contents|ruby|none|table-cell)/;

  /** Writes text, and before it what the layout puts between it and the text before. Never two blank lines. */
  function printer(out: Pieces) {
    let breaks = 0;
    let tabs = 0;
    let space = false;
    /** Line breaks at the end of what is written; two at the beginning, so that none come first. */
    let ended = 2;

    function settle(): void {
      if (breaks > ended) newLines(breaks - ended);
      else if (breaks === 0 && tabs > 0) out.add('\t'.repeat(tabs));
      else if (breaks === 0 && space && ended === 0) out.add(' ');
      breaks = 0;
      tabs = 0;
      space = false;
    }

    function newLines(count: number): void {
      out.add('\n'.repeat(count));
      ended += count;
    }

    function run(value: string): void {
      const all = rules.collapse(value);
      const core = all.trim();
      if (all.startsWith(' ')) space = true;
      if (core === '') return;
      settle();
      out.add(core);
      ended = 0;
      space = all.endsWith(' ');
    }

    function verbatim(value: string): void {
      const all = rules.preserve(value);
      if (all === '') return;
      settle();
      out.add(all);
      ended = /\n*$/.exec(all.slice(-2))?.[0].length ?? 0;
    }

    return {
      run,
      verbatim,
      edge: (lines: number): void => {
        breaks = Math.max(breaks, lines);
        tabs = 0;
        space = false;
      },
      cell: (): void => {
        tabs += 1;
        space = false;
      },
      line: (): void => {
        settle();
        if (ended < 2) newLines(1);
      },
      frame: (ref: number): void => {
        settle();
        out.addFrame(ref);
        ended = 0;
        breaks = 1;
      },
    };
  }

  function edgeOf(tag: string, display: string): number {
    if (inline.test(display)) return 0;
    return tag === 'p' ? 2 : 1;
  }

  /** The text of an element, with a place for each frame inside. */
  function read(root: Element, out: Pieces, frames: boolean): void {
    const print = printer(out);
    const open: { edge: number; verbatim: boolean }[] = [];
    painted.walk(root, {
      enter: (el, tag, style) => {
        if (out.isOver()) return false;
        if (tag === 'br') {
          print.line();
          return false;
        }
        const edge = edgeOf(tag, style.display);
        if (edge > 0) print.edge(edge);
        if (style.display === 'table-cell' && dom.previousElement(el) !== null) print.cell();
        if (tag === 'iframe' || tag === 'frame') {
          print.edge(1);
          if (frames) print.frame(refs.give(el));
          return false;
        }
        if (states.isSecret(el)) {
          print.run('[redacted]');
          return false;
        }
        open.push({ edge, verbatim: style.whiteSpaceCollapse !== 'collapse' });
        return true;
      },
      text: (value) => {
        if (open.at(-1)?.verbatim === true) print.verbatim(value);
        else print.run(value);
      },
      leave: () => {
        const { edge = 0 } = open.pop() ?? {};
        if (edge > 0) print.edge(edge);
      },
    });
  }

  /** The text of one element without its frames. What is not painted has the text that it holds, as `innerText` has it. */
  function textOf(el: Element, limit: number): { text: string; over: boolean } {
    if (states.isSecret(el)) return { text: '[redacted]', over: false };
    if (el instanceof HTMLOptionElement) return { text: rules.clean(el.label), over: false };
    const out = newPieces(limit);
    if (styles.paints(el) === 0) out.add(unpainted(el));
    else read(el, out, false);
    const { pieces, over } = out.finish();
    return { text: pieces.join(''), over };
  }

  /** Not the text of what is secret inside; and scripts are no text. */
  function unpainted(root: Element): string {
    let text = '';
    const stack: Node[] = [root];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (dom.nodeType(node) === 3) text += dom.nodeValue(node) ?? '';
      if (!dom.isElement(node) || states.isSecret(node)) continue;
      if (node !== root && /^(script|style|textarea)$/.test(dom.localName(node))) continue;
      const children: Node[] = [];
      for (let child = dom.firstChild(node); child !== null; child = dom.nextSibling(child))
        children.push(child);
      while (children.length > 0) stack.push(children.pop() ?? node);
    }
    return rules.preserve(text).trim();
  }

  return { isPainted: (el: Element): boolean => styles.paints(el) !== 0, read, textOf };
}

export type TextReader = ReturnType<typeof textReader>;
