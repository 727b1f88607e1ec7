import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import type { Operation } from '../operation.ts';
import { type ActionResult, withEffects } from './effects.ts';
import { FillInput, fillField } from './fill.ts';

export const FillFormInput = Type.Object(
  { fields: Type.Array(FillInput, { minItems: 1, maxItems: 200, description: 'Filled in this order' }) },
  { additionalProperties: false },
);
export type FillFormInput = Static<typeof FillFormInput>;

export interface FillFormResult extends ActionResult {
  /** What each field holds now, in the order of the request. */
  readonly values?: readonly (string | null)[];
}

/**
 * Fills several fields, as `fill` does each. Ends at the first that fails, or when the page opens a dialog.
 * @throws AirlockError that of the field, with `failedIndex` and the values of those before it
 */
export async function fillForm(op: Operation, { fields }: FillFormInput): Promise<FillFormResult> {
  return withEffects<{ values?: (string | null)[] }>(op, async (effects) => {
    const values: (string | null)[] = [];
    for (const [index, field] of fields.entries()) {
      try {
        values.push((await fillField(op, field, effects)).value ?? null);
      } catch (error) {
        throw withIndex(error, index, values);
      }
    }
    return { values };
  });
}

function withIndex(error: unknown, failedIndex: number, values: readonly (string | null)[]): unknown {
  if (!(error instanceof AirlockError) || error.code === 'dialog_open') return error;
  return error.retold({ failedIndex, values }, `Field ${failedIndex}: ${error.message}`);
}
