import { describe, expect, test } from 'vitest';
import { canonicalHost, parseUrl, targetOf } from '../../src/policy/canonical.ts';

describe('a raw host', () => {
  test.each([
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    ['_srv.example.com', '_srv.example.com'],
    ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
    ['127.0.0.1', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['0x7f000001', '127.0.0.1'],
    ['127.0.0.1.', '127.0.0.1'],
    ['::FFFF:127.0.0.1', '::ffff:7f00:1'],
    ['[::1]', '::1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    [`${'a'.repeat(63)}.com`, `${'a'.repeat(63)}.com`],
  ])('%s is %s', (raw, text) => {
    expect(canonicalHost(raw)?.text).toBe(text);
  });

  test.each([
    '',
    '.',
    '..',
    'a..b',
    '.a',
    'a..',
    'a b',
    ' a',
    'a\u0000.b',
    'a\n.b',
    'a\u007f',
    '\u00fcber.example',
    'a%20b',
    '127.0.0.1%00.test',
    'fe80::1%25lo',
    'fe80::1%lo',
    'a/b',
    'a\\b',
    'a?b',
    'a#b',
    'a@b',
    'a<b',
    'a|b',
    'a^b',
    'a:80',
    '[::1',
    '::1]',
    '[example.com]',
    '[127.0.0.1]',
    '[]',
    '::1::',
    '1.2.3.4.5',
    '256.0.0.1',
    '0x100000000',
    'foo.0x4',
    '*.example.com',
    'a,b.example.com',
    "a'b.example.com",
    'xn--a.example.com',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(127)}aa`,
    'a'.repeat(256),
  ])('%j is none', (raw) => {
    expect(canonicalHost(raw)).toBeUndefined();
  });

  test('a name of 253 is one, of 254 none', () => {
    const name = `${`${'a'.repeat(49)}.`.repeat(5)}abc`;
    expect(name.length).toBe(253);
    expect(canonicalHost(name)?.text).toBe(name);
    expect(canonicalHost(`${name}.`)?.text).toBe(name);
    expect(canonicalHost(`${name}d`)).toBeUndefined();
  });
});

describe('a URL', () => {
  test.each([
    ['http://example.com', 80],
    ['https://example.com', 443],
    ['http://example.com:80', 80],
    ['https://example.com:80', 80],
    ['https://example.com:0443', 443],
  ] as const)('%s has the port %i', (raw, port) => {
    const url = parseUrl(raw);
    const target = url === undefined ? undefined : targetOf(url, raw.startsWith('https') ? 'https' : 'http');
    expect(target).toMatchObject({ port, host: { text: 'example.com' } });
  });
});
