import { AirlockError } from '../../src/errors.ts';

/** The typed error that `work` ends with; a test fails where it ends with anything else. */
export async function problemOf(work: Promise<unknown>): Promise<AirlockError> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('error' in outcome && outcome.error instanceof AirlockError) return outcome.error;
  const what = 'error' in outcome ? outcome.error : `answered ${JSON.stringify(outcome.value)}`;
  throw new Error('expected a typed error', { cause: what });
}
