import { describe, expect, test } from 'vitest';
import { defaultPolicy } from '../../src/policy/policy.ts';
import { SelfRegistry } from '../../src/policy/self.ts';
import { corpusFiles, rowsOf, runHost, runUrl, unescaped } from './corpus.ts';

const policy = defaultPolicy();
const self = new SelfRegistry();

describe.each(corpusFiles('policy.tsv'))('%s', (file) => {
  const rows = rowsOf(file);

  test('has rows', () => {
    expect(rows.length).toBeGreaterThan(300);
  });

  test.each(rows)('%s: %s %s (%s)', (body, verdict, cls, note = '') => {
    const input = unescaped(body ?? '');
    const dns = /dns=([^;\s]*)/.exec(note)?.[1]?.split('|');
    const run = note.startsWith('kind=url') ? runUrl(input, dns ?? [], policy, self) : undefined;
    const { decision, asked } = run ?? runHost(input, 80, dns ?? [], policy, self);

    expect([decision.verdict, decision.reason]).toEqual([verdict, cls]);
    if (dns === undefined) expect(asked).toBe(false);
  });
});
