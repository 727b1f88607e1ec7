/**
 * What crosses the line between the service and the code inside a frame's isolated world. Types only: nothing of this
 * file exists at run time.
 */

/** How one frame is to be walked. Everything is required but what is written with `?`. */
export interface WalkOptions {
  /** The first number that may be given to a new ref; the session counts on from `nextRef` of the answer. */
  nextRef: number;
  /** Printed before each ref: '' for the main frame, 'f1' for a child frame (so `f1e2`). */
  prefix: string;
  /** Only what can be acted on, and its ancestors. */
  interactive?: boolean;
  /** Lines nested deeper than this many levels below the root are left out; 1 is the top level only. */
  depth?: number;
  /** Walk the subtree of this node instead of the document. */
  root?: { ref: number } | { selector: string };
  /** Only what is inside the viewport, and its ancestors. */
  viewport?: boolean;
  /** Print where links lead. */
  urls?: boolean;
  /** When the text is longer than this, containers with a large part of it get a ref too, so that a caller can ask for that part. */
  maxChars?: number;
  /** Print boxes: `[box=x,y,width,height]` in CSS pixels of the frame's viewport. */
  boxes?: boolean;
}

/** What one frame answers. */
export interface FrameText {
  /** Lines joined by `\n`, two spaces of indent for each level; '' for a page with nothing to say. */
  text: string;
  /** The first number that is still free. */
  nextRef: number;
  /** The iframes in `text`, in order: their ref and the index of their line. */
  frames: { ref: number; line: number }[];
  /** Elements that may hold a closed shadow root that this world has not been given yet (see `closedHosts`). */
  closedHosts: number;
  url: string;
  title: string;
  /** Set when the root of the subtree cannot be used; `text` is then ''. */
  error?: QueryError;
}

/** A ref that was asked for. */
export interface Resolved {
  /**
   * - `live`: the node is in the document;
   * - `removed`: this world gave out the ref, and its node is no longer in the document;
   * - `unknown`: this world never gave out this ref, so it belongs to an earlier document or to another frame.
   */
  status: 'live' | 'removed' | 'unknown';
  node: Element | null;
}

/** How an element is told to an agent: in candidates, in `covered`, in errors. */
export interface Described {
  /** The number of its ref, 0 if it has none. */
  ref: number;
  role: string;
  name: string;
  /** As printed: `checked`, `expanded=false`, `level=2` … */
  states: string[];
  value: string;
  /** As a snapshot would print the line, without `- `. */
  line: string;
  tag: string;
  visible: boolean;
}

/** The object forms of a target, `frame` taken off (the service picks the frame). Exactly one key besides `nth`. */
export interface QueryTarget {
  ref?: number;
  /** CSS; pierces shadow roots, also closed ones that this world was given. */
  selector?: string;
  xpath?: string;
  role?: string;
  name?: string;
  /** Whole and case-sensitive for name, text, label and placeholder; otherwise a part, whatever the case. */
  exact?: boolean;
  text?: string;
  label?: string;
  placeholder?: string;
  testId?: string;
  /** Counts from 0; negative from the end. */
  nth?: number;
}

export interface QueryError {
  /** `syntax` for a selector or XPath that cannot be parsed, `stale` and `unknown` for refs. */
  kind: 'syntax' | 'stale' | 'unknown' | 'not_found';
  message: string;
}

export interface QueryAnswer {
  /** How many elements match, before `nth`. */
  count: number;
  /** The matches in document order (after `nth`: one or none), at most 20. Each has been given a ref. */
  matches: Described[];
  /** What comes close, when nothing matches; at most 5, best first. Each has been given a ref. */
  near: Described[];
  nextRef: number;
  error?: QueryError;
}

/** The object that `injectedSource()` evaluates to. */
export interface InjectedApi {
  snapshot(options: WalkOptions): FrameText;
  resolve(ref: number): Resolved;
  /** The node of a live ref, for a handle to it; null otherwise. */
  node(ref: number): Element | null;
  /** The ref of a node, giving it one if it has none: `[ref, nextRef]`. */
  refOf(node: Element, nextRef: number): [number, number];
  describe(node: Element): Described;
  query(target: QueryTarget, nextRef: number): QueryAnswer;
  /** Milliseconds for which the element is known to have had the box that it has now. */
  restedFor(node: Element): number;
  /** Values of this node are printed as `[redacted]` from now on. */
  markSecret(node: Element): void;
  /** Elements that may hold a closed shadow root; at most 500. The service asks CDP and calls `adoptRoot`. */
  closedHosts(): Element[];
  /** Tells this world the closed root of a host; null when it has none, so that it is not asked for again. */
  adoptRoot(host: Element, root: ShadowRoot | null): void;
}
