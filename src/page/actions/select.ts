import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import type { ChoiceReport, Wanted } from '../hands/types.ts';
import { notInteractable } from '../hindrance.ts';
import type { Operation } from '../operation.ts';
import { Target } from '../target.ts';
import { tell } from '../target-errors.ts';
import type { Ready } from './aim-target.ts';
import { callHands } from './call-hands.ts';
import { chooseInCustomList } from './custom-list.ts';
import { type ActionResult, type Effects, withEffects } from './effects.ts';
import { aimField } from './field.ts';

const texts = (description: string) =>
  Type.Optional(
    Type.Union(
      [Type.String({ maxLength: 8192 }), Type.Array(Type.String({ maxLength: 8192 }), { maxItems: 1000 })],
      {
        description,
      },
    ),
  );

export const SelectInput = Type.Object(
  {
    target: Target,
    values: texts('Values of the options, exactly; [] selects nothing in a list of several'),
    labels: texts('What the options show'),
    indexes: Type.Optional(
      Type.Union(
        [Type.Integer({ minimum: 0 }), Type.Array(Type.Integer({ minimum: 0 }), { maxItems: 1000 })],
        {
          description: 'Places of the options, from 0',
        },
      ),
    ),
  },
  { additionalProperties: false },
);
export type SelectInput = Static<typeof SelectInput>;

export interface SelectResult extends ActionResult {
  /** Values of what is selected now. */
  readonly selected?: readonly string[];
}

/**
 * Selects exactly the options that are given, in a native list or a custom one (ARIA listbox, combobox).
 * @throws AirlockError those of `aimTarget`; `option_not_found` (with the options), `not_interactable` (a disabled
 *   option), `invalid_request` (not one of values, labels, indexes), `not_verified`
 */
export async function select(op: Operation, input: SelectInput): Promise<SelectResult> {
  const wanted = toWanted(input);
  return withEffects<{ selected?: string[] }>(op, async (effects) => {
    const ready = await aimField(op, input.target, false);
    const selected = await chooseInList(op, ready, wanted, effects);
    return selected ? { selected } : {};
  });
}

function toWanted({ values, labels, indexes }: SelectInput): Wanted {
  const given = [values, labels, indexes].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw new AirlockError('invalid_request', 'Give exactly one of values, labels, indexes');
  }
  if (values !== undefined) return { values: [values].flat() };
  if (labels !== undefined) return { labels: [labels].flat() };
  return { indexes: [indexes ?? []].flat() };
}

/** @returns the values that are selected afterwards; `undefined` when the choice led to another page */
export async function chooseInList(
  op: Operation,
  ready: Ready,
  wanted: Wanted,
  effects: Effects,
): Promise<string[] | undefined> {
  if (ready.aimed.described.tag !== 'select') return chooseInCustomList(op, ready, wanted, effects);
  effects.begin();
  const report = await effects.orLeft(
    ready.frame,
    callHands(op, ready.frame, 'choose', ready.number, wanted),
  );
  if (report === 'left') return undefined;
  return judge(ready, report);
}

/** Picks a closed list's option by the option: it has no box to be clicked. */
export async function chooseOption(op: Operation, ready: Ready, effects: Effects): Promise<void> {
  effects.begin();
  const report = await effects.orLeft(ready.frame, callHands(op, ready.frame, 'chooseOption', ready.number));
  if (report !== 'left') judge(ready, report);
}

function judge(ready: Ready, report: ChoiceReport): string[] {
  const { outcome, which, options, multiple } = report;
  const selected = options.filter((option) => option.selected).map(({ value }) => value);
  if (outcome === 'done') return selected;
  const element = tell(ready.frame, ready.aimed.described);
  const shown = options
    .slice(0, 100)
    .map(({ value, label, index, disabled }) => ({ value, label, index, disabled }));
  const extra = { element, options: shown, total: options.length, multiple };
  const named = JSON.stringify(which);
  const list = `${element.role} ${JSON.stringify(element.name)}`;
  switch (outcome) {
    case 'not-found':
      throw new AirlockError('option_not_found', `${list} has no option ${named}`, { extra });
    case 'disabled':
      throw notInteractable('disabled', `The option ${named} of ${list} is disabled`, extra);
    case 'too-many':
      throw new AirlockError('invalid_request', `${list} takes exactly one option`, { extra });
    default:
      throw new AirlockError('not_verified', `${list} does not hold the choice`, {
        extra: { ...extra, expected: which, actual: selected },
      });
  }
}
