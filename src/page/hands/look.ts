/// <reference lib="dom" />
import type { Described, InjectedApi, QueryAnswer } from '../injected/types.ts';
import type { Primitives } from './primitives.ts';
import type { ElementStates } from './states.ts';
import type { Toggles } from './toggles.ts';
import type { LookAnswer, LookOrder, NodeState, TargetState } from './types.ts';

/** What is on the page right now, for waiting and asserting. Injected by its text. */
export function looking(p: Primitives, states: ElementStates, checks: Toggles, api: InjectedApi) {
  function holds(el: Element, state: TargetState): boolean {
    const subject = states.controlOf(el);
    switch (state) {
      case 'attached':
        return true;
      case 'visible':
        return states.isVisible(el) || states.standIn(subject) !== null;
      case 'hidden':
        return !states.isVisible(el);
      case 'enabled':
        return !states.isDisabled(subject);
      case 'disabled':
        return states.isDisabled(subject);
      case 'editable':
        return !states.isDisabled(subject) && states.editability(subject) === null;
      case 'checked':
        return checks.read(subject).state === 'true';
      case 'unchecked':
        return checks.read(subject).state === 'false';
      case 'focused':
        return p.focused(subject) === subject;
      default:
        return false;
    }
  }

  function nodesOf(answer: QueryAnswer): Element[] {
    return answer.matches.flatMap(({ ref }) => api.node(ref) ?? []);
  }

  /** Of several matches one has to be in the state; for `hidden` and `detached` all. */
  function judge(answer: QueryAnswer, state: TargetState): boolean {
    if (state === 'detached') return answer.count === 0;
    const nodes = nodesOf(answer);
    if (state === 'hidden') return nodes.every((el) => holds(el, state));
    return nodes.some((el) => holds(el, state));
  }

  const fold = (text: string): string => text.replace(/\s+/g, ' ').trim().toLowerCase();

  /** Text as it is laid out: what stands in two blocks is not one word. Shadow roots are not part of their host's. */
  function shownTexts(): string[] {
    const out: string[] = [];
    const add = (el: Element) => {
      // biome-ignore lint/performance/useDomNodeTextContent: hidden text is not on the page, and blocks end a line
      if (el instanceof HTMLElement) out.push(fold(el.innerText));
    };
    const roots: (Document | ShadowRoot)[] = [document];
    for (let root = roots.pop(); root !== undefined; root = roots.pop()) {
      if (root instanceof ShadowRoot) for (const child of root.children) add(child);
      else add(document.documentElement);
      for (const el of p.allIn(root)) {
        const inner = p.shadowRoot(el);
        if (inner !== null) roots.push(inner);
      }
    }
    return out;
  }

  function isShown(text: string): boolean {
    const wanted = fold(text);
    return shownTexts().some((shown) => shown.includes(wanted));
  }

  function seenOf(el: Element): Described & { enabled: boolean; focused: boolean } {
    const told = api.describe(el);
    return { ...told, enabled: !states.isDisabled(states.controlOf(el)), focused: p.focused(el) === el };
  }

  /** Waits for the page's next frame first, if told to, so that a caller who asks again asks once a frame. */
  async function look(order: LookOrder): Promise<LookAnswer> {
    if (order.nextFrame) await p.frame();
    const answer: LookAnswer = { nextRef: order.nextRef, url: location.href, title: document.title };
    if (order.target !== undefined) {
      const found = api.query(order.target, answer.nextRef);
      const first = nodesOf(found)[0];
      answer.nextRef = found.nextRef;
      answer.target = { holds: judge(found, order.state ?? 'visible'), count: found.count };
      if (found.error !== undefined) answer.target.error = found.error;
      if (first !== undefined) answer.target.first = seenOf(first);
    }
    if (order.text !== undefined) answer.text = isShown(order.text);
    if (order.textGone !== undefined) answer.textGone = !isShown(order.textGone);
    return answer;
  }

  function stateOf(ref: number, el: Element | null): NodeState | null {
    if (el === null) return null;
    const subject = states.controlOf(el);
    const { state } = checks.read(subject);
    const { role, name } = api.describe(el);
    return {
      ref,
      visible: holds(el, 'visible'),
      enabled: holds(el, 'enabled'),
      editable: holds(el, 'editable'),
      focused: holds(el, 'focused'),
      checked: state === 'none' ? null : state === 'mixed' ? 'mixed' : state === 'true',
      role,
      name: name.slice(0, 1000),
    };
  }

  return { look, stateOf };
}

export type Looking = ReturnType<typeof looking>;
