/// <reference lib="dom" />
import type { Refs } from './refs.ts';
import type { Styles } from './style.ts';
import type { TextRules } from './text.ts';
import type { WalkOptions } from './types.ts';

/**
 * The lines of one walk, kept apart from their indent so that wrappers can be folded away after what is inside them is
 * known. Text waits in a buffer until the next line or the next block edge, so that adjacent pieces join.
 * Injected by its text.
 */
export function lineBuffer({ styles, text: rules, refs }: { styles: Styles; text: TextRules; refs: Refs }) {
  /** Flags of a line. */
  const ACT = 1;
  const TEXT = 2;
  /** Says nothing by itself: goes away around a single child line. */
  const BARE = 4;
  /** Goes away when nothing is inside. */
  const HOLLOW = 8;
  /** Clickable by its style only: goes away around a single child that can be acted on. */
  const LOOSE = 16;
  /** Inside the viewport. */
  const SEEN = 32;
  const FRAME = 64;
  /** Levels that are told apart by indent. Deeper nesting would make more white space than text. */
  const maxIndent = 64;

  const parts: string[] = [];
  /** -1 once folded away. */
  const depths: number[] = [];
  const flags: number[] = [];
  /** The element of a line, and how much of the line is role and name: a ref that is given late goes there. */
  const elements: (Element | null)[] = [];
  const heads: number[] = [];
  let pending = '';
  /** Of all the text that is waiting, kept or not: a line is never longer than `maxText`, so no more need be kept. */
  let pendingLength = 0;
  const maxPending = 20_000;
  let pendingDepth = 0;
  let edges: Element[] = [];
  let textFlags = TEXT;

  function push(line: string, depth: number, flag: number, el: Element | null, head: number): number {
    flush();
    return add(line, depth, flag, el, head);
  }

  function add(line: string, depth: number, flag: number, el: Element | null, head: number): number {
    parts.push(line);
    depths.push(depth);
    flags.push(flag);
    elements.push(el);
    heads.push(head);
    return parts.length - 1;
  }

  /** Text of the page. `seen` is whether its parent is in the viewport. */
  function addText(piece: string, depth: number, seen: boolean): void {
    if (edges.length > 0) {
      if (pending !== '' && edges.some((edge) => styles.isBlock(edge))) flush();
      edges = [];
    }
    if (pending.length < maxPending)
      pending += piece.length > maxPending ? piece.slice(0, maxPending) : piece;
    pendingLength += piece.length;
    pendingDepth = depth;
    textFlags = seen ? TEXT | SEEN : TEXT;
  }

  /** The edge of an element that prints no line: whether it parts the text is read only if there is text on both sides. */
  function edge(el: Element): void {
    if (pending === '') return;
    // What stands in two slots are two things, even where both are inline and nothing is between them.
    if (el instanceof HTMLSlotElement && edges.at(-1) instanceof HTMLSlotElement) flush();
    else edges.push(el);
  }

  function flush(): void {
    if (pending === '') return;
    const line = rules.clean(pending);
    const missing = pendingLength - pending.length;
    pending = '';
    pendingLength = 0;
    edges = [];
    if (line === '') return;
    add(rules.cap(line, rules.maxText, missing), pendingDepth, textFlags, null, 0);
  }

  /** Ends the element of a line: takes a lone text onto it, folds it, or drops it. */
  function close(index: number): void {
    flush();
    const flag = flags[index] ?? 0;
    const first = index + 1;
    const count = parts.length - first;
    if (count === 0) {
      if ((flag & HOLLOW) !== 0) drop(index);
      return;
    }
    const inner = flags[first] ?? 0;
    if (count === 1 && (inner & TEXT) !== 0) {
      parts[index] = `${parts[index]}: ${parts[first]}`;
      flags[index] = (flags[index] ?? 0) | (inner & SEEN);
      drop(first);
      return;
    }
    if ((flag & (BARE | LOOSE)) === 0 || (inner & TEXT) !== 0) return;
    if ((flag & LOOSE) !== 0 && (inner & ACT) === 0) return;
    if (single(first)) fold(index);
  }

  /** True if the lines from `first` on are one line and what is inside it. */
  function single(first: number): boolean {
    const depth = live(first);
    for (let i = depth.at + 1; i < parts.length; i++) {
      const other = depths[i] ?? -1;
      if (other >= 0 && other <= depth.depth) return false;
    }
    return true;
  }

  /** The first line from `from` on that was not folded away. */
  function live(from: number): { at: number; depth: number } {
    let at = from;
    while ((depths[at] ?? 0) < 0) at++;
    return { at, depth: depths[at] ?? 0 };
  }

  function drop(index: number): void {
    if (index === parts.length - 1) {
      parts.pop();
      depths.pop();
      flags.pop();
      elements.pop();
      heads.pop();
    } else depths[index] = -1;
  }

  function fold(index: number): void {
    depths[index] = -1;
    for (let i = index + 1; i < depths.length; i++)
      if ((depths[i] ?? -1) > 0) depths[i] = (depths[i] ?? 0) - 1;
  }

  /** Leaves only lines with the flag, and their ancestors. */
  function keep(flag: number): void {
    let needed = -1;
    for (let i = parts.length - 1; i >= 0; i--) {
      const depth = depths[i] ?? -1;
      if (depth < 0) continue;
      const wanted = ((flags[i] ?? 0) & flag) !== 0;
      if (wanted || depth < needed) needed = depth;
      else depths[i] = -1;
      if (depth === 0 && needed === 0) needed = -1;
    }
  }

  /** Gives refs to containers that hold a tenth or more of what a caller may see at once. */
  function scope(maxChars: number, prefix: string): void {
    const sizes = new Array<number>(parts.length).fill(0);
    const open: number[] = [];
    let total = 0;
    for (let i = 0; i < parts.length; i++) {
      const depth = depths[i] ?? -1;
      if (depth < 0) continue;
      const size = (parts[i] ?? '').length + 2 * depth + 3;
      total += size;
      while (open.length > depth) open.pop();
      for (const above of open) if (above >= 0) sizes[above] = (sizes[above] ?? 0) + size;
      while (open.length < depth) open.push(-1);
      open.push(i);
    }
    if (total <= maxChars) return;
    for (let i = 0; i < parts.length; i++) {
      const el = elements[i];
      if ((sizes[i] ?? 0) * 10 < maxChars || !el || ((flags[i] ?? 0) & ACT) !== 0) continue;
      const line = parts[i] ?? '';
      parts[i] = `${line.slice(0, heads[i])} [ref=${prefix}e${refs.give(el)}]${line.slice(heads[i])}`;
    }
  }

  /** The finished text and where the frames are in it. */
  function finish(options: WalkOptions): { text: string; frames: { ref: number; line: number }[] } {
    flush();
    const maxDepth = options.depth ?? Number.POSITIVE_INFINITY;
    for (let i = 0; i < depths.length; i++) if ((depths[i] ?? 0) >= maxDepth) depths[i] = -1;
    if (options.maxChars !== undefined) scope(options.maxChars, options.prefix);
    const out: string[] = [];
    const frames: { ref: number; line: number }[] = [];
    const indents = ['- '];
    for (let i = 0; i < parts.length; i++) {
      const depth = depths[i] ?? -1;
      if (depth < 0) continue;
      while (indents.length <= depth) {
        const last = indents[indents.length - 1] ?? '';
        indents.push(indents.length < maxIndent ? `  ${last}` : last);
      }
      const flag = flags[i] ?? 0;
      const el = elements[i] ?? null;
      if ((flag & FRAME) !== 0 && el !== null) frames.push({ ref: refs.give(el), line: out.length });
      out.push((flag & TEXT) !== 0 ? `${indents[depth]}text: ${parts[i]}` : `${indents[depth]}${parts[i]}`);
    }
    return { text: out.join('\n'), frames };
  }

  return {
    ACT,
    BARE,
    FRAME,
    HOLLOW,
    LOOSE,
    SEEN,
    addText,
    close,
    edge,
    finish,
    flush,
    keep,
    push,
    count: () => parts.length,
  };
}

export type Lines = ReturnType<typeof lineBuffer>;
