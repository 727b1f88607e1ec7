/// <reference lib="dom" />
import type { Dom } from './dom.ts';

/**
 * Since when elements have been where they are, as far as anybody looked. A snapshot looks at what it gives refs to, so an
 * action on one of them that is still in its place need not wait for a frame to see that it rests. Injected by its text.
 */
export function restingBoxes({ dom }: { dom: Dom }) {
  const boxes = new WeakMap<Element, { box: string; since: number }>();
  /** More elements than these are not looked at ahead; it would keep the page from its own work. */
  const AHEAD = 2000;

  /** Milliseconds for which the element is known to have had the box that it has. Looks now. */
  function restedFor(el: Element): number {
    const { x, y, width, height } = dom.getBoundingClientRect.call(el);
    const box = `${x.toFixed(1)} ${y.toFixed(1)} ${width.toFixed(1)} ${height.toFixed(1)}`;
    const now = performance.now();
    const known = boxes.get(el);
    if (known?.box === box) return now - known.since;
    boxes.set(el, { box, since: now });
    return 0;
  }

  /** Looks at elements in a task of its own, in nobody's time. */
  function lookSoon(elements: readonly Element[]): void {
    const some = elements.slice(0, AHEAD);
    setTimeout(() => {
      for (const el of some) if (dom.isConnected(el)) restedFor(el);
    });
  }

  return { lookSoon, restedFor };
}

export type Rests = ReturnType<typeof restingBoxes>;
