/// <reference lib="dom" />
import type { Dom } from './dom.ts';
import type { Resolved } from './types.ts';

/**
 * Which number stands for which node. Node to ref is a WeakMap: the node decides how long its ref lives. Ref to node
 * is a WeakRef, so that a removed subtree is not kept in memory (and does not show up as detached in a heap snapshot)
 * because an agent once saw it; a collected node is a removed node. Injected by its text.
 */
export function refTable({ dom }: { dom: Dom }) {
  const refs = new WeakMap<Node, number>();
  const nodes = new Map<number, WeakRef<Element>>();
  let pruneAt = 4096;
  /** The numbers given out here, as [from, to): what tells a collected node from a ref of another document. */
  const issued: [number, number][] = [];
  let next = 1;
  /** What a ref was asked for since `begin`, where that is wanted: it would keep nodes alive. */
  let given: Element[] | null = null;

  /** Every operation that may give refs begins with the number at which the session stands. */
  function begin(nextRef: number, collect = false): void {
    next = Math.max(next, nextRef);
    given = collect ? [] : null;
    if (nodes.size < pruneAt) return;
    for (const [ref, weak] of nodes) if (weak.deref() === undefined) nodes.delete(ref);
    pruneAt = Math.max(4096, nodes.size * 2);
  }

  function give(node: Element): number {
    given?.push(node);
    const known = refs.get(node);
    if (known !== undefined) return known;
    const ref = next++;
    const last = issued.at(-1);
    if (last !== undefined && last[1] === ref) last[1] = next;
    else issued.push([ref, next]);
    refs.set(node, ref);
    nodes.set(ref, new WeakRef(node));
    return ref;
  }

  function resolve(ref: number): Resolved {
    const weak = nodes.get(ref);
    if (weak === undefined) {
      const ours = issued.some(([from, to]) => ref >= from && ref < to);
      return { status: ours ? 'removed' : 'unknown', node: null };
    }
    const node = weak.deref();
    if (node === undefined) return { status: 'removed', node: null };
    return { status: dom.isConnected(node) ? 'live' : 'removed', node };
  }

  /** Hands out what was given since `begin`, and forgets it. */
  function takeGiven(): readonly Element[] {
    const all = given ?? [];
    given = null;
    return all;
  }

  return {
    begin,
    give,
    nextRef: () => next,
    peek: (node: Node): number => refs.get(node) ?? 0,
    resolve,
    takeGiven,
  };
}

export type Refs = ReturnType<typeof refTable>;
