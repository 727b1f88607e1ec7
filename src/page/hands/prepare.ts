/// <reference lib="dom" />
import type { Described, InjectedApi } from '../injected/types.ts';
import type { Aiming, Begun, Ready } from './aim.ts';
import type { Guards } from './guard.ts';
import type { Primitives } from './primitives.ts';
import type { ElementStates } from './states.ts';
import type { AimAnswer, Aimed, AimOptions, Fault, Find, NotFound } from './types.ts';

/** From a target to a node that is ready to be used, in one call. Injected by its text. */
export function preparing(
  p: Primitives,
  states: ElementStates,
  aiming: Aiming,
  guards: Guards,
  api: InjectedApi,
) {
  const POLL_MS = 50;

  interface Located {
    node: Element;
    described: Described;
  }
  type Outcome =
    | { node: Element; described: Described; ready: Ready }
    | { described: Described; obstacle: Fault };

  let nextRef = 1;
  let held: { node: Element; described: Described; begun: Begun } | null = null;

  /** One look. */
  function look(find: Find): Located | NotFound {
    nextRef = Math.max(nextRef, find.nextRef);
    const answer = api.query(find.target, nextRef);
    nextRef = answer.nextRef;
    const [first, ...more] = answer.matches;
    const node = first === undefined ? null : api.node(first.ref);
    if (node !== null && first !== undefined && more.length === 0) return { node, described: first };
    const candidates = first === undefined ? answer.near : answer.matches;
    return { count: answer.count, candidates, ...(answer.error && { error: answer.error }), ...was(find) };
  }

  /** What a ref named, as long as the node is remembered. */
  function was(find: Find): { was?: Described } {
    if (find.target.ref === undefined) return {};
    const { node } = api.resolve(find.target.ref);
    if (node === null) return {};
    const told = api.describe(node);
    return { was: { ...told, name: told.name || (node.textContent ?? '').trim().replace(/\s+/g, ' ') } };
  }

  /** Waits for a node that does not exist yet; everything else is answered at once. */
  async function locate(find: Find): Promise<Located | NotFound> {
    const until = performance.now() + find.graceMs;
    for (;;) {
      const seen = look(find);
      if ('node' in seen || seen.count > 0 || seen.error !== undefined || performance.now() >= until)
        return seen;
      await p.pause(POLL_MS);
    }
  }

  function subject(node: Element, options: AimOptions): Element {
    return options.control === true ? states.controlOf(node) : node;
  }

  function isClosedOption(node: Element): boolean {
    if (!(node instanceof HTMLOptionElement)) return false;
    const list = p.near(node, 'select');
    return list instanceof HTMLSelectElement && !list.multiple && list.size <= 1;
  }

  /** Looks again when the page put a new node in the place of the one that was found, unless a ref named it. */
  async function outcome(find: Find, options: AimOptions): Promise<Outcome | NotFound> {
    const until = performance.now() + options.waitUntil - Date.now();
    for (;;) {
      const found = await locate(find);
      if (!('node' in found)) return found;
      const node = subject(found.node, options);
      const described = describe(node);
      const ready = isClosedOption(node)
        ? { point: { x: 0, y: 0 }, scrolled: false, instead: null }
        : await aiming.aim(node, options, until);
      if ('point' in ready) return { node, described, ready };
      const again = ready.why === 'gone' && find.target.ref === undefined && performance.now() < until;
      if (!again) return { described, obstacle: ready };
      await p.frame();
    }
  }

  /** A description with a ref, so that the caller can act on what it is told of. */
  function describe(el: Element): Described {
    const [ref, next] = api.refOf(el, nextRef);
    nextRef = next;
    const told = api.describe(el);
    return { ...told, ref, line: told.role === 'generic' ? `${told.line} ${tag(el)}` : told.line };
  }

  /** What an author would know an element by that has no role. */
  function tag(el: Element): string {
    const marks = ['id', 'class'].map((name) => [name, p.attr(el, name)?.slice(0, 80)] as const);
    const shown = marks
      .filter(([, value]) => value)
      .map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
    return `<${p.localName(el)}${shown.join('')}>`;
  }

  /** Null where there is anything to wait for. */
  function begin(find: Find, options: AimOptions): AimAnswer | null {
    const found = look(find);
    if (!('node' in found)) return null;
    const node = subject(found.node, options);
    const begun = isClosedOption(node) ? null : aiming.begin(node, options);
    if (begun === null || !('rested' in begun)) return null;
    const described = describe(node);
    const ready = { point: begun.at, scrolled: begun.scrolled, instead: null };
    if (begun.rested) return armed(node, described, ready, options);
    held = { node, described, begun };
    return { nextRef, aimed: { ...aimed(node, described, ready), unsettled: true } };
  }

  /** Goes on after an answer that was `unsettled`; where that came to nothing, prepares anew, with all its waiting. */
  async function settle(find: Find, options: AimOptions): Promise<AimAnswer> {
    const begun = held;
    held = null;
    const ready = begun && (await aiming.finish(begun.node, options, begun.begun));
    if (begun === null || ready === null || !('point' in ready)) {
      return prepare(find, { ...options, early: false });
    }
    nextRef = Math.max(nextRef, find.nextRef);
    return armed(begun.node, begun.described, ready, options);
  }

  function armed(node: Element, described: Described, ready: Ready, options: AimOptions): AimAnswer {
    if (options.guard === true) guards.arm(node);
    return { nextRef, aimed: aimed(node, described, ready) };
  }

  async function prepare(find: Find, options: AimOptions): Promise<AimAnswer> {
    guards.disarm();
    held = null;
    nextRef = Math.max(nextRef, find.nextRef);
    const early = options.early === true && window === top ? begin(find, options) : null;
    if (early !== null) return early;
    const found = await outcome(find, options);
    if ('obstacle' in found) {
      const by = found.obstacle.blocker === undefined ? {} : { by: describe(found.obstacle.blocker) };
      const { why, detail } = found.obstacle;
      return { nextRef, described: found.described, obstacle: { why, detail, ...by } };
    }
    if (!('ready' in found)) return { nextRef, missing: found };
    const { node, described, ready } = found;
    // In a frame the pointer has to be brought there first, which takes its time.
    if (window !== top && options.hit) guards.watchPointer(node, ready.point);
    else if (window === top && options.guard === true && options.force !== true) guards.arm(node);
    return { nextRef, aimed: aimed(node, described, ready) };
  }

  function aimed(node: Element, described: Described, ready: Ready): Aimed {
    return {
      point: ready.point,
      view: { width: innerWidth, height: innerHeight },
      scrolled: ready.scrolled,
      described,
      download: p.near(node, 'a[download]') !== null,
      fileField: states.kindOf(states.controlOf(node)) === 'file',
      closedOption: isClosedOption(node),
      ...(ready.instead === null ? {} : { instead: describe(ready.instead) }),
    };
  }

  return { describe, prepare, settle };
}

export type Preparing = ReturnType<typeof preparing>;
