import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideHost, decideUrl } from '../../src/policy/decide.ts';
import { blockedAs, interceptPatterns, requiresInterception } from '../../src/policy/intercept.ts';
import { narrowPolicy, type PolicyInput, parsePolicy } from '../../src/policy/policy.ts';
import { SelfRegistry } from '../../src/policy/self.ts';

const patterns = (input: PolicyInput) => interceptPatterns(parsePolicy(input));

const self = new SelfRegistry();
/** Intercepted wherever anything is. */
const ALWAYS = [
  { urlPattern: '*', resourceType: 'Document' },
  { urlPattern: 'file:*' },
  { urlPattern: 'ftp:*' },
];

describe('interception stays off where a policy cannot tell two URLs of one host and port apart', () => {
  test.each<PolicyInput>([
    {},
    { mode: 'allowlist', allow: ['example.com', '10.0.0.0/8:443', 'a.com:1-99'], deny: ['*.b.com'] },
    { allow: [{ host: 'nas.lan', resolvesTo: ['10.0.0.0/8'] }], schemes: ['data'] },
  ])('as %j', (input) => {
    expect(requiresInterception(parsePolicy(input))).toBe(false);
    expect(patterns(input)).toEqual([]);
  });

  test('and there the floor gives every URL the verdict that the whole URL has', () => {
    const hosts = fc.constantFrom(
      'a.com',
      'b.a.com',
      'x.b.com',
      'localhost',
      '10.1.2.3',
      '127.0.0.1',
      '[::1]',
      '8.8.8.8',
      'nas.lan',
      'metadata',
    );
    const entry = fc
      .tuple(
        fc.constantFrom(
          'a.com',
          '*.a.com',
          '*.b.com',
          'localhost',
          '10.0.0.0/8',
          'loopback',
          '8.8.8.8',
          'nas.lan',
        ),
        fc.constantFrom('', ':80', ':443', ':3000', ':1-500'),
      )
      .map(([host, port]) => host + port);
    const list = fc.array(entry, { maxLength: 3 });
    const input = fc.record({
      mode: fc.constantFrom('public' as const, 'allowlist' as const),
      allow: list,
      deny: list,
    });
    const url = fc
      .tuple(
        fc.constantFrom('http', 'https', 'ws', 'wss'),
        hosts,
        fc.constantFrom('', ':80', ':443', ':3000', ':6000'),
        fc.webPath(),
      )
      .map(([scheme, host, port, path]) => `${scheme}://${host}${port}${path}`);
    const methods = fc.constantFrom('GET', 'POST');
    fc.assert(
      fc.property(input, input, url, methods, (outer, inner, raw, method) => {
        const policy = narrowPolicy(parsePolicy(outer), parsePolicy(inner));
        expect(requiresInterception(policy)).toBe(false);
        const { protocol, hostname, port } = new URL(raw);
        const effective = Number(port) || (protocol === 'https:' || protocol === 'wss:' ? 443 : 80);
        const byHost = decideHost(hostname, effective, policy, { self });
        const byUrl = decideUrl(raw, policy, { self, use: 'subresource', method });
        expect([byUrl.verdict, byUrl.reason]).toEqual([byHost.verdict, byHost.reason]);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('interception is switched on for what needs it', () => {
  test('documents, where a rule has a scheme or a guard is told the URL', () => {
    expect(patterns({ mode: 'allowlist', allow: ['https://a.com'] })).toEqual(ALWAYS);
    expect(patterns({ guard: { url: 'http://127.0.0.1:9/' } })).toEqual(ALWAYS);
  });

  test('path and method rules, by host', () => {
    expect(
      patterns({
        allow: [{ host: 'a.com', path: '/x' }],
        deny: ['c.com', { host: '*.b\u00fc.com', methods: ['POST'] }],
      }),
    ).toEqual([...ALWAYS, { urlPattern: '*a.com*' }, { urlPattern: '*xn--b-eha.com*' }]);
  });

  test('a rule about addresses has no text to look for', () => {
    expect(patterns({ deny: [{ host: '10.0.0.0/8', path: '/x' }] })).toEqual([{ urlPattern: '*' }]);
    expect(patterns({ deny: [{ host: 'loopback', path: '/x' }] })).toEqual([{ urlPattern: '*' }]);
  });

  test('blocked types', () => {
    expect(patterns({ block: ['image', 'xhr'] })).toEqual([
      ...ALWAYS,
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
