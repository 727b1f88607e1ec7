import { AirlockError } from '../errors.ts';

/** What stands against using an element, the `state` of `not_interactable`, and whether waiting may mend it. */
export const HINDRANCES = {
  /** Nothing of it is painted. */
  hidden: true,
  disabled: true,
  moving: true,
  /** No scrolling brings it into the viewport. */
  outside: true,
  /** Its frame has no area. */
  unlaid: true,
  /** The pointer does not get to it, in a frame of another process. */
  unreachable: true,
  /** It was clicked, and opened no list of options. */
  'no-list': true,
  /** It was clicked, and opened no chooser that takes files. */
  'no-chooser': true,
  /** It does not take the focus. */
  unfocusable: false,
  /** Nothing on the page has the focus. */
  unfocused: false,
  /** It is a frame: what is meant is inside. */
  frame: false,
  /** It is a file field, which takes files by upload. */
  file: false,
  /** It has no checked state. */
  'not-checkable': false,
  /** A radio is unchecked by checking another one. */
  radio: false,
  /** It is a text field, and no list. */
  'not-a-list': false,
} as const satisfies Record<string, boolean>;
export type Hindrance = keyof typeof HINDRANCES;

/** `not_interactable`, retryable where waiting may mend it. */
export function notInteractable(
  state: Hindrance,
  detail: string,
  extra: Readonly<Record<string, unknown>> = {},
): AirlockError {
  return new AirlockError('not_interactable', detail, {
    extra: { ...extra, state },
    retryable: HINDRANCES[state],
  });
}
