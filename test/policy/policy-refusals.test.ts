import { describe, expect, test } from 'vitest';
import { AirlockError } from '../../src/errors.ts';
import { parsePolicy, policyFromFlags } from '../../src/policy/policy.ts';

function refusal(read: () => unknown): AirlockError {
  try {
    read();
  } catch (error) {
    if (error instanceof AirlockError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const entries: readonly (readonly [what: string, entry: unknown, why: RegExp, pointer?: string])[] = [
  ['empty', '', /empty/],
  ['blank', ' ', /white space/],
  ['white space around', ' example.com', /white space/],
  ['white space inside', 'exa mple.com', /white space/],
  ['a tab', 'example.com\t', /white space/],
  ['a NUL', 'example.com\u0000', /control/],
  ['too long', `${'a.'.repeat(600)}com`, /too long/],
  ['not a string', 7, /string or an object/],
  ['null', null, /string or an object/],
  ['a list', ['example.com'], /string or an object/],
  ['a public suffix', 'com', /public suffix/],
  ['a public suffix of two labels', 'co.uk', /public suffix/],
  ['a public suffix in capitals, with a dot', 'CO.UK.', /public suffix/],
  ['an IDN public suffix', 'рф', /public suffix/],
  ['a wildcard under a public suffix', '*.com', /public suffix/],
  ['a wildcard under a two-label suffix', '*.co.uk', /public suffix/],
  ['a wildcard under a hosting suffix', '*.github.io', /public suffix/],
  ['credentials', 'user@example.com', /credentials/],
  ['credentials in a URL', 'http://user:secret@example.com', /credentials/],
  ['a bad scheme', 'ftp://example.com', /scheme/],
  ['file', 'file:///etc', /scheme/],
  ['no scheme name', '://example.com', /scheme/],
  ['a scheme and nothing else', 'http://', /no host/],
  ['a path', 'example.com/admin', /object form/],
  ['a path behind a scheme', 'https://example.com/admin/', /object form/],
  ['a query', 'example.com?x', /query/],
  ['a fragment', 'example.com#x', /query/],
  ['a backslash', 'http:\\\\example.com', /query/],
  ['a bare star', '*', /wildcard/],
  ['a star at the end', 'example.*', /wildcard/],
  ['a star inside a label', 'a*.example.com', /wildcard/],
  ['a star in the middle', 'a.*.example.com', /wildcard/],
  ['two stars', '*.*.example.com', /wildcard/],
  ['a star before an address', '*.1.2.3.4', /no sub-domains/],
  ['only a star and a dot', '*.', /not a host/],
  ['a bad IDN', 'xn--a.example.com', /not a host/],
  ['an IDN that does not map', 'exa\u2260\u0338mple\u2028.com', /white space|not a host/],
  ['an empty label', 'a..example.com', /not a host/],
  ['two trailing dots', 'example.com..', /not a host/],
  ['a leading dot', '.example.com', /not a host/],
  ['a label over 63', `${'a'.repeat(64)}.com`, /not a host/],
  ['a comma', 'a.com,b.com', /not a host/],
  ['an escape', '%6cocalhost', /escapes/],
  ['a zone id', 'fe80::1%lo', /escapes|brackets|neither/],
  ['an address of five parts', '1.2.3.4.5', /not a host/],
  ['an octet over 255', '1.2.3.256', /not a host/],
  ['a prefix over 32', '10.0.0.0/33', /0 to 32/],
  ['a prefix over 128', 'fd00::/129', /0 to 128/],
  ['a prefix that is no number', '10.0.0.0/x', /0 to 32/],
  ['a netmask', '10.0.0.0/255.0.0.0', /0 to 32/],
  ['a prefix with a zero in front', '10.0.0.0/08', /did you mean|0 to 32/],
  ['bits behind the prefix', '10.1.2.3/8', /did you mean 10\.0\.0\.0\/8/],
  ['IPv6 bits behind the prefix', 'fd00::1/8', /did you mean fd00::\/8|did you mean fc00/],
  ['a short CIDR', '10/8', /object form|CIDR/],
  ['a CIDR of an octal address', '010.0.0.0/8', /object form|CIDR/],
  ['port 0', 'example.com:0', /1 to 65535/],
  ['a port over 65535', 'example.com:65536', /1 to 65535/],
  ['no port behind the colon', 'example.com:', /1 to 65535/],
  ['a port that is a word', 'example.com:http', /1 to 65535/],
  ['a star as port', 'example.com:*', /1 to 65535/],
  ['an open range', 'example.com:80-', /1 to 65535/],
  ['a range upside down', 'example.com:90-80', /upside down/],
  ['two ports', 'example.com:80:81', /neither/],
  ['an IPv6 address with a port and no brackets', '::1:3000', /brackets/],
  ['an open bracket', '[::1', /brackets/],
  ['brackets round a name', '[example.com]', /brackets/],
  ['a bracket too many', '[[::1]]', /brackets/],
  ['text behind the brackets', '[::1]x', /brackets/],
  ['an object without host', { ports: [80] }, /needs "host"/],
  ['an object with an empty host', { host: '' }, /empty/],
  ['an unknown member', { host: 'example.com', prot: 80 }, /"prot" is no member/],
  ['a prototype', JSON.parse('{"host":"example.com","__proto__":{}}'), /no member/],
  ['ports that are no list', { host: 'example.com', ports: 80 }, /list/, '/allow/1/ports'],
  ['an empty list of ports', { host: 'example.com', ports: [] }, /not empty/, '/allow/1/ports'],
  ['a bad port in the list', { host: 'example.com', ports: [80, 0] }, /1 to 65535/, '/allow/1/ports/1'],
  ['a fraction as port', { host: 'example.com', ports: [80.5] }, /1 to 65535/, '/allow/1/ports/0'],
  ['a negative port', { host: 'example.com', ports: [-1] }, /1 to 65535/, '/allow/1/ports/0'],
  ['the port given twice', { host: 'example.com:80', ports: [80] }, /in host and in ports/],
  ['a path without a slash', { host: 'example.com', path: 'x' }, /begins with/, '/allow/1/path'],
  ['a path with a query', { host: 'example.com', path: '/x?y' }, /query/, '/allow/1/path'],
  ['half a surrogate in a path', { host: 'example.com', path: '/\ud800' }, /Unicode/, '/allow/1/path'],
  ['an empty list of methods', { host: 'example.com', methods: [] }, /not empty/, '/allow/1/methods'],
  ['a method that is none', { host: 'example.com', methods: ['GET', 'a b'] }, /method/, '/allow/1/methods/1'],
  [
    'resolvesTo of an address',
    { host: '10.0.0.1', resolvesTo: ['10.0.0.1'] },
    /only a name/,
    '/allow/1/resolvesTo',
  ],
  ['resolvesTo a name', { host: 'a.com', resolvesTo: ['b.com'] }, /lists IPs/, '/allow/1/resolvesTo/0'],
  [
    'resolvesTo a bad CIDR',
    { host: 'a.com', resolvesTo: ['10.0.0.1/8'] },
    /lists IPs/,
    '/allow/1/resolvesTo/0',
  ],
  ['an empty resolvesTo', { host: 'a.com', resolvesTo: [] }, /not empty/, '/allow/1/resolvesTo'],
];

describe('an entry that cannot be used is refused by its place', () => {
  test.each(entries.map((row) => [row[0], row] as const))('%s', (_, [, entry, why, pointer = '/allow/1']) => {
    const error = refusal(() => parsePolicy({ allow: ['example.com', entry] }));
    expect(error).toMatchObject({ code: 'invalid_policy', status: 422, extra: { pointer } });
    expect(error.message).toMatch(why);
    if (typeof entry === 'string' && entry.length < 200) expect(error.extra['entry']).toBe(entry);
  });

  test('resolvesTo in a deny rule', () => {
    const error = refusal(() => parsePolicy({ deny: [{ host: 'a.com', resolvesTo: ['10.0.0.0/8'] }] }));
    expect(error.extra).toMatchObject({ pointer: '/deny/0/resolvesTo' });
  });

  test('a long entry is cut in the answer', () => {
    const error = refusal(() => parsePolicy({ allow: [`${'x'.repeat(5000)}`] }));
    expect(String(error.extra['entry']).length).toBeLessThan(250);
  });
});

describe('the rest of a policy', () => {
  const cases: readonly (readonly [what: string, input: unknown, pointer: string])[] = [
    ['nothing', undefined, ''],
    ['null', null, ''],
    ['a string', 'public', ''],
    ['a list', [], ''],
    ['an unknown member', { alow: [] }, '/alow'],
    ['an unknown member with a slash', { 'a/b~c': 1 }, '/a~1b~0c'],
    ['an unknown mode', { mode: 'open' }, '/mode'],
    ['null as mode', { mode: null }, '/mode'],
    ['allow that is no list', { allow: 'example.com' }, '/allow'],
    ['deny that is no list', { deny: {} }, '/deny'],
    ['too many entries', { deny: Array.from({ length: 50_001 }, () => 'a.com') }, '/deny'],
    [
      'paths without end',
      { deny: Array.from({ length: 300 }, () => ({ host: 'a.com', path: `/${'x'.repeat(1000)}` })) },
      '/deny',
    ],
    ['block that is no list', { block: 'image' }, '/block'],
    ['an unknown type', { block: ['image', 'images'] }, '/block/1'],
    ['documents', { block: ['document'] }, '/block/0'],
    ['WebSockets, which interception cannot stop', { block: ['websocket'] }, '/block/0'],
    ['an unknown scheme', { schemes: ['file'] }, '/schemes/0'],
    ['schemes that are no list', { schemes: 'data' }, '/schemes'],
    ['a guard that is no object', { guard: 'http://127.0.0.1/' }, '/guard'],
    ['a guard without URL', { guard: {} }, '/guard/url'],
    ['a guard with another scheme', { guard: { url: 'file:///x' } }, '/guard/url'],
    ['a guard with credentials', { guard: { url: 'http://u:p@127.0.0.1/' } }, '/guard/url'],
    ['a guard with a host that is none', { guard: { url: 'http://a..b/' } }, '/guard/url'],
    ['a guard with time 0', { guard: { url: 'http://127.0.0.1/', timeoutMs: 0 } }, '/guard/timeoutMs'],
    ['a guard with a minute', { guard: { url: 'http://127.0.0.1/', timeoutMs: 60_000 } }, '/guard/timeoutMs'],
    ['a guard with an unknown member', { guard: { url: 'http://127.0.0.1/', retry: 1 } }, '/guard/retry'],
    ['nat64 that is no list', { nat64: '64:ff9b::/96' }, '/nat64'],
    ['an IPv4 prefix for NAT64', { nat64: ['10.0.0.0/8'] }, '/nat64/0'],
    ['a NAT64 prefix of another length', { nat64: ['2001:db8::/33'] }, '/nat64/0'],
  ];

  test.each(cases)('%s', (_, input, pointer) => {
    const error = refusal(() => parsePolicy(input));
    expect(error).toMatchObject({ code: 'invalid_policy', extra: { pointer } });
  });

  test('credentials of a guard are not repeated', () => {
    const error = refusal(() => parsePolicy({ guard: { url: 'http://user:hunter2@127.0.0.1/' } }));
    expect(JSON.stringify([error.message, error.extra])).not.toContain('hunter2');
  });
});

describe('flags', () => {
  test('name the flag', () => {
    expect(refusal(() => policyFromFlags({ allow: ['com'] })).extra).toEqual({
      entry: 'com',
      pointer: '--allow',
    });
    expect(refusal(() => policyFromFlags({ deny: ['*'] })).extra).toEqual({ entry: '*', pointer: '--deny' });
  });

  test('broken JSON', () => {
    expect(refusal(() => policyFromFlags({ allow: ['{"host":'] })).extra['pointer']).toBe('--allow');
  });

  test('a broken file', () => {
    expect(refusal(() => policyFromFlags({ file: { mode: 'x' } })).extra['pointer']).toBe('/mode');
  });
});
