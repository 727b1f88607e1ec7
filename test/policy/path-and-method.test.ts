import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideHost, decideUrl } from '../../src/policy/decide.ts';
import { globMatches, looseReading } from '../../src/policy/path-glob.ts';
import { type PolicyInput, parsePolicy } from '../../src/policy/policy.ts';
import { SelfRegistry } from '../../src/policy/self.ts';

const self = new SelfRegistry();

function reason(input: PolicyInput, url: string, method?: string): string {
  const context = { self, use: 'subresource', ...(method === undefined ? {} : { method }) } as const;
  return decideUrl(url, parsePolicy(input), context).reason;
}

describe('a denied path', () => {
  const input: PolicyInput = { deny: [{ host: 'example.com', path: '/admin/*' }] };

  test.each([
    '/admin/',
    '/admin/x',
    '/admin/x/y?z',
    '/%61dmin/x',
    '/admin%2fx',
    '/admin%5Cx',
    '/x/../admin/x',
    '/x/%2e%2e/admin/x',
    '/x/..%2fadmin/x',
    '//admin//x',
    '\\admin\\x',
    '/./admin/./x',
  ])('is denied as %s', (path) => {
    expect(reason(input, `http://example.com${path}`)).toBe('rule');
  });

  test.each(['/', '/admin', '/administrator', '/x/admin/', '/?/admin/', '/#/admin/x', '/admin/../x'])(
    'leaves %s',
    (path) => {
      expect(reason(input, `http://example.com${path}`)).toBe('ok');
    },
  );

  test('leaves other hosts', () => {
    expect(reason(input, 'http://www.example.com/admin/')).toBe('ok');
  });

  test('leaves the connection, which has no path', () => {
    expect(decideHost('example.com', 443, parsePolicy(input), { self }).verdict).toBe('allow');
  });
});

describe('an allowed path', () => {
  const input: PolicyInput = { mode: 'allowlist', allow: [{ host: 'example.com', path: '/api/*' }] };

  test.each(['/api/', '/api/x', '/%61pi/x', '/api/x?../..', '/x/../api/y'])('admits %s', (path) => {
    expect(reason(input, `http://example.com${path}`)).toBe('ok');
  });

  test.each(['/', '/api', '/x', '/api/../x', '/api/..%2fx', '/api/%2e%2e/x', '/api%2f..%2fx', '//api/x'])(
    'does not admit %s',
    (path) => {
      expect(reason(input, `http://example.com${path}`)).toBe('not-allowlisted');
    },
  );

  test('opens the connection for the sake of the path', () => {
    expect(decideHost('example.com', 443, parsePolicy(input), { self }).verdict).toBe('allow');
    expect(decideHost('example.org', 443, parsePolicy(input), { self }).reason).toBe('not-allowlisted');
  });

  test('is typed as people type', () => {
    const unicode: PolicyInput = {
      mode: 'allowlist',
      allow: [{ host: 'example.com', path: '/relat\u00f3rio/*' }],
    };
    expect(reason(unicode, 'http://example.com/relat\u00f3rio/1')).toBe('ok');
    expect(reason(unicode, 'http://example.com/relat%c3%b3rio/1')).toBe('ok');
  });
});

test('a path too long to match is denied where a path is denied, and not admitted where one is allowed', () => {
  const url = `http://example.com/${'a'.repeat(9000)}`;
  expect(reason({ deny: [{ host: 'example.com', path: '/admin/*' }] }, url)).toBe('rule');
  expect(reason({ mode: 'allowlist', allow: [{ host: 'example.com', path: '/*' }] }, url)).toBe(
    'not-allowlisted',
  );
  expect(reason({ deny: [{ host: 'example.org', path: '/admin/*' }] }, url)).toBe('ok');
});

describe('methods', () => {
  const input: PolicyInput = { deny: [{ host: 'example.com', methods: ['post', 'DELETE'] }] };

  test('deny those that are named, in any case', () => {
    expect(reason(input, 'http://example.com/', 'POST')).toBe('rule');
    expect(reason(input, 'http://example.com/', 'delete')).toBe('rule');
    expect(reason(input, 'http://example.com/', 'PUT')).toBe('ok');
    expect(reason(input, 'http://example.com/')).toBe('ok');
  });

  test('and path belong together', () => {
    const both: PolicyInput = { deny: [{ host: 'example.com', path: '/a', methods: ['POST'] }] };
    expect(reason(both, 'http://example.com/a', 'POST')).toBe('rule');
    expect(reason(both, 'http://example.com/a', 'GET')).toBe('ok');
    expect(reason(both, 'http://example.com/b', 'POST')).toBe('ok');
  });

  test('an answer for one method is not given for another', () => {
    const policy = parsePolicy(input);
    const ask = (method: string) =>
      decideUrl('http://example.com/', policy, { self, use: 'navigation', method }).reason;
    expect([ask('GET'), ask('POST'), ask('GET'), ask('POST')]).toEqual(['ok', 'rule', 'ok', 'rule']);
  });
});

describe('patterns', () => {
  test('agree with a regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (pattern, path) => {
        const expected = new RegExp(`^${pattern.replace(/\*+/g, '.*')}$`).test(path);
        return globMatches(pattern, path) === expected;
      }),
      { numRuns: 2000 },
    );
  });

  test('many stars do not explode', () => {
    expect(globMatches(`/${'*a'.repeat(500)}b`, `/${'a'.repeat(2000)}`)).toBe(false);
  });

  test('a loose reading of a loose reading of a plain path is the same', () => {
    const path = fc
      .string({ unit: fc.constantFrom('a', 'b', '/', '.', '-'), maxLength: 20 })
      .map((text) => `/${text}`);
    fc.assert(fc.property(path, (text) => looseReading(looseReading(text)) === looseReading(text)));
  });
});
