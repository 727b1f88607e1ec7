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
  /** Elements that print no line of their own and hold many lines, inner ones first: from, up to and not including to. */
  const groups: { el: Element; from: number; to: number }[] = [];
  const fewest = 8;
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

  /** The index of the line that comes after the text that waits. */
  function mark(): number {
    return parts.length + (pending !== '' && /\S/.test(pending) ? 1 : 0);
  }

  /** The end of an element that prints no line itself. @param from what `mark` gave before its content */
  function group(el: Element, from: number): void {
    if (parts.length - from >= fewest) groups.push({ el, from, to: mark() });
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
  function scope(maxChars: number, prefix: string): { el: Element; from: number; to: number }[] {
    const sizes = new Array<number>(parts.length).fill(0);
    /** Characters of all lines before each. */
    const before = new Array<number>(parts.length + 1).fill(0);
    const open: number[] = [];
    for (let i = 0; i < parts.length; i++) {
      const depth = depths[i] ?? -1;
      const size = depth < 0 ? 0 : (parts[i] ?? '').length + 2 * depth + 3;
      before[i + 1] = (before[i] ?? 0) + size;
      if (depth < 0) continue;
      while (open.length > depth) open.pop();
      for (const above of open) if (above >= 0) sizes[above] = (sizes[above] ?? 0) + size;
      while (open.length < depth) open.push(-1);
      open.push(i);
    }
    if ((before[parts.length] ?? 0) <= maxChars) return [];
    for (let i = 0; i < parts.length; i++) {
      const el = elements[i];
      if ((sizes[i] ?? 0) * 10 < maxChars || !el || ((flags[i] ?? 0) & ACT) !== 0) continue;
      const line = parts[i] ?? '';
      parts[i] = `${line.slice(0, heads[i])} [ref=${prefix}e${refs.give(el)}]${line.slice(heads[i])}`;
    }
    return largeGroups(maxChars, sizes, before);
  }

  /** The line that a line is inside of, -1 for none, or for one that is far above. */
  function enclosing(line: number): number {
    const depth = depths[line] ?? -1;
    for (let i = line - 1; i >= Math.max(0, line - 500); i--) {
      const other = depths[i] ?? -1;
      if (other >= 0 && other < depth) return i;
    }
    return -1;
  }

  /**
   * Of the elements without a line, those that are worth one: large, not all there is, and not the same again as another
   * one or a line inside or around it.
   */
  function largeGroups(maxChars: number, sizes: number[], before: number[]): typeof groups {
    const chosen: typeof groups = [];
    const sizeOf = (from: number, to: number): number => (before[to] ?? 0) - (before[from] ?? 0);
    const total = sizeOf(0, parts.length);
    for (const one of groups) {
      const size = sizeOf(one.from, Math.min(one.to, parts.length));
      if (size * 10 < maxChars || size > total * 0.9) continue;
      const same = (inner: number, outer: number): boolean => inner > outer * 0.8;
      let first = one.from;
      while (first < one.to && (depths[first] ?? -1) < 0) first++;
      const above = enclosing(first);
      const told =
        chosen.some(({ from, to }) => from >= one.from && same(sizeOf(from, to), size)) ||
        same(sizes[first] ?? 0, size) ||
        (above >= 0 && same(size, sizes[above] ?? 0));
      if (!told) chosen.push(one);
    }
    return chosen;
  }

  /** The depth of the outermost lines from `from` up to `to`. */
  function lowest(from: number, to: number): number {
    let least = Number.POSITIVE_INFINITY;
    for (let i = from; i < to; i++) if ((depths[i] ?? -1) >= 0) least = Math.min(least, depths[i] ?? 0);
    return Number.isFinite(least) ? least : 0;
  }

  /** The finished text and where the frames are in it. */
  function finish(options: WalkOptions): { text: string; frames: { ref: number; line: number }[] } {
    flush();
    const maxDepth = options.depth ?? Number.POSITIVE_INFINITY;
    for (let i = 0; i < depths.length; i++) if ((depths[i] ?? 0) >= maxDepth) depths[i] = -1;
    const scopes = options.maxChars === undefined ? [] : scope(options.maxChars, options.prefix);
    // Outer ones first, where several begin at one line.
    const starts = Map.groupBy(scopes.toReversed(), ({ from }) => from);
    const ends = Map.groupBy(scopes, ({ to }) => to);
    const out: string[] = [];
    const frames: { ref: number; line: number }[] = [];
    const indents = ['- '];
    const indent = (depth: number): string => {
      while (indents.length <= depth) {
        const last = indents[indents.length - 1] ?? '';
        indents.push(indents.length < maxIndent ? `  ${last}` : last);
      }
      return indents[depth] ?? '';
    };
    let inside = 0;
    for (let i = 0; i < parts.length; i++) {
      inside -= ends.get(i)?.length ?? 0;
      for (const { el, from, to } of starts.get(i) ?? []) {
        out.push(`${indent(lowest(from, to) + inside)}generic [ref=${options.prefix}e${refs.give(el)}]`);
        inside++;
      }
      const depth = depths[i] ?? -1;
      if (depth < 0) continue;
      const flag = flags[i] ?? 0;
      const el = elements[i] ?? null;
      if ((flag & FRAME) !== 0 && el !== null) frames.push({ ref: refs.give(el), line: out.length });
      const start = indent(depth + inside);
      out.push((flag & TEXT) !== 0 ? `${start}text: ${parts[i]}` : `${start}${parts[i]}`);
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
    group,
    keep,
    mark,
    push,
    count: () => parts.length,
  };
}

export type Lines = ReturnType<typeof lineBuffer>;
