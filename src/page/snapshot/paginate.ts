import { indentOf } from './assemble.ts';
import { childrenOf, type LineTree, parseTree, refOf, stepOf } from './tree.ts';

/** A part of a text that was cut between lines. */
export interface Slice {
  readonly text: string;
  /** Where the next part begins; undefined when this is the last. */
  readonly next: number | undefined;
  /** What the first line is inside of, outermost first; [] at the beginning. */
  readonly inside: readonly string[];
  readonly linesLeft: number;
}

/**
 * The lines that begin at `from` and fit into `maxChars` characters; at least one, so that whoever goes on always gets
 * to the end.
 * @param from a `next` of an earlier slice of the same text, or 0
 */
export function sliceLines(text: string, from: number, maxChars: number): Slice {
  const inside = from === 0 ? [] : pathAt(text, from);
  if (text.length - from <= maxChars)
    return { text: text.slice(from), next: undefined, inside, linesLeft: 0 };
  let end = text.lastIndexOf('\n', from + maxChars);
  if (end < from) end = text.indexOf('\n', from);
  if (end < 0) return { text: text.slice(from), next: undefined, inside, linesLeft: 0 };
  let linesLeft = 1;
  for (let at = text.indexOf('\n', end + 1); at >= 0; at = text.indexOf('\n', at + 1)) linesLeft++;
  return { text: text.slice(from, end), next: end + 1, inside, linesLeft };
}

/** The lines above the one at `from` that it is nested in. */
function pathAt(text: string, from: number): string[] {
  const path: string[] = [];
  let indent = indentOf(text.slice(from, from + 20_000));
  let end = from - 1;
  while (end > 0 && indent > 0) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    const line = text.slice(start, end);
    const own = indentOf(line);
    if (own < indent) {
      indent = own;
      path.unshift(stepOf(line.slice(own + 2)));
    }
    end = start - 1;
  }
  return path;
}

/** A part of a page that can be asked for by itself. */
export interface Part {
  readonly ref: string;
  readonly line: string;
  readonly chars: number;
}

/**
 * The largest parts of a page that is too long: large parts are split into theirs until they fit or there are enough.
 * Only what has a ref, since the next request must be able to name it.
 */
export function largestParts(text: string, maxChars: number, most = 6): Part[] {
  const tree = parseTree(text);
  let parts = scoped(tree, -1);
  while (parts.length < most) {
    const split = parts.find(
      (index) => (tree.sizes[index] ?? 0) > maxChars && scoped(tree, index).length > 0,
    );
    if (split === undefined) break;
    parts = [...parts.filter((index) => index !== split), ...scoped(tree, split)].sort(bySize(tree));
  }
  return parts.slice(0, most).map((index) => {
    const line = tree.lines[index] ?? '';
    return { ref: refOf(line), line: stepOf(line), chars: tree.sizes[index] ?? 0 };
  });
}

function bySize(tree: LineTree): (a: number, b: number) => number {
  return (a, b) => (tree.sizes[b] ?? 0) - (tree.sizes[a] ?? 0);
}

/** The nearest descendants with a ref and something inside, largest first. */
function scoped(tree: LineTree, parent: number): number[] {
  const out: number[] = [];
  const queue = childrenOf(tree, parent);
  for (let index = queue.shift(); index !== undefined; index = queue.shift()) {
    if ((tree.ends[index] ?? 0) === index + 1) continue;
    if (refOf(tree.lines[index] ?? '') !== '') out.push(index);
    else queue.push(...childrenOf(tree, index));
  }
  return out.sort(bySize(tree));
}
