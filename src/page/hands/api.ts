/// <reference lib="dom" />
import type { Described, InjectedApi, QueryAnswer, QueryTarget } from '../injected/types.ts';
import type { Choices } from './choice.ts';
import type { Fields } from './fields.ts';
import type { Guards } from './guard.ts';
import type { HitTests } from './hit.ts';
import type { Looking } from './look.ts';
import type { Owners } from './owner.ts';
import type { Preparing } from './prepare.ts';
import type { Primitives } from './primitives.ts';
import type { Scrolling } from './scrolling.ts';
import type { Texts } from './text.ts';
import type { Toggles } from './toggles.ts';
import type {
  AimAnswer,
  AimOptions,
  AssignReport,
  ChoiceReport,
  Fault,
  FieldState,
  Find,
  GuardReport,
  ListState,
  LookAnswer,
  LookOrder,
  NodeState,
  OwnerAnswer,
  OwnerHit,
  Point,
  ScrollAnswer,
  ScrollOrder,
  ToggleState,
  TypingReport,
  Wanted,
} from './types.ts';

/** What the service calls. Nodes are named by the numbers of their refs; everything is a JSON value. */
export interface Hands {
  query(target: QueryTarget, nextRef: number): QueryAnswer;
  look(order: LookOrder): Promise<LookAnswer>;
  prepare(find: Find, options: AimOptions): Promise<AimAnswer>;
  /** The rest of a `prepare` that answered `unsettled`, with the same arguments. */
  settle(find: Find, options: AimOptions): Promise<AimAnswer>;
  report(): Promise<GuardReport>;
  /** The latest pointer move came to the node that was prepared last, at its point. Known in frames only. */
  landed(): boolean;
  /** As `guard` of `prepare`, for a node in a frame. */
  guard(ref: number): true;
  /** The pointer is over the node. */
  hovered(ref: number): boolean;
  field(ref: number): FieldState;
  focus(ref: number): boolean;
  /** The ref of the element with the focus, 0 if there is none: `[ref, nextRef]`. */
  focusedRef(nextRef: number): [number, number];
  beginText(ref: number, mode: 'replace' | 'append'): FieldState | Fault;
  finishText(ref: number, before: string, change: boolean): Promise<TypingReport>;
  armEnter(ref: number): boolean;
  /** What got Enter in place of the field that it was armed for, and was kept from it. */
  enterWentTo(): Described | false;
  assign(ref: number, value: string): AssignReport;
  change(ref: number): void;
  choose(ref: number, wanted: Wanted): Promise<ChoiceReport>;
  /** Picks an option of a closed native list by the option itself. */
  chooseOption(ref: number): Promise<ChoiceReport>;
  list(ref: number, nextRef: number): ListState;
  toggle(ref: number): ToggleState;
  toggled(ref: number, wanted: ToggleState['state']): Promise<ToggleState>;
  scroll(ref: number, order: ScrollOrder): Promise<ScrollAnswer>;
  bringOwner(ref: number, part: Point): Promise<OwnerAnswer>;
  hitOwner(ref: number, point: Point): OwnerHit;
  describe(ref: number): Described;
  /** The states of nodes that are still there, in the order asked for. */
  statesOf(refs: number[]): NodeState[];
  /** Begins to look for a drop on the node; 0 is the whole document. */
  watchDrop(ref: number): boolean;
  dropped(ref: number): boolean;
}

/** Thrown to the service as the page's exception; its text is matched there. */
export const GONE = 'airlock: node is gone';

/** Injected by its text; its `gone` is `GONE`. */
export function handsApi(
  p: Primitives,
  api: InjectedApi,
  preparing: Preparing,
  guards: Guards,
  fields: Fields,
  texts: Texts,
  choices: Choices,
  toggles: Toggles,
  scrolls: Scrolling,
  owners: Owners,
  hits: HitTests,
  looks: Looking,
  gone: string,
): Hands {
  function node(ref: number): Element {
    const found = api.node(ref);
    if (found === null) throw new Error(gone);
    return found;
  }
  return {
    query: api.query,
    look: looks.look,
    prepare: preparing.prepare,
    settle: preparing.settle,
    report: guards.report,
    landed: guards.landed,
    guard: (ref) => guards.arm(node(ref)),
    hovered: (ref) => hits.standing(node(ref)).some((el) => p.is(el, ':hover')),
    field: (ref) => fields.state(node(ref)),
    focus: (ref) => fields.takeFocus(node(ref)),
    focusedRef: (nextRef) => {
      const el = p.focused(document);
      return el === null || el === document.body ? [0, nextRef] : api.refOf(el, nextRef);
    },
    beginText: (ref, mode) => texts.begin(node(ref), mode),
    // After the input the node may be gone, which is what the report is for.
    finishText: (ref, before, change) => texts.finish(api.resolve(ref).node ?? node(ref), before, change),
    armEnter: (ref) => texts.armEnter(node(ref)),
    enterWentTo: () => {
      const wrong = texts.enterWentTo();
      return wrong === null ? false : api.describe(wrong);
    },
    assign: (ref, value) => texts.assign(node(ref), value),
    change: (ref) => fields.announceChange(node(ref)),
    choose: (ref, wanted) => choices.choose(node(ref), wanted),
    chooseOption: (ref) => choices.chooseOption(node(ref)),
    list: (ref, nextRef) => toggles.list(node(ref), nextRef),
    toggle: (ref) => toggles.read(node(ref)),
    toggled: (ref, wanted) => toggles.settled(api.resolve(ref).node ?? node(ref), wanted),
    scroll: (ref, order) => scrolls.scroll(ref === 0 ? null : node(ref), order),
    bringOwner: (ref, part) => owners.bring(node(ref), part),
    hitOwner: (ref, point) => owners.hit(node(ref), point),
    describe: (ref) => api.describe(node(ref)),
    statesOf: (refs) => refs.flatMap((ref) => looks.stateOf(ref, api.node(ref)) ?? []),
    watchDrop: (ref) => guards.watchDrop(ref === 0 ? document.documentElement : node(ref)),
    dropped: () => guards.dropped(),
  };
}
