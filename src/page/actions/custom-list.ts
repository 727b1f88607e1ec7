import { AirlockError } from '../../errors.ts';
import type { ListState, Wanted } from '../hands/types.ts';
import { type Hindrance, notInteractable } from '../hindrance.ts';
import { parseChord, pressChord } from '../keyboard.ts';
import type { Operation } from '../operation.ts';
import { formatRef } from '../refs.ts';
import { claimRefs } from '../resolve-target.ts';
import { tell } from '../target-errors.ts';
import { aimTarget, type Ready, reserve } from './aim-target.ts';
import { callHands } from './call-hands.ts';
import type { Effects } from './effects.ts';
import { readyToPress } from './landing.ts';
import { clickAt } from './pointer.ts';

type Option = ListState['options'][number];

/** How long a list has to appear after it was clicked, and a choice to show, in milliseconds. */
const OPEN_MS = 1500;
const SHOW_MS = 600;
const POLL_MS = 40;

/**
 * Chooses in a list that a page has built itself (ARIA listbox, or a combobox or button that opens one), by clicks.
 * @returns the values that are selected afterwards
 * @throws AirlockError `not_interactable` when no list opens, `option_not_found`, `not_verified`
 */
export async function chooseInCustomList(
  op: Operation,
  ready: Ready,
  wanted: Wanted,
  effects: Effects,
): Promise<string[]> {
  const list = await openedList(op, ready, effects);
  const chosen = await pickAll(op, ready, list, wanted);
  if (!list.multiple && chosen.length !== 1)
    throw listError('invalid_request', ready, list, 'takes exactly one option');
  for (const option of clicksFor(list, chosen)) await clickOption(op, ready, option, effects);
  return verify(op, ready, list, chosen, effects);
}

async function look(op: Operation, ready: Ready): Promise<ListState> {
  const state = await callHands(op, ready.frame, 'list', ready.number, op.env.refs.next);
  claimRefs(op, ready.frame, state.nextRef);
  return state;
}

async function openedList(op: Operation, ready: Ready, effects: Effects): Promise<ListState> {
  const first = await look(op, ready);
  if (first.options.length > 0) return first;
  if (first.isField) throw listError('not-a-list', ready, first, 'is a field for text, not a list');
  if (!first.isList) await clickRef(op, ready.ref, effects);
  const until = Date.now() + Math.min(OPEN_MS, op.remainingMs - reserve(op));
  for (;;) {
    const state = await look(op, ready);
    if (state.options.length > 0) return state;
    if (Date.now() >= until) throw listError('no-list', ready, state, 'opens no list of options');
    await op.pause(POLL_MS);
  }
}

async function clickRef(op: Operation, ref: string, effects: Effects): Promise<void> {
  const ready = await aimTarget(op, ref, { enabled: true, editable: false, hit: true, guard: true });
  await readyToPress(op, ready);
  effects.begin();
  await clickAt(op, ready.point);
}

/** A list that closes with each choice is opened again for the next. */
async function clickOption(op: Operation, ready: Ready, option: Option, effects: Effects): Promise<void> {
  const now = await openedList(op, ready, effects);
  const same =
    now.options.find(({ ref }) => ref === option.ref) ??
    now.options.find(({ label }) => label === option.label);
  await clickRef(op, formatRef(ready.frame.ordinal, (same ?? option).ref), effects);
}

/** The options that are meant; on a failure a list that was opened for it is closed again. */
async function pickAll(op: Operation, ready: Ready, list: ListState, wanted: Wanted): Promise<Option[]> {
  const names: readonly (string | number)[] =
    wanted.values ?? wanted.labels ?? wanted.indexes ?? wanted.either ?? [];
  const chosen: Option[] = [];
  for (const name of names) {
    const option = list.options.find((one) => fits(one, name, wanted));
    if (option && !option.disabled) {
      chosen.push(option);
      continue;
    }
    if (!list.isList) await pressChord(op, parseChord('Escape'));
    const named = JSON.stringify(name);
    if (option) throw listError('disabled', ready, list, `has the option ${named} disabled`);
    throw listError('option_not_found', ready, list, `has no option ${named}`);
  }
  return chosen;
}

function fits(option: Option, name: string | number, wanted: Wanted): boolean {
  if (wanted.values) return option.value === name;
  if (wanted.labels) return option.label === name;
  if (wanted.indexes) return option.index === name;
  return option.value === name || option.label === name;
}

/** In a list of several, what is selected and not wanted is clicked as well. */
function clicksFor(list: ListState, chosen: readonly Option[]): Option[] {
  if (!list.multiple) return chosen.filter(({ selected }) => !selected || !list.isList);
  return list.options.filter((option) => option.selected !== chosen.some(({ ref }) => ref === option.ref));
}

/** The options say that they are selected, or what opened the list shows the choice. */
async function verify(
  op: Operation,
  ready: Ready,
  list: ListState,
  chosen: readonly Option[],
  effects: Effects,
): Promise<string[]> {
  const values = chosen.map(({ value }) => value);
  const until = Date.now() + SHOW_MS;
  for (;;) {
    const now = await effects.orLeft(ready.frame, look(op, ready));
    if (now === 'left' || holds(now, list, chosen)) return values;
    if (Date.now() >= until) {
      const error = listError('not_verified', ready, now, 'does not show the choice');
      throw new AirlockError('not_verified', error.message, {
        extra: { ...error.extra, expected: chosen.map(({ label }) => label), actual: now.shows },
      });
    }
    await op.pause(POLL_MS);
  }
}

function holds(now: ListState, list: ListState, chosen: readonly Option[]): boolean {
  const labels = chosen.map(({ label }) => label);
  if (now.options.length > 0) {
    const selected = now.options.filter((option) => option.selected).map(({ label }) => label);
    const exact =
      labels.every((label) => selected.includes(label)) &&
      (!list.multiple || selected.length === labels.length);
    if (exact) return true;
  }
  return !list.isList && labels.length > 0 && labels.every((label) => now.shows.includes(label));
}

function listError(
  code: Hindrance | 'option_not_found' | 'not_verified' | 'invalid_request',
  ready: Ready,
  list: ListState,
  how: string,
): AirlockError {
  const element = tell(ready.frame, ready.aimed.described);
  const options = list.options
    .slice(0, 100)
    .map(({ value, label, index, disabled }) => ({ value, label, index, disabled }));
  const detail = `${element.role} ${JSON.stringify(element.name)} ${how}`;
  const extra = { element, options, multiple: list.multiple };
  if (code === 'option_not_found' || code === 'not_verified' || code === 'invalid_request')
    return new AirlockError(code, detail, { extra });
  return notInteractable(code, detail, extra);
}
