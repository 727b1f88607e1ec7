/// <reference lib="dom" />
import type { Primitives } from './primitives.ts';
import type { Point, ScrollAnswer, ScrollOrder } from './types.ts';

/** Scrolling by amounts, to ends, and of a point into view. Always instant, whatever the page's scroll behaviour. */
export function scrolling(p: Primitives) {
  function canScroll(el: Element): boolean {
    const over = el.scrollHeight > el.clientHeight || el.scrollWidth > el.clientWidth;
    if (!over) return false;
    if (el === document.scrollingElement) return true;
    const { overflowX, overflowY } = p.styleOf(el);
    return /auto|scroll|hidden|overlay/.test(overflowX + overflowY);
  }

  /** What a wheel over the middle of the page would scroll, where the document itself has nothing to scroll. */
  function mainScroller(): Element {
    const top = document.scrollingElement ?? document.documentElement;
    if (canScroll(top)) return top;
    let best = top;
    let bestArea = 0;
    for (const el of document.querySelectorAll('*')) {
      if (el.scrollHeight <= el.clientHeight || !/auto|scroll|overlay/.test(p.styleOf(el).overflowY))
        continue;
      const area = el.clientWidth * el.clientHeight;
      if (area > bestArea) [best, bestArea] = [el, area];
    }
    return best;
  }

  /** The element itself if it scrolls, else what scrolls it. */
  function scrollerOf(node: Element): Element {
    for (let el: Element | null = node; el !== null; el = p.flatParent(el, [])) if (canScroll(el)) return el;
    return mainScroller();
  }

  function place(el: Element): Omit<ScrollAnswer, 'moved'> {
    const { scrollLeft, scrollTop } = el;
    return {
      x: Math.round(scrollLeft),
      y: Math.round(scrollTop),
      maxX: Math.max(0, el.scrollWidth - el.clientWidth),
      maxY: Math.max(0, el.scrollHeight - el.clientHeight),
    };
  }

  /** Scrolls the page, or the scroller of a node, and says where it stands. */
  async function scroll(node: Element | null, order: ScrollOrder): Promise<ScrollAnswer> {
    const el = node === null ? mainScroller() : scrollerOf(node);
    const before = place(el);
    const behavior = 'instant';
    if (order.to === 'top') el.scrollTo({ top: 0, behavior });
    else if (order.to === 'bottom') el.scrollTo({ top: el.scrollHeight, behavior });
    else el.scrollBy({ left: order.dx ?? 0, top: order.dy ?? 0, behavior });
    // What a page loads or fixes on scrolling it does in its scroll event, which comes with the next frame.
    await p.frame();
    await p.task();
    const after = place(el);
    return { ...after, moved: after.x !== before.x || after.y !== before.y };
  }

  function clipOf(el: Element): DOMRect {
    if (el === document.scrollingElement) return new DOMRect(0, 0, innerWidth, innerHeight);
    return p.rectOf(el);
  }

  /**
   * Scrolls whatever has to scroll until a point of a node is inside each scroller.
   * @param at where the point should come to lie, as a part of the scroller's height: 0.5 is the middle
   */
  function reveal(node: Element, point: () => Point, at: number, always: boolean): void {
    for (let el = p.flatParent(node, []); el !== null; el = p.flatParent(el, [])) {
      if (!canScroll(el)) continue;
      const { x, y } = point();
      const clip = clipOf(el);
      const margin = 8;
      const inX = x > clip.left + margin && x < clip.right - margin;
      const inY = y > clip.top + margin && y < clip.bottom - margin;
      if (inX && inY && !always) continue;
      const left = inX ? 0 : x - (clip.left + clip.width / 2);
      el.scrollBy({ left, top: y - (clip.top + clip.height * at), behavior: 'instant' });
    }
  }

  return { reveal, scroll };
}

export type Scrolling = ReturnType<typeof scrolling>;
