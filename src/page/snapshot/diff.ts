import { childrenOf, headOf, type LineTree, parseTree, refOf, stepOf } from './tree.ts';

/** What changed between two snapshots of a page. */
export interface SnapshotDiff {
  /** A line `@ path` for each place, below it the lines added (`+`), removed (`-`) and changed (`~`, then `was`). */
  readonly text: string;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
}

interface Side {
  readonly tree: LineTree;
  /** A number for each subtree: the same number, the same text. */
  readonly shapes: readonly number[];
}

interface Report {
  readonly out: string[];
  added: number;
  removed: number;
  changed: number;
}

/** Compares two texts of `assembleFrames`. Lines with a ref are the same line as long as the ref is. */
export function diffSnapshots(before: string, after: string): SnapshotDiff {
  const shapes = new Map<string, number>();
  const old = sideOf(before, shapes);
  const now = sideOf(after, shapes);
  const report: Report = { out: [], added: 0, removed: 0, changed: 0 };
  // A stack, since pages nest deeper than calls may.
  const work: { from: number; to: number; path: string }[] = [{ from: -1, to: -1, path: '' }];
  for (let pair = work.pop(); pair !== undefined; pair = work.pop()) {
    const inner = compareChildren(old, now, pair.from, pair.to, pair.path, report);
    for (let i = inner.length - 1; i >= 0; i--) {
      const [from, to] = inner[i] ?? [-1, -1];
      const step = stepOf(now.tree.lines[to] ?? '');
      work.push({ from, to, path: pair.path === '' ? step : `${pair.path} > ${step}` });
    }
  }
  return {
    text: report.out.join('\n'),
    added: report.added,
    removed: report.removed,
    changed: report.changed,
  };
}

/** Numbers subtrees from the leaves up, so that equal subtrees are found without comparing them. */
function sideOf(text: string, shapes: Map<string, number>): Side {
  const tree = parseTree(text);
  const own: number[] = new Array<number>(tree.lines.length).fill(0);
  for (let i = tree.lines.length - 1; i >= 0; i--) {
    let key = tree.lines[i] ?? '';
    for (const child of childrenOf(tree, i)) key += `\n${own[child]}`;
    const known = shapes.get(key);
    const shape = known ?? shapes.size + 1;
    if (known === undefined) shapes.set(key, shape);
    own[i] = shape;
  }
  return { tree, shapes: own };
}

/** Reports what differs among the children of a pair, and returns the pairs of children to look into. */
function compareChildren(
  old: Side,
  now: Side,
  from: number,
  to: number,
  path: string,
  report: Report,
): [number, number][] {
  const left = childrenOf(old.tree, from);
  const right = childrenOf(now.tree, to);
  const pairs = pairUp(old, now, left, right);
  const paired = new Set(pairs.map(([a]) => a));
  const partner = new Map(pairs.map(([a, b]) => [b, a]));
  const lines: string[] = [];
  for (const a of left) {
    if (paired.has(a)) continue;
    report.removed += print(old.tree, a, '-', lines);
  }
  const inner: [number, number][] = [];
  for (const b of right) {
    const a = partner.get(b);
    if (a === undefined) {
      report.added += print(now.tree, b, '+', lines);
      continue;
    }
    if (old.shapes[a] === now.shapes[b]) continue;
    const was = old.tree.lines[a] ?? '';
    const is = now.tree.lines[b] ?? '';
    if (was !== is) {
      report.changed++;
      lines.push(`~ ${is}`, `  was ${was}`);
    }
    inner.push([a, b]);
  }
  if (lines.length > 0) report.out.push(`@ ${path === '' ? 'page' : path}`, ...lines);
  return inner;
}

function print(tree: LineTree, index: number, mark: string, lines: string[]): number {
  const end = tree.ends[index] ?? index + 1;
  const base = tree.depths[index] ?? 0;
  for (let i = index; i < end; i++) {
    lines.push(`${mark} ${'  '.repeat((tree.depths[i] ?? 0) - base)}${tree.lines[i]}`);
  }
  return end - index;
}

/**
 * Which old child is which new one. Equal ends first, then by identity (ref, else role and name, else equal content), then by
 * role in order. Pairs that would cross are given up: what moved is removed here and added there.
 */
function pairUp(old: Side, now: Side, left: number[], right: number[]): [number, number][] {
  const pairs: [number, number][] = [];
  let start = 0;
  while (start < left.length && start < right.length && same(old, now, left[start], right[start])) start++;
  let endLeft = left.length;
  let endRight = right.length;
  while (endLeft > start && endRight > start && same(old, now, left[endLeft - 1], right[endRight - 1])) {
    endLeft--;
    endRight--;
  }
  for (let i = 0; i < start; i++) pairs.push([left[i] ?? 0, right[i] ?? 0]);
  const a = left.slice(start, endLeft);
  const b = right.slice(start, endRight);
  const keyed = uncrossed(byKey(old, now, a, b));
  pairs.push(...keyed, ...betweenPairs(old, now, a, b, keyed));
  for (let i = endLeft; i < left.length; i++) pairs.push([left[i] ?? 0, right[i - endLeft + endRight] ?? 0]);
  return pairs;
}

function same(old: Side, now: Side, a: number | undefined, b: number | undefined): boolean {
  return a !== undefined && b !== undefined && old.shapes[a] === now.shapes[b];
}

function byKey(old: Side, now: Side, left: number[], right: number[]): [number, number][] {
  const known = new Map<string, number[]>();
  for (const a of left) {
    const key = keyOf(old, a);
    const list = known.get(key);
    if (list === undefined) known.set(key, [a]);
    else list.push(a);
  }
  const out: [number, number][] = [];
  for (const b of right) {
    const a = known.get(keyOf(now, b))?.shift();
    if (a !== undefined) out.push([a, b]);
  }
  return out;
}

function keyOf(side: Side, index: number): string {
  const line = side.tree.lines[index] ?? '';
  const ref = refOf(line);
  if (ref !== '') return `ref ${ref}`;
  const { role, name } = headOf(line);
  return name === '' ? `shape ${side.shapes[index]}` : `${role} ${name}`;
}

/** The longest part of the pairs in which neither side goes backwards (patience). Pairs come in order of the right side. */
function uncrossed(pairs: [number, number][]): [number, number][] {
  const tails: number[] = [];
  const previous: number[] = [];
  pairs.forEach(([a], index) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tails[middle] ?? 0]?.[0] ?? 0) < a) low = middle + 1;
      else high = middle;
    }
    previous[index] = low === 0 ? -1 : (tails[low - 1] ?? -1);
    tails[low] = index;
  });
  const out: [number, number][] = [];
  for (let index = tails.at(-1) ?? -1; index >= 0; index = previous[index] ?? -1) {
    const pair = pairs[index];
    if (pair !== undefined) out.push(pair);
  }
  return out.reverse();
}

/** Between two pairs, what has no partner is paired with the next of the same role that has no ref to say otherwise. */
function betweenPairs(
  old: Side,
  now: Side,
  left: number[],
  right: number[],
  pairs: [number, number][],
): [number, number][] {
  const out: [number, number][] = [];
  let i = 0;
  let j = 0;
  for (const [a, b] of [...pairs, [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]]) {
    const lefts: number[] = [];
    for (; i < left.length && (left[i] ?? 0) < (a ?? 0); i++) lefts.push(left[i] ?? 0);
    const rights: number[] = [];
    for (; j < right.length && (right[j] ?? 0) < (b ?? 0); j++) rights.push(right[j] ?? 0);
    out.push(...inOrder(old, now, lefts, rights));
    i++;
    j++;
  }
  return out;
}

/** Pairs lines of the same role, each with the first that is left, never going back. */
function inOrder(old: Side, now: Side, lefts: number[], rights: number[]): [number, number][] {
  const queues = new Map<string, number[]>();
  for (let i = rights.length - 1; i >= 0; i--) {
    const role = looseRole(now, rights[i] ?? 0);
    const queue = queues.get(role);
    if (queue === undefined) queues.set(role, [i]);
    else queue.push(i);
  }
  const out: [number, number][] = [];
  let next = 0;
  for (const one of lefts) {
    const role = looseRole(old, one);
    const queue = role === '' ? undefined : queues.get(role);
    let at = queue?.pop();
    while (at !== undefined && at < next) at = queue?.pop();
    if (at === undefined) continue;
    out.push([one, rights[at] ?? 0]);
    next = at + 1;
  }
  return out;
}

function looseRole(side: Side, index: number): string {
  const line = side.tree.lines[index] ?? '';
  return refOf(line) === '' ? headOf(line).role : '';
}
