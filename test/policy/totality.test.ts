import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AirlockError } from '../../src/errors.ts';
import { decideAddress, decideAll, decideHost, decideUrl, type UrlUse } from '../../src/policy/decide.ts';
import { reasons } from '../../src/policy/decision.ts';
import { parseEntry } from '../../src/policy/entry.ts';
import { defaultPolicy, type Policy, parsePolicy, policyFromFlags } from '../../src/policy/policy.ts';
import { SelfRegistry } from '../../src/policy/self.ts';

const self = new SelfRegistry();
const policies = [
  defaultPolicy(),
  parsePolicy({ mode: 'allowlist', allow: ['*.example.com', '10.0.0.0/8', { host: 'a.com', path: '/x*' }] }),
];
const policy = fc.constantFrom(...policies);
const uses = fc.constantFrom<UrlUse>('navigation', 'subframe', 'subresource');
const junk = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.webUrl(),
  fc.ipV6(),
  fc.string({ unit: fc.constantFrom(...'0123456789abxf.:[]%/@\\#?*-_ \t\u0000\uff0e'), maxLength: 80 }),
);

function expectDecision(value: { readonly verdict: string; readonly reason: string }): void {
  expect(reasons).toContain(value.reason);
  expect(value.verdict === 'allow').toBe(value.reason === 'ok');
}

describe('a decision is always made', () => {
  test('for any text as URL', () => {
    const texts = fc.oneof(
      junk,
      junk.map((text) => `http://${text}/`),
      junk.map((text) => `blob:http://${text}`),
    );
    fc.assert(
      fc.property(texts, policy, uses, fc.string(), (text, rules, use, method) =>
        expectDecision(decideUrl(text, rules, { self, use, method })),
      ),
      { numRuns: 1000 },
    );
  });

  test('for any text as host and any number as port', () => {
    const ports = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, 80, 65535, 65536, Number.NaN));
    fc.assert(
      fc.property(junk, ports, policy, junk, (host, port, rules, answer) => {
        expectDecision(decideHost(host, port, rules, { self }));
        expectDecision(decideAddress(host, answer, port, rules, { self }));
        expectDecision(decideAll(host, [answer, '8.8.8.8'], port, rules, { self }));
      }),
      { numRuns: 1000 },
    );
  });

  test('the second answer to the same question is the first', () => {
    fc.assert(
      fc.property(junk, uses, (text, use) => {
        const once = decideUrl(text, policies[0] ?? defaultPolicy(), { self, use });
        expect(decideUrl(text, policies[0] ?? defaultPolicy(), { self, use })).toEqual(once);
        expect(decideUrl(text, parsePolicy({}), { self, use })).toEqual(once);
      }),
    );
  });
});

describe('a fault inside is a deny', () => {
  const broken = {
    isSelf(): boolean {
      throw new Error('interfaces cannot be read');
    },
  };
  const internal = { verdict: 'deny', reason: 'internal' };

  test('of the self check', () => {
    const rules = defaultPolicy();
    expect(decideUrl('http://example.com/', rules, { self: broken, use: 'navigation' })).toEqual(internal);
    expect(decideHost('example.com', 80, rules, { self: broken })).toMatchObject(internal);
    expect(decideAddress('example.com', '8.8.8.8', 80, rules, { self: broken })).toEqual(internal);
    expect(decideAll('example.com', ['8.8.8.8'], 80, rules, { self: broken })).toEqual(internal);
  });

  test('of the policy', () => {
    const hollow: Policy = { ...defaultPolicy(), layers: [] };
    expect(decideUrl('http://example.com/', hollow, { self, use: 'navigation' })).toEqual(internal);
    expect(decideHost('example.com', 80, hollow, { self })).toMatchObject({
      ...internal,
      needsResolution: false,
    });
  });

  test('of the caller: a literal does not resolve to anything else', () => {
    expect(decideAddress('8.8.8.8', '1.1.1.1', 80, defaultPolicy(), { self })).toEqual(internal);
  });
});

describe('a policy is read or refused, never anything else', () => {
  const attempt = (read: () => unknown) => {
    try {
      read();
    } catch (error) {
      expect(error).toBeInstanceOf(AirlockError);
      expect(error).toMatchObject({ code: 'invalid_policy', status: 422 });
      expect(error).toHaveProperty('extra.entry');
      expect(error).toHaveProperty('extra.pointer');
      // It goes out as JSON.
      JSON.stringify(error instanceof AirlockError ? error.extra : undefined);
    }
  };

  test('any JSON, and what is none', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withNullPrototype: true,
        withSparseArray: true,
      }),
    );
    const member = fc.constantFrom(
      'mode',
      'allow',
      'deny',
      'block',
      'guard',
      'schemes',
      'nat64',
      '__proto__',
    );
    fc.assert(
      fc.property(fc.oneof(value, fc.dictionary(member, value)), (input) =>
        attempt(() => parsePolicy(input)),
      ),
      { numRuns: 1000 },
    );
  });

  test('any entry', () => {
    const member = fc.constantFrom('host', 'ports', 'path', 'methods', 'resolvesTo');
    const object = fc.dictionary(
      member,
      fc.oneof(junk, fc.array(fc.oneof(junk, fc.integer())), fc.jsonValue()),
    );
    fc.assert(
      fc.property(fc.oneof(junk, object), fc.constantFrom<'allow' | 'deny'>('allow', 'deny'), (value, list) =>
        attempt(() => parseEntry(value, '/allow/0', list)),
      ),
      { numRuns: 1000 },
    );
  });

  test('any flag', () => {
    fc.assert(
      fc.property(junk, fc.jsonValue(), (text, file) => {
        attempt(() => policyFromFlags({ allow: [text], deny: [`{${text}`], file }));
      }),
    );
  });

  test('a getter that throws, a circle', () => {
    const trap = {
      get mode(): string {
        throw new TypeError('no');
      },
    };
    const circle: { host?: unknown } = {};
    circle.host = circle;
    expect(() => parsePolicy(trap)).toThrow(AirlockError);
    expect(() => parsePolicy({ allow: [circle] })).toThrow(AirlockError);
  });
});
