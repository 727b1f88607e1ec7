/// <reference lib="dom" />
import type { Dom } from './dom.ts';

/**
 * Since when elements have been where they are, as far as anybody looked. A snapshot looks at what it gives refs to, so an
 * action on one of them that is still in its place need not wait for a frame to see that it rests. Injected by its text.
 */
export function restingBoxes({ dom }: { dom: Dom }) {
  const places = new WeakMap<Element, { box: DOMRect; since: number }>();
  /** CSS pixels: less is no movement. */
  const STILL = 0.05;
  /** So many are looked at while the layout is at hand; for more there is a task of its own, in nobody's time. */
  const AT_ONCE = 100;
  /** More than these are not looked at ahead: it would keep the page from its own work. */
  const AHEAD = 2000;

  function same(a: DOMRect, b: DOMRect): boolean {
    return (
      Math.abs(a.x - b.x) < STILL &&
      Math.abs(a.y - b.y) < STILL &&
      Math.abs(a.width - b.width) < STILL &&
      Math.abs(a.height - b.height) < STILL
    );
  }

  /** Milliseconds for which the element is known to have had the box that it has. Looks now. */
  function restedFor(el: Element): number {
    const box = dom.getBoundingClientRect.call(el);
    const now = performance.now();
    const known = places.get(el);
    if (known !== undefined && same(known.box, box)) return now - known.since;
    places.set(el, { box, since: now });
    return 0;
  }

  /** Looks at elements ahead of the actions on them. */
  function lookAhead(elements: readonly Element[]): void {
    const look = () => {
      for (const el of elements.slice(0, AHEAD)) if (dom.isConnected(el)) restedFor(el);
    };
    if (elements.length <= AT_ONCE) look();
    else setTimeout(look);
  }

  return { lookAhead, restedFor };
}

export type Rests = ReturnType<typeof restingBoxes>;
