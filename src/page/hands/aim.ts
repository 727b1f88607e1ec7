/// <reference lib="dom" />
import type { InjectedApi } from '../injected/types.ts';
import type { Hit, HitTests } from './hit.ts';
import type { Primitives } from './primitives.ts';
import type { Scrolling } from './scrolling.ts';
import type { ElementStates } from './states.ts';
import type { AimOptions, Fault, Point } from './types.ts';

/** A node that is ready, and where to send the pointer. */
export interface Ready {
  point: Point;
  scrolled: boolean;
  /** With `force` only: what is hit in place of the node. */
  instead: Element | null;
}

/** A node that looks ready, before it is known to be at rest. */
export interface Begun {
  at: Point;
  scrolled: boolean;
  /** When its place was looked at, by `performance.now()`. */
  since: number;
  /** It was in the same place in an earlier frame: there is nothing to wait for. */
  rested: boolean;
}

/** Scrolls to a node, waits until it can be used, and finds the point. Injected by its text. */
export function aiming(
  p: Primitives,
  states: ElementStates,
  hits: HitTests,
  scrolls: Scrolling,
  api: InjectedApi,
) {
  /** Milliseconds that are a frame for sure, on a display of 60 Hz or more. */
  const A_FRAME = 34;
  const MOVING: Fault = { why: 'moving', detail: 'the element is moving' };

  /** Where in the viewport the node, or the point of it, is to come: as a part of the height, and as CSSOM says it. */
  const ALIGNMENTS: [number, ScrollLogicalPosition][] = [
    [0.5, 'center'],
    [0.8, 'end'],
    [0.2, 'start'],
    [0.65, 'nearest'],
  ];

  interface Attempt {
    point: Point | null;
    hit: Hit | null;
    scrolled: boolean;
  }

  /** Finds a point that reaches the node; scrolls, in one alignment after the other, only if there is none. */
  function attempt(node: Element, position: Point | undefined): Attempt {
    const here = hits.find(node, position);
    if (here?.hit.ok === true) return { ...here, scrolled: false };
    let miss = here;
    const anchor = states.anchorOf(node);
    for (const [at, block] of ALIGNMENTS) {
      bring(anchor, block, at, position);
      const there = hits.find(node, position);
      if (there?.hit.ok === true) return { ...there, scrolled: true };
      miss = there ?? miss;
    }
    return { point: miss?.point ?? null, hit: miss?.hit ?? null, scrolled: true };
  }

  /** A point that was asked for may lie far from what the engine would bring into view of a large node. */
  function bring(
    anchor: Element,
    block: ScrollLogicalPosition,
    at: number,
    position: Point | undefined,
  ): void {
    if (position === undefined) {
      p.scrollIntoView.call(anchor, { block, inline: block, behavior: 'instant' });
      return;
    }
    const point = () => {
      const rect = p.rectOf(anchor);
      return { x: rect.left + position.x, y: rect.top + position.y };
    };
    scrolls.reveal(anchor, point, at, block !== 'center');
  }

  function missed(node: Element, hit: Hit | null): Fault {
    if (p.near(node, '[inert]') !== null)
      return { why: 'disabled', detail: 'the element is in an inert part of the page' };
    if (hit === null || hit.by === null) {
      return { why: 'outside', detail: 'no scrolling brings the element into the viewport' };
    }
    return { why: 'covered', detail: 'another element covers it', blocker: hit.by };
  }

  /** A position outside of what the node paints can never reach it. The root takes the events of the whole viewport. */
  function beyond(node: Element, position: Point | undefined): Fault | null {
    const anchor = states.anchorOf(node);
    if (position === undefined || anchor === document.documentElement) return null;
    const own = p.rectOf(anchor);
    const [x, y] = [own.left + position.x, own.top + position.y];
    const boxes = [own, ...states.boxesOf(anchor)];
    const [left, right] = [Math.min(...boxes.map((b) => b.left)), Math.max(...boxes.map((b) => b.right))];
    const [top, bottom] = [Math.min(...boxes.map((b) => b.top)), Math.max(...boxes.map((b) => b.bottom))];
    if (x >= left && x < right && y >= top && y < bottom) return null;
    const size = `${Math.round(right - left)} × ${Math.round(bottom - top)}`;
    return {
      why: 'beyond',
      detail: `${position.x}, ${position.y} is outside of the element's box of ${size} CSS pixels`,
    };
  }

  /** The node, or something that carries it, is in a finite or endless animation or transition. */
  function animated(node: Element): boolean {
    const running = document.getAnimations().filter((animation) => animation.playState === 'running');
    if (running.length === 0) return false;
    const line = new Set<Element>();
    for (let el: Element | null = node; el !== null; el = p.flatParent(el, [])) line.add(el);
    return running.some(({ effect }) => {
      const target = effect instanceof KeyframeEffect ? effect.target : null;
      return target !== null && line.has(target);
    });
  }

  /** The frame's iframe is not displayed; a frame of another process keeps its size then, but lays nothing out. */
  function isUnlaid(): boolean {
    if (innerWidth === 0 || innerHeight === 0) return true;
    return window !== top && p.rectOf(document.documentElement).width === 0;
  }

  /** The first half of a try: everything holds now. A node that is not known to be at rest is looked at again a frame later. */
  function begin(node: Element, options: AimOptions): Begun | Ready | Fault {
    if (isUnlaid()) return { why: 'unlaid', detail: 'the frame that it is in has no area' };
    const fault = states.obstacle(node, options);
    if (fault !== null) return fault;
    if (!options.hit) {
      p.scrollIntoView.call(node, { block: 'nearest', inline: 'nearest', behavior: 'instant' });
      return { point: { x: 0, y: 0 }, scrolled: false, instead: null };
    }
    const outside = beyond(node, options.position);
    if (outside !== null) return outside;
    const { point, hit, scrolled } = attempt(node, options.position);
    if (point === null || hit === null || !hit.ok) return missed(node, hit);
    const anchor = states.anchorOf(node);
    // No animation may be about to move it either.
    const rested = api.restedFor(anchor) >= A_FRAME && !document.hidden && !animated(anchor);
    return { at: point, scrolled, since: performance.now(), rested };
  }

  /** The second half. Takes a frame, or two where an animation that has just begun may not have moved the node yet. */
  async function finish(node: Element, options: AimOptions, begun: Begun): Promise<Ready | Fault> {
    const { at: point, scrolled } = begun;
    if (begun.rested) return { point, scrolled, instead: null };
    const anchor = states.anchorOf(node);
    const drawn = await p.frame();
    // An animation stands still where nothing is drawn; that is not being at rest.
    if (animated(anchor) && !(drawn && (await p.frame())) && !document.hidden) return MOVING;
    const after = states.obstacle(node, options);
    if (after !== null) return after;
    const elapsed = performance.now() - begun.since;
    if (api.restedFor(anchor) < elapsed) return MOVING;
    const again = hits.test(node, hits.standing(node), point);
    return again.ok ? { point, scrolled, instead: null } : missed(node, again);
  }

  async function once(node: Element, options: AimOptions): Promise<Ready | Fault> {
    const begun = begin(node, options);
    return 'rested' in begun ? finish(node, options, begun) : begun;
  }

  /** Takes the consequences: no waiting, no hit test. */
  function forced(node: Element, options: AimOptions): Ready | Fault {
    const fault = states.obstacle(node, { enabled: false, editable: false, hit: true });
    if (fault !== null) return fault;
    const outside = beyond(node, options.position);
    if (outside !== null) return outside;
    const { point, hit, scrolled } = attempt(node, options.position);
    if (point === null) return missed(node, null);
    return { point, scrolled, instead: hit?.ok === true ? null : (hit?.by ?? null) };
  }

  /**
   * What will not pass by itself: a thing that is no field does not become one. In a frame without an area the engine
   * slows timers to one a second, so that waiting there would not end in time.
   */
  function lasting(node: Element, fault: Fault): boolean {
    // What grows may grow that far.
    if (fault.why === 'beyond') return !animated(states.anchorOf(node));
    return fault.why === 'gone' || fault.why === 'not-editable' || fault.why === 'unlaid';
  }

  /** Tries until all needs hold, the node is gone, or `until` (`performance.now()`) has passed. */
  async function aim(node: Element, options: AimOptions, until: number): Promise<Ready | Fault> {
    if (options.force === true) return forced(node, options);
    for (;;) {
      const result = await once(node, options);
      if ('point' in result || lasting(node, result) || performance.now() >= until) return result;
      // Each try on a covered node scrolls: not in every frame.
      const scrolls = result.why === 'covered' || result.why === 'outside';
      const left = until - performance.now();
      await (scrolls ? p.pause(Math.min(100, left)) : p.frame(left));
    }
  }

  return { aim, attempt, begin, finish };
}

export type Aiming = ReturnType<typeof aiming>;
