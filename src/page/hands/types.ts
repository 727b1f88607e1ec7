/// <reference lib="dom" />
/**
 * What crosses the line between the service and the code that acts inside a frame's isolated world. Types only.
 */
import type { Described, QueryTarget } from '../injected/types.ts';

/** How the node is found: again each time that it is not there, as long as patience lasts. */
export interface Find {
  target: QueryTarget;
  /** First free ref number of the session. */
  nextRef: number;
  /** Milliseconds to wait for a node that does not exist yet; refs are never waited for. */
  graceMs: number;
}

/** What must hold before the node is used. */
export interface Needs {
  /** Enabled: not `disabled`, not in a disabled fieldset, not `aria-disabled`. */
  enabled: boolean;
  /** Takes text (or a value) from a user. */
  editable: boolean;
  /** Same box in two frames, and the point is hit. */
  hit: boolean;
}

export interface AimOptions extends Needs {
  /** Until when to wait for all needs to hold, in `Date.now()` milliseconds: what comes before the look costs time too. */
  waitUntil: number;
  /** Offset from the top left corner of the node's box, CSS pixels. */
  position?: { x: number; y: number };
  /** Only find and scroll: a caller that takes the consequences. */
  force?: boolean;
  /** A label stands for its control: act on that. */
  control?: boolean;
  /**
   * Keep a press that would reach another element from it, and record what reached the node. In the main frame only;
   * in others the caller asks for it when the pointer is there.
   */
  guard?: boolean;
  /**
   * Answer `unsettled` where all that is left to see is that the node is at rest, which takes a frame: what the caller
   * has to do anyway can be done in that frame. In the main frame only.
   */
  early?: boolean;
}

export interface Point {
  x: number;
  y: number;
}

/** Why a node cannot be used now. */
export interface Obstacle {
  why:
    | 'gone'
    | 'hidden'
    | 'disabled'
    | 'readonly'
    | 'not-editable'
    | 'unfocusable'
    | 'unlaid'
    | 'moving'
    | 'covered'
    | 'outside'
    | 'beyond';
  /** One clause for a person, starting in lower case. */
  detail: string;
  /** What is hit instead, for `covered`. */
  by?: Described;
}

/** An obstacle as the page side passes it on. */
export interface Fault {
  why: Obstacle['why'];
  detail: string;
  blocker?: Element;
}

/** The node was not found, or not exactly one. */
export interface NotFound {
  count: number;
  candidates: Described[];
  error?: { kind: 'syntax' | 'stale' | 'unknown' | 'not_found'; message: string };
  /** What the ref named, for a stale one, if it is still known. */
  was?: Described;
}

export interface Aimed {
  point: Point;
  /** Width and height of the frame's viewport; the content box of its owner element has the same. */
  view: { width: number; height: number };
  scrolled: boolean;
  described: Described;
  /** The node is, or is in, a link that downloads. */
  download: boolean;
  /** With `force`: what the point hits where that is not the node. */
  instead?: Described;
  /** A file field, or the label of one. */
  fileField: boolean;
  /** An option of a closed list: it has no box, and is picked through its list. */
  closedOption: boolean;
  /** Not known to be at rest yet: `settle` says. */
  unsettled?: true;
}

export type AimAnswer = { nextRef: number } & (
  | { aimed: Aimed }
  | { obstacle: Obstacle; described: Described }
  | { missing: NotFound }
);

/** What happened to the input that was sent. */
export interface GuardReport {
  /** Types of the expected events that reached the node. */
  seen: string[];
  /** What got the first event in its place; it was kept from it. */
  wrong?: Described;
  /** The node is still in the document. */
  connected: boolean;
  /** The page has closed its window; the browser has yet to do it. */
  closing: boolean;
}

/** What a field takes; `none` for what is no field. */
export type FieldKind =
  | 'text'
  | 'rich'
  | 'date'
  | 'color'
  | 'range'
  | 'checkbox'
  | 'radio'
  | 'select'
  | 'file'
  | 'none';

/** A field as it is now. */
export interface FieldState {
  kind: FieldKind;
  /** The `type` of an input, the tag of anything else. */
  type: string;
  value: string;
  /** -1 without a limit. */
  maxLength: number;
  /** The value is not to be shown (a password). */
  secret: boolean;
  /** What is selected in it; entering text replaces it. */
  selected: string;
}

/** What became of text that was entered. */
export interface TypingReport {
  state: FieldState;
  /** Values of other fields that took a part of it. */
  spread: string[];
  connected: boolean;
}

/** An option of a list, as told to an agent. */
export interface OptionTold {
  value: string;
  label: string;
  index: number;
  selected: boolean;
  disabled: boolean;
}

/** What to choose; exactly one is given. */
export interface Wanted {
  values?: string[];
  labels?: string[];
  indexes?: number[];
  /** By value, else by label. */
  either?: string[];
}

export interface ChoiceReport {
  /** - `done`: selected, or was so already; the rest failed and changed nothing. */
  outcome: 'done' | 'not-found' | 'disabled' | 'too-many' | 'not-verified' | 'not-a-list';
  /** What of `Wanted` the outcome is about. */
  which?: string | number;
  options: OptionTold[];
  multiple: boolean;
}

export interface ToggleState {
  state: 'true' | 'false' | 'mixed' | 'none';
  radio: boolean;
}

/** A custom list (ARIA) and its options. */
export interface ListState {
  open: boolean;
  /** The node is the list itself, not what opens it. */
  isList: boolean;
  /** The node takes text, and nothing says that it has a list. */
  isField: boolean;
  options: (OptionTold & { ref: number })[];
  multiple: boolean;
  /** What the node shows as its choice. */
  shows: string;
  nextRef: number;
}

/** By amounts in CSS pixels, or to an end. */
export interface ScrollOrder {
  dx?: number;
  dy?: number;
  to?: 'top' | 'bottom';
}

/** Where a scroller stands, in CSS pixels. */
export interface ScrollAnswer {
  x: number;
  y: number;
  maxX: number;
  maxY: number;
  moved: boolean;
}

export interface OwnerAnswer {
  /** In the viewport of the owner's document. */
  point: Point;
  view: { width: number; height: number };
  scrolled: boolean;
  moving: boolean;
}

export interface OwnerHit {
  ok: boolean;
  by?: Described;
}

export interface AssignReport {
  /** The field took the value; if not, it holds what it held before. */
  ok: boolean;
  /** The field with the value as it understood it. */
  state: FieldState;
}

export type TargetState =
  | 'attached'
  | 'detached'
  | 'visible'
  | 'hidden'
  | 'enabled'
  | 'disabled'
  | 'editable'
  | 'checked'
  | 'unchecked'
  | 'focused';

/** What to look for. */
export interface LookOrder {
  nextRef: number;
  nextFrame: boolean;
  target?: QueryTarget;
  /** `visible` unless said. */
  state?: TargetState;
  text?: string;
  textGone?: string;
}

/** What is there. `text` and `textGone` say whether the condition holds. */
export interface LookAnswer {
  nextRef: number;
  url: string;
  title: string;
  target?: {
    holds: boolean;
    count: number;
    first?: Described & { enabled: boolean; focused: boolean };
    error?: NotFound['error'];
  };
  text?: boolean;
  textGone?: boolean;
}

/** What is true of a node now. */
export interface NodeState {
  ref: number;
  visible: boolean;
  enabled: boolean;
  editable: boolean;
  focused: boolean;
  /** `null` for what cannot be checked. */
  checked: boolean | 'mixed' | null;
  role: string;
  name: string;
}
