import { describe, expect, test } from 'vitest';
import { decideUrl, type UrlUse } from '../../src/policy/decide.ts';
import { defaultPolicy, parsePolicy } from '../../src/policy/policy.ts';
import { SelfRegistry } from '../../src/policy/self.ts';

const self = new SelfRegistry();
const uses: readonly UrlUse[] = ['navigation', 'subframe', 'subresource'];

/** Which uses pass, in the order above. */
const rows: readonly (readonly [url: string, ...passes: (boolean | string)[]])[] = [
  ['http://example.com/', true, true, true],
  ['https://example.com/', true, true, true],
  ['ws://example.com/', 'scheme', 'scheme', true],
  ['wss://example.com/', 'scheme', 'scheme', true],
  ['ws://127.0.0.1:9222/devtools', 'scheme', 'scheme', 'loopback'],
  ['wss://user@example.com/', 'scheme', 'scheme', 'userinfo'],
  ['about:blank', true, true, 'scheme'],
  ['about:blank#x', true, true, 'scheme'],
  ['ABOUT:BLANK', 'scheme', 'scheme', 'scheme'],
  ['about:srcdoc', 'scheme', true, 'scheme'],
  ['about:version', 'scheme', 'scheme', 'scheme'],
  ['data:text/html,x', 'scheme', true, true],
  ['DATA:text/html,x', 'scheme', true, true],
  ['blob:http://example.com/6d1b', 'scheme', true, true],
  ['blob:https://example.com/6d1b', 'scheme', true, true],
  ['blob:http://127.0.0.1/6d1b', 'scheme', 'loopback', 'loopback'],
  ['blob:http://user@example.com/6d1b', 'scheme', 'userinfo', 'userinfo'],
  ['blob:blob:http://example.com/6d1b', 'scheme', 'scheme', 'scheme'],
  ['blob:file:///etc/passwd', 'scheme', 'scheme', 'scheme'],
  ['blob:null/6d1b', 'scheme', 'scheme', 'scheme'],
  ['blob:', 'scheme', 'scheme', 'scheme'],
  ['filesystem:http://example.com/temporary/x', 'scheme', 'scheme', 'scheme'],
  ['file:///etc/passwd', 'scheme', 'scheme', 'scheme'],
  [' \u0000\u001ffile:///etc/passwd', 'scheme', 'scheme', 'scheme'],
  ['f\ti\nl\re:///etc/passwd', 'scheme', 'scheme', 'scheme'],
  ['javascript:alert(1)', 'scheme', 'scheme', 'scheme'],
  ['java\nscript:alert(1)', 'scheme', 'scheme', 'scheme'],
  ['view-source:http://example.com/', 'scheme', 'scheme', 'scheme'],
  ['VIEW-SOURCE:file:///etc/passwd', 'scheme', 'scheme', 'scheme'],
  ['chrome://gpu', 'scheme', 'scheme', 'scheme'],
  ['chrome-extension://aapocclcgogkmnckokdopfmhonfmgoek/x', 'scheme', 'scheme', 'scheme'],
  ['devtools://devtools/bundled/inspector.html', 'scheme', 'scheme', 'scheme'],
  ['mailto:a@b.c', 'scheme', 'scheme', 'scheme'],
  ['http://', 'invalid-url', 'invalid-url', 'invalid-url'],
  [`http://example.com/${'x'.repeat(2 * 1024 * 1024)}`, 'invalid-url', 'invalid-url', 'invalid-url'],
];

const policy = defaultPolicy();

describe.each(rows.map((row) => [row[0].slice(0, 60), row] as const))('%s', (_, [url, ...passes]) => {
  test.each(uses.map((use, i) => [use, passes[i] ?? false] as const))('as %s: %s', (use, expected) => {
    const { verdict, reason } = decideUrl(url, policy, { self, use });
    expect(verdict === 'allow' ? true : reason).toBe(expected);
  });
});

test('data: documents can be switched on', () => {
  const open = parsePolicy({ schemes: ['data'] });
  expect(decideUrl('data:text/html,x', open, { self, use: 'navigation' }).verdict).toBe('allow');
  expect(decideUrl('file:///etc/passwd', open, { self, use: 'navigation' }).reason).toBe('scheme');
});

test('an allowlist holds for blobs by the origin that made them', () => {
  const list = parsePolicy({ mode: 'allowlist', allow: ['example.com'] });
  expect(decideUrl('blob:http://example.com/1', list, { self, use: 'subframe' }).verdict).toBe('allow');
  expect(decideUrl('blob:http://example.org/1', list, { self, use: 'subframe' }).reason).toBe(
    'not-allowlisted',
  );
});

test('a path rule admits the blobs of its host, which have no path of their own', () => {
  const list = parsePolicy({ mode: 'allowlist', allow: [{ host: 'example.com', path: '/app/*' }] });
  expect(decideUrl('blob:http://example.com/1', list, { self, use: 'subresource' }).verdict).toBe('allow');
});
