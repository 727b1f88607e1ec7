/// <reference lib="dom" />
import type { Primitives } from './primitives.ts';
import type { ElementStates } from './states.ts';
import type { Point } from './types.ts';

/** What a pointer event at a point would reach. */
export interface Hit {
  ok: boolean;
  /** Between the node and what is hit lies another control, that would take the event for itself. */
  nested: boolean;
  /** What is hit; null outside of the viewport. */
  by: Element | null;
}

/** Hit testing. Injected by its text. */
export function hitTests(p: Primitives, states: ElementStates) {
  const CONTROL =
    'a[href],button,input,select,textarea,summary,label,[contenteditable],[tabindex],[onclick],[role=button],[role=link],[role=checkbox],[role=switch],[role=menuitem],[role=tab],[role=option]';
  const LINE =
    'a[href],button,label,summary,[role=button],[role=link],[role=option],[role=menuitem],[role=tab]';

  /** The deepest element at the point, as the trees that hold `node` see it. */
  function deepest(node: Element, x: number, y: number): Element | null {
    let el: Element | null = null;
    for (const root of p.roots(node)) {
      if (root instanceof ShadowRoot) {
        if (el !== root.host) return el;
        el = root.elementFromPoint(x, y) ?? el;
      } else {
        el = p.elementFromPoint.call(root, x, y);
      }
    }
    return el;
  }

  /** The elements that may stand for the node: itself, its labels, and what it is a see-through part of. */
  function standing(node: Element): Element[] {
    const out = [node, ...states.labelsOf(node)];
    if (p.styleOf(node).pointerEvents === 'none') {
      const line = p.near(node, LINE);
      if (line !== null) out.push(line);
    }
    return out;
  }

  function test(node: Element, accepted: readonly Element[], point: Point): Hit {
    const by = deepest(node, point.x, point.y);
    const known = p.roots(node);
    let nested = false;
    for (let el = by; el !== null; el = p.flatParent(el, known)) {
      if (accepted.includes(el)) return { ok: true, nested, by };
      nested ||= p.is(el, CONTROL);
    }
    return { ok: false, nested: false, by };
  }

  /** Places to try in a box, best first. Shapes and partly covered boxes are hit off the centre. */
  const PLACES = [
    [0.5, 0.5],
    [0.25, 0.5],
    [0.75, 0.5],
    [0.5, 0.25],
    [0.5, 0.75],
    [0.1, 0.15],
    [0.9, 0.15],
    [0.1, 0.85],
    [0.9, 0.85],
  ] as const;

  function pointsOf(el: Element): Point[] {
    const out: Point[] = [];
    // The root takes the events of the whole viewport, however little of it its box covers (CSSOM View, elementFromPoint).
    const whole = el === document.documentElement ? [new DOMRect(0, 0, innerWidth, innerHeight)] : null;
    for (const rect of whole ?? states.boxesOf(el).slice(0, 12)) {
      const left = Math.max(0, rect.left);
      const top = Math.max(0, rect.top);
      const width = Math.min(innerWidth, rect.right) - left;
      const height = Math.min(innerHeight, rect.bottom) - top;
      if (width <= 0 || height <= 0) continue;
      for (const [fx, fy] of PLACES) out.push({ x: left + width * fx, y: top + height * fy });
    }
    return out;
  }

  interface Found {
    point: Point;
    hit: Hit;
  }

  /** The best of some points: one that reaches the node and no control inside it, else one that reaches it at all. */
  function best(node: Element, accepted: readonly Element[], points: readonly Point[]): Found | null {
    let second: Found | null = null;
    let miss: Found | null = null;
    for (const point of points) {
      const hit = test(node, accepted, point);
      if (hit.ok && !hit.nested) return { point, hit };
      if (hit.ok) second ??= { point, hit };
      else if (miss === null || miss.hit.by === null) miss = { point, hit };
    }
    return second ?? miss;
  }

  /** Where to aim now, without scrolling. Null: nothing of the node is in the viewport. */
  function find(node: Element, position: Point | undefined): Found | null {
    const accepted = standing(node);
    if (position !== undefined) {
      const { left, top } = p.rectOf(states.anchorOf(node));
      const point = { x: left + position.x, y: top + position.y };
      const inside = point.x >= 0 && point.y >= 0 && point.x < innerWidth && point.y < innerHeight;
      return inside ? { point, hit: test(node, accepted, point) } : null;
    }
    const own = states.isVisible(node) ? best(node, accepted, pointsOf(node)) : null;
    if (own?.hit.ok === true) return own;
    const label = states.standIn(node);
    if (label === null) return own;
    const through = best(node, accepted, pointsOf(label));
    return through?.hit.ok === true ? through : (own ?? through);
  }

  return { find, standing, test };
}

export type HitTests = ReturnType<typeof hitTests>;
