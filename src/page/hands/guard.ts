/// <reference lib="dom" />
import type { InjectedApi } from '../injected/types.ts';
import type { HitTests } from './hit.ts';
import type { Primitives } from './primitives.ts';
import type { GuardReport, Point } from './types.ts';

interface Watch {
  node: Element;
  accepted: readonly Element[];
  known: readonly Node[];
  seen: Set<string>;
  wrong: Element | null;
  /** The first press was judged; what follows it belongs to the same input. */
  judged: boolean;
  expiresAt: number;
  stop(): void;
}

/**
 * Sees where the input of an action arrives. The page may move things between the hit test and the event; a press that
 * would reach another element is kept from it. Injected by its text.
 */
export function guards(p: Primitives, hits: HitTests, api: InjectedApi) {
  const PRESS = [
    'pointerdown',
    'mousedown',
    'pointerup',
    'mouseup',
    'click',
    'dblclick',
    'auxclick',
    'contextmenu',
  ];
  /** Milliseconds after which an unused watch lets everything pass: its action was ended from outside. */
  const LIFE = 4000;
  let current: Watch | null = null;
  /** CSS pixels: what scaling and rounding may make of a point. */
  const NEAR = 3;

  function reaches(watch: Pick<Watch, 'accepted' | 'known'>, path: readonly EventTarget[]): boolean {
    const first = path[0];
    for (let el = first instanceof Element ? first : null; el !== null; el = p.flatParent(el, watch.known)) {
      if (watch.accepted.includes(el)) return true;
    }
    // What happens in a closed root shows as its host from outside.
    return watch.known.some((root) => root instanceof ShadowRoot && root.host === first);
  }

  function onEvent(watch: Watch, event: Event): void {
    if (watch !== current || !event.isTrusted) return;
    if (!watch.judged && performance.now() > watch.expiresAt) {
      disarm();
      return;
    }
    const path = event.composedPath();
    const ok = reaches(watch, path);
    if (ok) watch.seen.add(event.type);
    if (!watch.judged) {
      watch.judged = true;
      if (!ok) watch.wrong = path[0] instanceof Element ? path[0] : document.documentElement;
    }
    if (watch.wrong === null) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  function arm(node: Element): true {
    disarm();
    const listener = (event: Event) => onEvent(watch, event);
    const options = { capture: true, passive: false };
    const stop = () => {
      for (const type of PRESS) removeEventListener(type, listener, options);
    };
    const watch: Watch = {
      node,
      accepted: hits.standing(node),
      known: p.roots(node),
      seen: new Set(),
      wrong: null,
      judged: false,
      expiresAt: performance.now() + LIFE,
      stop,
    };
    for (const type of PRESS) addEventListener(type, listener, options);
    current = watch;
    return true;
  }

  function disarm(): void {
    current?.stop();
    current = null;
  }

  /**
   * Ends the watch. A form is submitted by a task that the input has queued, and that is let run first; it takes a frame,
   * since Chrome draws before it runs tasks after an input. Everything else that a click begins is told before.
   */
  async function report(): Promise<GuardReport> {
    if (p.inDocument('form').length > 0) await p.task();
    const watch = current;
    disarm();
    const closing = window.closed;
    if (watch === null) return { seen: [], connected: false, closing };
    const wrong = watch.wrong === null ? {} : { wrong: api.describe(watch.wrong) };
    return { seen: [...watch.seen], connected: p.isConnected(watch.node), closing, ...wrong };
  }

  let pointer: { node: Element; at: Point; landed: boolean; stop(): void } | null = null;

  /** Looks out for a move that reaches the node, or its label, at a place of this frame's viewport. */
  function watchPointer(node: Element, at: Point): void {
    pointer?.stop();
    const known = p.roots(node);
    const accepted = hits.standing(node);
    const listener = (event: MouseEvent) => {
      if (!event.isTrusted) return;
      const there = Math.abs(event.clientX - at.x) <= NEAR && Math.abs(event.clientY - at.y) <= NEAR;
      watch.landed = there && reaches({ accepted, known }, event.composedPath());
    };
    const stop = () => removeEventListener('mousemove', listener, true);
    const watch = { node, at, landed: false, stop };
    addEventListener('mousemove', listener, true);
    pointer = watch;
  }

  /** The latest move of the pointer came to the node at the place that was aimed at. */
  function landed(): boolean {
    return pointer?.landed === true;
  }

  let drop: { seen: boolean; stop(): void } | null = null;

  /** Looks out for a drop that reaches the node. */
  function watchDrop(node: Element): true {
    drop?.stop();
    const known = p.roots(node);
    const watch = { seen: false, stop: () => removeEventListener('drop', listener, true) };
    const listener = (event: Event) => {
      const first = event.composedPath()[0];
      for (let el = first instanceof Element ? first : null; el !== null; el = p.flatParent(el, known)) {
        if (el === node && event.isTrusted) watch.seen = true;
      }
    };
    addEventListener('drop', listener, true);
    drop = watch;
    return true;
  }

  function dropped(): boolean {
    const seen = drop?.seen === true;
    drop?.stop();
    drop = null;
    return seen;
  }

  return { arm, disarm, dropped, landed, report, watchDrop, watchPointer };
}

export type Guards = ReturnType<typeof guards>;
