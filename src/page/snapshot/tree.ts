import { indentOf } from './assemble.ts';

/** The lines of a snapshot as a tree: parents before children, as they are printed. */
export interface LineTree {
  /** Without indent and `- `. */
  readonly lines: readonly string[];
  readonly depths: readonly number[];
  /** For each line, the index after its last descendant. */
  readonly ends: readonly number[];
  /** For each line, the characters of its subtree as printed. */
  readonly sizes: readonly number[];
}

/** Reads the tree back from the text: the indent is the depth, and no line of a page can have a newline in it. */
export function parseTree(text: string): LineTree {
  const lines: string[] = [];
  const depths: number[] = [];
  const sizes: number[] = [];
  const ends: number[] = [];
  const open: number[] = [];
  for (const line of text === '' ? [] : text.split('\n')) {
    const indent = indentOf(line);
    const depth = indent / 2;
    while (open.length > depth) ends[open.pop() ?? 0] = lines.length;
    open.push(lines.length);
    lines.push(line.slice(indent + 2));
    depths.push(depth);
    sizes.push(line.length + 1);
    ends.push(0);
  }
  while (open.length > 0) ends[open.pop() ?? 0] = lines.length;
  for (let i = lines.length - 1; i >= 0; i--) {
    for (let child = i + 1; child < (ends[i] ?? 0); child = ends[child] ?? lines.length) {
      sizes[i] = (sizes[i] ?? 0) + (sizes[child] ?? 0);
    }
  }
  return { lines, depths, ends, sizes };
}

/** The indexes of the children of a line; of the top lines for -1. */
export function childrenOf(tree: LineTree, parent: number): number[] {
  const out: number[] = [];
  const end = parent < 0 ? tree.lines.length : (tree.ends[parent] ?? 0);
  for (let child = parent + 1; child < end; child = tree.ends[child] ?? end) out.push(child);
  return out;
}

const refPattern = /^[\w-]+(?: "(?:[^"\\]|\\.)*")? \[ref=((?:f\d+)?e\d+)\]/;
const headPattern = /^([\w-]+)(?: "((?:[^"\\]|\\.)*)")?/;

/** The ref of a line, '' if it has none. What a page prints inside quotes cannot pass for one. */
export function refOf(line: string): string {
  return refPattern.exec(line)?.[1] ?? '';
}

/** Role and name of a line. */
export function headOf(line: string): { role: string; name: string } {
  const match = headPattern.exec(line);
  return { role: match?.[1] ?? '', name: (match?.[2] ?? '').replace(/\\(.)/g, '$1') };
}

/** A line as a step of a path: role and name, the name not longer than 40 characters. */
export function stepOf(line: string): string {
  const { role, name } = headOf(line);
  if (name === '') return role;
  return `${role} "${name.length > 40 ? `${name.slice(0, 39)}…` : name}"`;
}
