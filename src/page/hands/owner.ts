/// <reference lib="dom" />
import type { InjectedApi } from '../injected/types.ts';
import type { HitTests } from './hit.ts';
import type { Primitives } from './primitives.ts';
import type { Scrolling } from './scrolling.ts';
import type { OwnerAnswer, OwnerHit, Point } from './types.ts';

/** What a frame's parent document has to do so that a point inside the frame can be reached. Injected by its text. */
export function owners(p: Primitives, hits: HitTests, scrolls: Scrolling, api: InjectedApi) {
  /**
   * A point of the frame's viewport, in the viewport of this document. Exact unless the element is rotated or skewed;
   * the engine's quads are used for the event itself.
   */
  function toOuter(owner: Element, part: Point): Point {
    const rect = p.rectOf(owner);
    if (!(owner instanceof HTMLElement) || owner.offsetWidth === 0) return { x: rect.x, y: rect.y };
    const scaleX = rect.width / owner.offsetWidth;
    const scaleY = rect.height / owner.offsetHeight;
    const style = p.styleOf(owner);
    const left = owner.clientLeft + Number.parseFloat(style.paddingLeft);
    const top = owner.clientTop + Number.parseFloat(style.paddingTop);
    const width =
      owner.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
    const height =
      owner.clientHeight - Number.parseFloat(style.paddingTop) - Number.parseFloat(style.paddingBottom);
    return {
      x: rect.left + (left + part.x * width) * scaleX,
      y: rect.top + (top + part.y * height) * scaleY,
    };
  }

  function reaches(owner: Element, part: Point): boolean {
    return hits.test(owner, [owner], toOuter(owner, part)).ok;
  }

  /**
   * Brings a point of a frame into view, given as parts of the frame's width and height, and waits until the frame's
   * box is the same in two frames.
   */
  async function bring(owner: Element, part: Point): Promise<OwnerAnswer> {
    let scrolled = false;
    for (const at of [null, 0.5, 0.75, 0.25]) {
      if (reaches(owner, part)) break;
      scrolls.reveal(owner, () => toOuter(owner, part), at ?? 0.5, at !== null);
      scrolled = true;
    }
    let point = toOuter(owner, part);
    for (let tries = 0; tries < 30; tries++) {
      await p.frame();
      const now = toOuter(owner, part);
      const same = Math.abs(now.x - point.x) < 0.1 && Math.abs(now.y - point.y) < 0.1;
      point = now;
      if (same) return { point, view: { width: innerWidth, height: innerHeight }, scrolled, moving: false };
    }
    return { point, view: { width: innerWidth, height: innerHeight }, scrolled, moving: true };
  }

  /** Whether a point of this document's viewport reaches the frame. */
  function hit(owner: Element, point: Point): OwnerHit {
    const found = hits.test(owner, [owner], point);
    return found.ok || found.by === null ? { ok: found.ok } : { ok: false, by: api.describe(found.by) };
  }

  return { bring, hit };
}

export type Owners = ReturnType<typeof owners>;
