import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import type { FieldState, TypingReport } from '../hands/types.ts';
import type { Operation } from '../operation.ts';
import { Target } from '../target.ts';
import { tell } from '../target-errors.ts';
import type { Ready } from './aim-target.ts';
import { obstacleError } from './aim-target.ts';
import { callHands } from './call-hands.ts';
import { type ActionResult, type Effects, flushTasks, withEffects } from './effects.ts';
import { enterText, insertText, pressEnter } from './enter-text.ts';
import { aimField, beginText, focusedField, mismatch, shown } from './field.ts';

export const TypeInput = Type.Object(
  {
    target: Type.Optional(Target),
    text: Type.String({ maxLength: 1_000_000, description: 'Any Unicode; a line feed is the Enter key' }),
    clear: Type.Optional(Type.Boolean({ description: 'Empty the field first' })),
    submit: Type.Optional(Type.Boolean({ description: 'Press Enter afterwards' })),
    delayMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, description: 'Pause between keys' })),
  },
  { additionalProperties: false },
);
export type TypeInput = Static<typeof TypeInput>;

export interface TypeResult extends ActionResult {
  /** What the field holds; for a field that a page reformats, not only what was typed. */
  readonly value?: string;
}

/**
 * Types text, key by key, into a field (without a target: into the one with the focus), behind what it holds.
 * @throws AirlockError those of `aimTarget`; `not_editable`; `not_verified` when the text is not in the field
 */
export async function type(op: Operation, input: TypeInput): Promise<TypeResult> {
  return withEffects<{ value?: string }>(op, async (effects) => {
    const ready =
      input.target === undefined ? await focusedField(op) : await aimField(op, input.target, true);
    const lines = splitEnters(input.text, ready);
    let value: string | undefined;
    for (const [index, line] of lines.entries()) {
      if (index > 0) await enterIn(op, ready, effects);
      if (line === '' && index > 0) continue;
      value = await typeLine(op, ready, line, input, index === 0 && input.clear === true, effects);
      if (value === undefined) return {};
    }
    if (input.submit) await enterIn(op, ready, effects);
    if (input.submit || lines.length > 1) await flushTasks(op, effects);
    return value === undefined ? {} : { value };
  });
}

/** Presses Enter in the field, and in nothing that has taken the focus from it. */
async function enterIn(op: Operation, ready: Ready, effects: Effects): Promise<void> {
  const { frame, number } = ready;
  const armed = await effects.orLeft(frame, callHands(op, frame, 'armEnter', number));
  if (armed === 'left') return;
  if (!armed) throw strayed(ready, 'the focus left it before Enter was pressed, and it was not pressed');
  await pressEnter(op);
  const wrong = await effects.orLeft(frame, callHands(op, frame, 'enterWentTo'));
  if (wrong === 'left' || wrong === false) return;
  throw strayed(ready, `Enter went to ${wrong.line}, and was kept from it`);
}

function strayed(ready: Ready, why: string): AirlockError {
  const element = tell(ready.frame, ready.aimed.described);
  return new AirlockError('not_verified', `${element.line}: ${why}`, { extra: { element, reason: why } });
}

/**
 * Where Enter does not add a line it may send or clear the field: what comes before is checked first. A text area takes
 * its lines as they are; a rich text may do either, so only its last ones are set apart.
 */
function splitEnters(text: string, ready: Ready): string[] {
  const lines = text.replace(/\r\n?/g, '\n');
  const { tag } = ready.aimed.described;
  if (tag === 'textarea') return [lines];
  if (tag === 'input') return lines.split('\n');
  const body = lines.replace(/\n+$/, '');
  return [body, ...Array.from({ length: lines.length - body.length }, () => '')];
}

/** @returns the field's value as it may be shown, or `undefined` when its document is gone */
async function typeLine(
  op: Operation,
  ready: Ready,
  line: string,
  { delayMs }: TypeInput,
  clear: boolean,
  effects: Effects,
): Promise<string | undefined> {
  const before = await beginText(op, ready, clear ? 'replace' : 'append');
  if (before.kind !== 'text' && before.kind !== 'rich') {
    const detail = `a ${before.type} field is set by fill, not by typing`;
    throw obstacleError(ready.frame, ready.aimed.described, { why: 'not-editable', detail });
  }
  effects.begin();
  if (clear && before.value !== '') await insertText(op, '');
  await enterText(op, line, delayMs ?? 0);
  const report = await effects.orLeft(
    ready.frame,
    callHands(op, ready.frame, 'finishText', ready.number, before.value, false),
  );
  if (report === 'left') return undefined;
  if (!landed(line, clear ? '' : before.value, before, report)) {
    const whole = clear ? line : before.value + line;
    throw mismatch(
      ready,
      report.state,
      whole,
      report.state.value,
      report.connected ? undefined : 'the page removed it',
    );
  }
  return shown(report.state, report.state.value);
}

/**
 * Every character that was typed is in the field, in order and on top of what was there. A page may add to it (a mask,
 * a completion), change its case, or pass the focus on to the next box; it may not lose any.
 */
function landed(text: string, kept: string, before: FieldState, report: TypingReport): boolean {
  const holds = fold(report.state.value + report.spread.join(''));
  const typed = fold(text);
  const counts = new Map<string, number>();
  for (const character of holds) counts.set(character, (counts.get(character) ?? 0) + 1);
  const take = (characters: string, amount: number) => {
    for (const character of characters) counts.set(character, (counts.get(character) ?? 0) + amount);
  };
  take(fold(kept), -1);
  // What was selected gave way to the text.
  if (kept !== '') take(fold(before.selected), 1);
  take(typed, -1);
  return [...typed].every((character) => (counts.get(character) ?? 0) >= 0) && inOrder(typed, holds);
}

/** Spaces and line ends are shown in too many ways to be compared. */
function fold(text: string): string {
  return text.toLowerCase().replace(/\s/g, '');
}

function inOrder(part: string, whole: string): boolean {
  let at = 0;
  for (const character of part) {
    const found = whole.indexOf(character, at);
    if (found < 0) return false;
    at = found + character.length;
  }
  return true;
}
