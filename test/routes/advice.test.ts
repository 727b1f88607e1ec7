import { expect, test } from 'vitest';
import { advice } from '../../src/error-advice.ts';
import { AirlockError, errorCodes, errorTable } from '../../src/errors.ts';
import { reasons } from '../../src/policy/decision.ts';
import { toProblem } from '../../src/routes/problem.ts';

const context = { requestId: 'r', instance: '/', sessionId: undefined, acceptLanguage: undefined };

test('every suggestion belongs to a code, is in both languages, and is not that of the code', () => {
  for (const [code, named] of Object.entries(advice)) {
    expect(errorCodes).toContain(code);
    const row = errorTable[code as keyof typeof advice].suggestion;
    for (const suggestion of Object.values<typeof row>(named)) {
      expect(suggestion.en.length).toBeGreaterThan(8);
      expect(suggestion['pt-BR'].length).toBeGreaterThan(8);
      expect(suggestion.en).not.toBe(suggestion['pt-BR']);
      expect(suggestion.en).not.toBe(row.en);
    }
  }
});

test('those of a denial are by a reason that the policy gives', () => {
  for (const reason of Object.keys(advice.policy_denied)) expect(reasons).toContain(reason);
});

test('a reason without one, or that is a name of Object, has that of the code', () => {
  for (const reason of ['private', 'constructor', '__proto__', undefined]) {
    const error = new AirlockError('policy_denied', 'no', { extra: { decision: { reason } } });
    expect(toProblem(error, context).suggestion).toBe(errorTable.policy_denied.suggestion.en);
  }
});

test('an error that is told again keeps all that it said', () => {
  const error = new AirlockError('tab_not_found', 'none', {
    advice: 'none_open',
    retryable: true,
    retryAfterSec: 3,
    extra: { tabs: [] },
  }).retold({ diagnosis: 1 }, 'Field 0: none');
  expect(error).toMatchObject({
    code: 'tab_not_found',
    message: 'Field 0: none',
    retryable: true,
    retryAfterSec: 3,
    extra: { tabs: [], diagnosis: 1 },
  });
  expect(toProblem(error, context).suggestion).toBe('Open one with POST tabs.');
});
