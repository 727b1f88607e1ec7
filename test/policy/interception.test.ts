import { describe, expect, test } from 'vitest';
import { blockedAs, interceptPatterns, requiresInterception } from '../../src/policy/intercept.ts';
import { narrowPolicy, type PolicyInput, parsePolicy } from '../../src/policy/policy.ts';

const patterns = (input: PolicyInput) => interceptPatterns(parsePolicy(input));

describe('interception stays off', () => {
  test.each<PolicyInput>([
    {},
    { mode: 'allowlist', allow: ['example.com', '10.0.0.0/8:443', 'https://a.com'], deny: ['*.b.com'] },
    { guard: { url: 'http://127.0.0.1:9/' } },
  ])('for %j', (input) => {
    expect(requiresInterception(parsePolicy(input))).toBe(false);
    expect(patterns(input)).toEqual([]);
  });
});

describe('interception is switched on for what needs it', () => {
  test('path and method rules, by host', () => {
    expect(
      patterns({
        allow: [{ host: 'a.com', path: '/x' }],
        deny: ['c.com', { host: '*.b\u00fc.com', methods: ['POST'] }],
      }),
    ).toEqual([{ urlPattern: '*a.com*' }, { urlPattern: '*xn--b-eha.com*' }]);
  });

  test('a rule about addresses has no text to look for', () => {
    expect(patterns({ deny: [{ host: '10.0.0.0/8', path: '/x' }] })).toEqual([{ urlPattern: '*' }]);
    expect(patterns({ deny: [{ host: 'loopback', path: '/x' }] })).toEqual([{ urlPattern: '*' }]);
  });

  test('blocked types', () => {
    expect(patterns({ block: ['image', 'xhr'] })).toEqual([
      { urlPattern: '*', resourceType: 'Image' },
      { urlPattern: '*', resourceType: 'XHR' },
    ]);
  });

  test('many hosts are all', () => {
    expect(
      patterns({ deny: Array.from({ length: 500 }, (_, i) => ({ host: `h${i}.com`, path: '/x' })) }),
    ).toEqual([{ urlPattern: '*' }]);
  });

  test('the layers of a session count', () => {
    const narrowed = narrowPolicy(parsePolicy({}), parsePolicy({ deny: [{ host: 'a.com', path: '/x' }] }));
    expect(requiresInterception(narrowed)).toBe(true);
  });
});

describe('a paused request is blocked by its kind', () => {
  const blocked = (block: PolicyInput['block'], resourceType: string, accept = '*/*') =>
    blockedAs(parsePolicy({ ...(block ? { block } : {}) }), { resourceType, accept });

  test('under the name that Chrome gives it then', () => {
    const types = ['Image', 'CSPViolationReport', 'Font', 'Document', 'image'];
    expect(types.map((type) => blocked(['image', 'cspviolationreport'], type))).toEqual([
      'image',
      'cspviolationreport',
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('fetch, XMLHttpRequest and EventSource are one to Chrome: blocking either of the first two blocks all', () => {
    expect(blocked(['fetch'], 'XHR')).toBe('fetch');
    expect(blocked(['xhr'], 'XHR', 'text/event-stream')).toBe('xhr');
    expect(blocked(['eventsource'], 'XHR', 'text/event-stream')).toBe('eventsource');
    expect(blocked(['eventsource'], 'XHR')).toBeUndefined();
  });

  test('a kind that cannot be told from others is refused when the policy is set', () => {
    for (const type of ['texttrack', 'manifest', 'prefetch', 'websocket', 'document']) {
      expect(() => parsePolicy({ block: [type] })).toThrow(/resource type/);
    }
  });
});
