import { describe, expect, test } from 'vitest';
import { type Policy, parsePolicy } from '../../src/policy/policy.ts';
import { SelfRegistry } from '../../src/policy/self.ts';
import { corpusFiles, rowsOf, runHost, runUrl, unescaped } from './corpus.ts';

const ports = { API_PORT: 41001, OWN_PROXY_PORT: 41002, OTHER_SESSION_PROXY_PORT: 41003, CDP_PORT: 41004 };
const self = new SelfRegistry();
for (const port of Object.values(ports)) self.add(port);

/** `host:NAME[:PORT]`, `ip:LITERAL-or-CIDR[:PORT]`, `cidr:BLOCK` for the host before it, `mode:NAME`. */
function policyOf(config: string): Policy {
  const allow: { host: string; resolvesTo?: string[] }[] = [];
  let mode = 'public';
  for (const part of config.split(';')) {
    const colon = part.indexOf(':');
    const value = part.slice(colon + 1);
    const kind = part.slice(0, colon);
    if (kind === 'mode') mode = value;
    else if (kind === 'cidr') allow.push({ ...(allow.pop() ?? { host: '' }), resolvesTo: [value] });
    else allow.push({ host: value });
  }
  return parsePolicy({ mode, allow });
}

describe.each(corpusFiles('policy-allow.tsv'))('%s', (file) => {
  const rows = rowsOf(file);

  test('has rows', () => {
    expect(rows.length).toBeGreaterThan(25);
  });

  test.each(rows)('%s | %s: %s %s (%s)', (config, body, verdict, cls) => {
    const policy = policyOf(unescaped(config ?? ''));
    const [raw = '', dns] = unescaped(body ?? '').split(' dns=');
    const url = Object.entries(ports).reduce((text, [name, port]) => text.replace(name, String(port)), raw);
    const { decision, asked } = runUrl(url, dns?.split('|') ?? [], policy, self);

    expect([decision.verdict, decision.reason]).toEqual([verdict, cls]);
    if (dns === undefined || cls === 'not-allowlisted') expect(asked).toBe(false);
  });
});

test('a NUL in a raw SOCKS host is an invalid host, whatever a wildcard rule says', () => {
  const policy = parsePolicy({ allow: [{ host: '*.corp.test', resolvesTo: ['10.0.0.0/8'] }] });

  expect(runHost('127.0.0.1\u0000.corp.test', 80, ['10.0.0.1'], policy, self)).toMatchObject({
    decision: { verdict: 'deny', reason: 'invalid-host' },
    asked: false,
  });
});
