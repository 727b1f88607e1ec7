/** What crosses the line between the service and the code that reads a page for it. Types only. */
import type { QueryError } from '../../injected/types.ts';

/** - `text`: as a person sees it; `html`: as it is in the document; `clean`: what is painted, as simple HTML. */
export type ReadingKind = 'text' | 'html' | 'clean';

export interface ReadOrder {
  kind: ReadingKind;
  /** Number of the ref of the element to read; 0 is the whole document. */
  ref: number;
  /** The first ref number that is free. */
  nextRef: number;
  /** Characters that are kept at most. */
  limit: number;
  /** Print what Readability goes by: ids, classes. */
  hints: boolean;
}

export interface ReadAnswer {
  /** Text, and the number of the ref of an iframe where its document belongs. */
  pieces: (string | number)[];
  /** There is more than `limit`; the pieces end there. */
  over: boolean;
  url: string;
  title: string;
  nextRef: number;
}

export interface Link {
  /** Absolute. */
  url: string;
  /** What the link shows, else its accessible name. */
  text: string;
  visible: boolean;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export const FACTS = ['text', 'value', 'html', 'attributes', 'box'] as const;
export type FactName = (typeof FACTS)[number];

export interface Facts {
  ref: number;
  text?: string;
  value?: string | string[] | null;
  html?: string;
  attributes?: Record<string, string>;
  box?: Box | null;
  /** Computed values. */
  style?: Record<string, string>;
  /** What is longer than the limit, and ends there. */
  over: ('text' | 'html')[];
}

/** Names of CSS properties; none for a choice of common ones. */
export interface StyleOrder {
  names: string[];
}

/** What to take from a page; see extract.ts for its outer form. */
export interface FieldSpec {
  /** Within the element of the field around it; none is that element itself. */
  selector?: string;
  attr?: string;
  all?: boolean;
  fields?: Record<string, FieldSpec>;
  /** Whether there is such an element, in place of what it holds. */
  exists?: boolean;
}

export type Extracted = string | boolean | null | Extracted[] | { [name: string]: Extracted };

export interface ExtractAnswer {
  data?: { [name: string]: Extracted };
  error?: QueryError & { selector: string };
  over: boolean;
}

export interface RefsAnswer {
  /** At most as many as were asked for. */
  refs: number[];
  /** How many elements match. */
  count: number;
  nextRef: number;
  error?: QueryError;
}
