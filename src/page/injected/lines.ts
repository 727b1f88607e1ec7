/// <reference lib="dom" />
import type { Styles } from './style.ts';
import type { TextRules } from './text.ts';

/**
 * The lines of one walk, kept apart from their indent so that wrappers can be folded away after what is inside them is
 * known. Text waits in a buffer until the next line or the next block edge, so that adjacent pieces join.
 * Injected by its text.
 */
export function lineBuffer(styles: Styles, rules: TextRules) {
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

  const parts: string[] = [];
  /** -1 once folded away. */
  const depths: number[] = [];
  const flags: number[] = [];
  const refs: number[] = [];
  let pending = '';
  let pendingDepth = 0;
  let edges: Element[] = [];
  let textFlags = TEXT;

  function push(line: string, depth: number, flag: number, ref: number): number {
    flush();
    parts.push(line);
    depths.push(depth);
    flags.push(flag);
    refs.push(ref);
    return parts.length - 1;
  }

  /** Text of the page. `seen` is whether its parent is in the viewport. */
  function addText(piece: string, depth: number, seen: boolean): void {
    if (edges.length > 0) {
      if (pending !== '' && edges.some((edge) => styles.isBlock(edge))) flush();
      edges = [];
    }
    pending += piece;
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
    pending = '';
    edges = [];
    if (line === '') return;
    parts.push(rules.cap(line, rules.maxText));
    depths.push(pendingDepth);
    flags.push(textFlags);
    refs.push(0);
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
      refs.pop();
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

  /** The finished text and where the frames are in it. */
  function finish(maxDepth: number): { text: string; frames: { ref: number; line: number }[] } {
    flush();
    const out: string[] = [];
    const frames: { ref: number; line: number }[] = [];
    const indents = ['- '];
    for (let i = 0; i < parts.length; i++) {
      const depth = depths[i] ?? -1;
      if (depth < 0 || depth >= maxDepth) continue;
      while (indents.length <= depth) indents.push(`  ${indents[indents.length - 1]}`);
      const flag = flags[i] ?? 0;
      if ((flag & FRAME) !== 0) frames.push({ ref: refs[i] ?? 0, line: out.length });
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
    TEXT,
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
