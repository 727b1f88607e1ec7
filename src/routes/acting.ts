import { type Static, type TObject, Type } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import { CheckInput, check, uncheck } from '../page/actions/check.ts';
import { ClearInput, clear } from '../page/actions/clear.ts';
import { ClickInput, click } from '../page/actions/click.ts';
import { DragInput, drag } from '../page/actions/drag.ts';
import type { ActionResult } from '../page/actions/effects.ts';
import { FillInput, fill } from '../page/actions/fill.ts';
import { FillFormInput, fillForm } from '../page/actions/fill-form.ts';
import { FocusInput, focus } from '../page/actions/focus.ts';
import { HoverInput, hover } from '../page/actions/hover.ts';
import { MouseInput, mouse } from '../page/actions/mouse.ts';
import { PressInput, press } from '../page/actions/press.ts';
import { ScrollInput, scroll } from '../page/actions/scroll.ts';
import { SelectInput, select } from '../page/actions/select.ts';
import { TypeInput, type as typeText } from '../page/actions/type.ts';
import { UploadInput, upload } from '../page/actions/upload.ts';
import type { Operation } from '../page/operation.ts';
import { DialogSchema } from '../page/schema.ts';
import { snapshot as readPage, WHOLE_PAGE } from '../page/snapshot/snapshot.ts';
import { type AnyOperation, defineOperation, type RequestFacts } from './define.ts';

/** What every action answers. Some add a member of their own: `value`, `selected`, `hit`. */
const ActionAnswer = Type.Object({
  ok: Type.Literal(true),
  tab: Type.String({ description: 'the tab that was acted on' }),
  url: Type.String({ 'x-untrusted': true, description: 'of that tab after the action' }),
  navigated: Type.Boolean({ description: 'the tab has a new document or a new URL' }),
  navigating: Type.Optional(
    Type.String({ 'x-untrusted': true, description: 'a navigation that has not come yet' }),
  ),
  dialog: Type.Optional(DialogSchema),
  newTabs: Type.Optional(
    Type.Array(Type.Object({ id: Type.String(), url: Type.String({ 'x-untrusted': true }) })),
  ),
  downloads: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String(),
        url: Type.String({ 'x-untrusted': true }),
        suggestedName: Type.String({ 'x-untrusted': true }),
        state: Type.Enum(['inProgress', 'completed', 'canceled', 'denied']),
      }),
    ),
  ),
  closed: Type.Optional(Type.Literal(true, { description: 'the action closed its own tab' })),
  value: Type.Optional(Type.Unknown({ 'x-untrusted': true, description: 'what a field holds now' })),
  selected: Type.Optional(Type.Array(Type.String(), { 'x-untrusted': true })),
  values: Type.Optional(
    Type.Array(Type.Union([Type.String(), Type.Null()]), {
      'x-untrusted': true,
      description: 'fill-form: what each field holds now',
    }),
  ),
  scroll: Type.Optional(
    Type.Unknown({ description: 'scroll: where the scroller stands and how far it can go, in CSS pixels' }),
  ),
  kind: Type.Optional(Type.Enum(['html5', 'pointer'], { description: 'drag: how it was carried out' })),
  files: Type.Optional(
    Type.Array(Type.Object({ name: Type.String(), size: Type.Integer(), type: Type.String() }), {
      description: 'upload: what the input holds, or held until the page emptied it',
    }),
  ),
  hit: Type.Optional(Type.Unknown({ 'x-untrusted': true, description: 'with force: what got the click' })),
  snapshot: Type.Optional(Type.String({ 'x-untrusted': true, description: 'the page after the action' })),
});

const WithSnapshot = {
  snapshot: Type.Optional(
    Type.Union([Type.Boolean(), Type.Literal('diff')], {
      description:
        'answer with the new snapshot, or with what changed since the last one, so that one call is a step',
    }),
  ),
};

interface Action<I extends TObject> {
  readonly name: string;
  readonly summary: string;
  readonly input: I;
  readonly errors?: readonly ErrorCode[];
  readonly multipart?: boolean | 'also';
  run(op: Operation, input: Static<I>, request: RequestFacts): Promise<ActionResult>;
}

/** Problems of everything that acts on an element. */
const TARGET_ERRORS: readonly ErrorCode[] = [
  'invalid_target',
  'target_not_found',
  'ambiguous_target',
  'stale_ref',
  'frame_not_found',
  'not_interactable',
  'covered',
  'not_verified',
  // The page that the action led to.
  'policy_denied',
  'navigation_failed',
];

/** One action: its route, with the snapshot that an agent may ask for in the same call. */
function action<I extends TObject>(definition: Action<I>): AnyOperation {
  const { name, summary, input, errors = [], multipart = false, run } = definition;
  return defineOperation({
    name,
    method: 'POST',
    path: `/v1/sessions/{id}/${name}`,
    summary,
    tag: 'acting',
    scope: 'page',
    input: Type.Object({ ...input.properties, ...WithSnapshot }, { additionalProperties: false }),
    result: Type.Unsafe<ActionResult & { snapshot?: string }>(ActionAnswer),
    errors: [...TARGET_ERRORS, ...errors],
    multipart,
    async run({ op, request }, given) {
      const { snapshot, ...own } = given as Static<I> & { snapshot?: boolean | 'diff' };
      const result = await run(op, own as Static<I>, request);
      if (snapshot === undefined || snapshot === false || result.closed || op.tab.dialog) return result;
      return { ...result, snapshot: await pageAfter(op, snapshot === 'diff') };
    },
  });
}

async function pageAfter(op: Operation, diff: boolean): Promise<string> {
  const last = diff ? op.env.snapshots.latest(op.tab.id) : undefined;
  // Only a snapshot of the whole page can be compared with the one that is taken now.
  const since = last?.shape === WHOLE_PAGE ? last.id : undefined;
  return (await readPage(op, since === undefined ? {} : { since })).text;
}

export const actingOperations = [
  action({ name: 'click', summary: 'Click an element, as a hand would', input: ClickInput, run: click }),
  action({
    name: 'fill',
    summary: 'Set a field to a value: text, date, colour, range, checkbox, radio, select; read back',
    input: FillInput,
    errors: ['not_editable', 'option_not_found'],
    run: fill,
  }),
  action({
    name: 'type',
    summary: 'Type text key by key into a field, or where the focus is',
    input: TypeInput,
    errors: ['not_editable'],
    run: typeText,
  }),
  action({
    name: 'press',
    summary: 'Press a key or a chord: Control+Shift+A',
    input: PressInput,
    run: press,
  }),
  action({
    name: 'select',
    summary: 'Select options of a list, native or custom',
    input: SelectInput,
    errors: ['option_not_found'],
    run: select,
  }),
  action({ name: 'check', summary: 'Tick a checkbox, radio or switch', input: CheckInput, run: check }),
  action({ name: 'uncheck', summary: 'Untick a checkbox or switch', input: CheckInput, run: uncheck }),
  action({
    name: 'clear',
    summary: 'Empty a field',
    input: ClearInput,
    errors: ['not_editable'],
    run: clear,
  }),
  action({ name: 'focus', summary: 'Give an element the focus', input: FocusInput, run: focus }),
  action({ name: 'hover', summary: 'Move the pointer over an element', input: HoverInput, run: hover }),
  action({
    name: 'fill-form',
    summary: 'Set several fields in one request',
    input: FillFormInput,
    errors: ['not_editable', 'option_not_found'],
    run: fillForm,
  }),
  action({
    name: 'scroll',
    summary: 'Scroll an element into view, or the page',
    input: ScrollInput,
    run: scroll,
  }),
  action({
    name: 'drag',
    summary: 'Drag one element to another, by pointer or HTML5',
    input: DragInput,
    run: drag,
  }),
  action({
    name: 'upload',
    summary: 'Give files of the session, or of a multipart body, to a file input or to what opens a chooser',
    input: UploadInput,
    errors: ['artifact_not_found', 'too_large', 'quota_exceeded', 'disk_full'],
    multipart: 'also',
    run: (op, input, { uploads }) => upload(op, input, uploads),
  }),
  action({ name: 'mouse', summary: 'Raw pointer input at coordinates', input: MouseInput, run: mouse }),
];
