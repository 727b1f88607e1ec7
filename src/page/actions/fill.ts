import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import type { FieldState } from '../hands/types.ts';
import type { Operation } from '../operation.ts';
import { Target } from '../target.ts';
import { tell } from '../target-errors.ts';
import type { Ready } from './aim-target.ts';
import { callHands } from './call-hands.ts';
import { setChecked } from './check.ts';
import { type ActionResult, type Effects, withEffects } from './effects.ts';
import { insertText } from './enter-text.ts';
import { aimField, beginText, mismatch, shown } from './field.ts';
import { chooseInList } from './select.ts';

export const FillValue = Type.Union(
  [
    Type.String({ maxLength: 4_000_000 }),
    Type.Number(),
    Type.Boolean(),
    Type.Array(Type.String({ maxLength: 8192 }), { maxItems: 1000 }),
  ],
  {
    description:
      "Text; or the field's own format: 2024-02-29, 13:45, 2024-02, 2024-W09, 2024-02-29T13:45, #rrggbb, a number; true or false for a checkbox or radio; value or label for a select, several as an array",
  },
);
export type FillValue = Static<typeof FillValue>;

export const FillInput = Type.Object({ target: Target, value: FillValue }, { additionalProperties: false });
export type FillInput = Static<typeof FillInput>;

export interface FillResult extends ActionResult {
  /** What the field holds now. */
  readonly value?: string;
}

/**
 * Sets a field to a value, in place of what it held: text, contenteditable, date and time, colour, range, checkbox,
 * radio, select. Fires input and change once. The value is read back.
 * @throws AirlockError those of `aimTarget`; `not_editable` (read-only: nothing was touched), `invalid_request` (not a
 *   value of such a field: nothing was changed), `option_not_found`, `not_verified`
 */
export async function fill(op: Operation, input: FillInput): Promise<FillResult> {
  return withEffects<{ value?: string }>(op, (effects) => fillField(op, input, effects));
}

/** `fill` within an action that has begun. */
export async function fillField(
  op: Operation,
  { target, value }: FillInput,
  effects: Effects,
): Promise<{ value?: string }> {
  const ready = await aimField(op, target, true);
  const field = await callHands(op, ready.frame, 'field', ready.number);
  switch (field.kind) {
    case 'checkbox':
    case 'radio':
      await setChecked(op, ready.ref, asBoolean(ready, value), effects);
      return { value: String(asBoolean(ready, value)) };
    case 'select':
      return chosen(await chooseInList(op, ready, { either: asList(value) }, effects));
    case 'date':
    case 'color':
    case 'range':
      return assign(op, ready, field, asText(ready, value), effects);
    default:
      return fillText(op, ready, field, asText(ready, value), effects);
  }
}

async function fillText(
  op: Operation,
  ready: Ready,
  field: FieldState,
  text: string,
  effects: Effects,
): Promise<{ value?: string }> {
  const wanted = text.replace(/\r\n?/g, '\n');
  // Inserted, each line of a text area is an input event of its own.
  const fits = field.maxLength < 0 || wanted.length <= field.maxLength;
  if (field.type === 'textarea' && wanted.includes('\n') && fits)
    return assign(op, ready, field, wanted, effects);
  if (field.type === 'number' && wanted !== '' && !NUMBER.test(wanted))
    throw wrongFormat(ready, field, wanted, '');
  const before = await beginText(op, ready, 'replace');
  effects.begin();
  if (wanted !== '' || before.value !== '') await insertText(op, wanted);
  const report = await effects.orLeft(
    ready.frame,
    callHands(op, ready.frame, 'finishText', ready.number, before.value, true),
  );
  if (report === 'left') return {};
  const { state, connected } = report;
  if (!connected) throw mismatch(ready, state, wanted, state.value, 'the page removed the field');
  if (!same(state, wanted)) throw mismatch(ready, state, wanted, state.value);
  return { value: shown(state, state.value) };
}

/** Editors show blank lines and runs of spaces in their own ways. */
function same(state: FieldState, wanted: string): boolean {
  if (state.kind !== 'rich') return state.value === wanted;
  const fold = (text: string) =>
    text
      .replace(/[^\S\n]+/g, ' ')
      .replace(/ ?\n+ ?/g, '\n')
      .trim();
  return fold(state.value) === fold(wanted);
}

async function assign(
  op: Operation,
  ready: Ready,
  field: FieldState,
  value: string,
  effects: Effects,
): Promise<{ value?: string }> {
  await callHands(op, ready.frame, 'focus', ready.number);
  effects.begin();
  const taken = await callHands(op, ready.frame, 'assign', ready.number, value);
  if (!taken.ok) throw wrongFormat(ready, field, value, taken.state.value);
  const report = await effects.orLeft(
    ready.frame,
    callHands(op, ready.frame, 'finishText', ready.number, field.value, true),
  );
  if (report === 'left') return {};
  if (report.state.value !== taken.state.value) {
    throw mismatch(ready, report.state, value, report.state.value);
  }
  return { value: shown(report.state, report.state.value) };
}

/** The formats of HTML for each type of field. */
const FORMATS = new Map([
  ['date', 'YYYY-MM-DD'],
  ['time', 'HH:MM or HH:MM:SS'],
  ['month', 'YYYY-MM'],
  ['week', 'YYYY-Www, such as 2024-W09'],
  ['datetime-local', 'YYYY-MM-DDTHH:MM'],
  ['color', '#rrggbb'],
  ['number', 'a number, such as 12, -0.5 or 1e3'],
  ['range', 'a number that its min, max and step allow'],
]);

/** A valid floating-point number (HTML 2.3.4.3): a number field drops anything else. */
const NUMBER = /^-?(?:\d+|\d*\.\d+)(?:[eE][-+]?\d+)?$/;

function wrongFormat(ready: Ready, field: FieldState, value: string, nearest: string): AirlockError {
  const format = FORMATS.get(field.type) ?? 'another value';
  const element = tell(ready.frame, ready.aimed.described);
  const detail = `${JSON.stringify(value)} is no value of a ${field.type} field, which takes ${format}; nothing was changed`;
  return new AirlockError('invalid_request', detail, {
    extra: { element, expected: format, ...(nearest !== '' && { nearest }) },
  });
}

function chosen(values: string[] | undefined): { value?: string } {
  return values ? { value: values.join(', ') } : {};
}

function asText(ready: Ready, value: FillValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  const { role } = ready.aimed.described;
  throw new AirlockError('invalid_request', `The value for a ${role} is a text or a number`);
}

function asList(value: FillValue): string[] {
  return Array.isArray(value) ? value : [String(value)];
}

function asBoolean(ready: Ready, value: FillValue): boolean {
  if (value === true || value === 'true' || value === 'on') return true;
  if (value === false || value === 'false' || value === 'off') return false;
  throw new AirlockError('invalid_request', `The value for a ${ready.aimed.described.role} is true or false`);
}
