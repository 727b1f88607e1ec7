import { afterAll, beforeEach, expect, test } from 'vitest';
import type { CookieToSet } from '../../../src/page/cookie-schema.ts';
import { clearCookies, getCookies, setCookies } from '../../../src/page/cookies.ts';
import { PageHarness } from '../../support/page-harness.ts';
import { problemOf } from '../../support/problem-of.ts';

const chrome = await PageHarness.open();
afterAll(() => chrome[Symbol.asyncDispose]());
beforeEach(() => chrome.run(clearCookies));

const HTTP = 'http://a.test/';
const HTTPS = 'https://a.test/';
const partitionKey = { topLevelSite: 'https://top.test', hasCrossSiteAncestor: true };

test.each<[string, CookieToSet]>([
  ['empty', { name: '', value: '', url: HTTP }],
  ['characters', { name: 'a;b', value: '1', url: HTTP }],
  ['characters', { name: 'a=b', value: '1', url: HTTP }],
  ['characters', { name: 'a', value: '1;2', url: HTTP }],
  ['characters', { name: 'a', value: '1\n2', url: HTTP }],
  ['size', { name: 'a', value: 'x'.repeat(5000), url: HTTP }],
  ['path', { name: 'a', value: '1', url: HTTP, path: 'x' }],
  ['expired', { name: 'a', value: '1', url: HTTP, expires: 1 }],
  ['expired', { name: 'a', value: '1', url: HTTP, expires: 0 }],
  ['samesite_none_needs_secure', { name: 'a', value: '1', url: HTTP, sameSite: 'None' }],
  ['partitioned_needs_secure', { name: 'a', value: '1', url: HTTP, partitionKey }],
  ['host_prefix', { name: '__Host-a', value: '1', url: HTTP }],
  ['host_prefix', { name: '__Host-a', value: '1', url: HTTPS, path: '/x' }],
  ['host_prefix', { name: '__host-a', value: '1', domain: '.a.test', secure: true }],
  ['secure_prefix', { name: '__Secure-a', value: '1', url: HTTP }],
  ['http_prefix', { name: '__Http-a', value: '1', url: HTTPS, secure: true }],
  ['secure_source', { name: 'a', value: '1', domain: 'a.test', secure: true, sourceScheme: 'NonSecure' }],
  ['domain_invalid', { name: 'a', value: '1', domain: 'bad domain' }],
  ['domain_invalid', { name: 'a', value: '1', domain: 'a.test:80' }],
  ['domain_invalid', { name: 'a', value: '1', domain: 'a..test' }],
  ['domain_mismatch', { name: 'a', value: '1', url: HTTP, domain: 'b.test' }],
  ['domain_mismatch', { name: 'a', value: '1', url: HTTP, domain: '.sub.a.test' }],
  ['public_suffix', { name: 'a', value: '1', domain: '.com' }],
  ['public_suffix', { name: 'a', value: '1', domain: '.127.0.0.1' }],
])('%s: %o is not stored, and the rule is named', async (rule, cookie) => {
  const problem = await problemOf(chrome.run((op) => setCookies(op, { cookies: [cookie] })));
  expect(problem).toMatchObject({
    code: 'cookie_rejected',
    extra: { rejected: [{ index: 0, name: cookie.name, rule, detail: expect.any(String) }], stored: [] },
  });
  expect(await chrome.run((op) => getCookies(op, {}))).toEqual({ cookies: [] });
});

test.each<[string, CookieToSet, object]>([
  [
    'host-only',
    { name: 'a', value: '1', domain: 'a.test' },
    { domain: 'a.test', path: '/', expires: -1, session: true },
  ],
  ['domain', { name: 'a', value: '1', domain: '.a.test' }, { domain: '.a.test' }],
  [
    'url and a parent domain',
    { name: 'a', value: '1', url: 'https://www.a.test/x', domain: '.a.test' },
    { domain: '.a.test', secure: true },
  ],
  ['prefix', { name: '__Host-a', value: '1', url: HTTPS, secure: true, path: '/' }, { secure: true }],
  [
    'prefix with a host-only domain',
    { name: '__Host-a', value: '1', domain: 'a.test', secure: true },
    { domain: 'a.test' },
  ],
  ['odd characters', { name: 'a b', value: 'x "y", é', url: HTTP }, { value: 'x "y", é' }],
  ['no name', { name: '', value: '1', url: HTTP }, { name: '' }],
  ['a name in Unicode', { name: 'a', value: '1', domain: 'bücher.test' }, { domain: 'xn--bcher-kva.test' }],
  ['an address', { name: 'a', value: '1', domain: '127.0.0.1' }, { domain: '127.0.0.1' }],
  ['an IPv6 address', { name: 'a', value: '1', url: 'http://[::1]:8080/' }, { domain: '[::1]' }],
  ['session', { name: 'a', value: '1', url: HTTP, expires: -1 }, { expires: -1, session: true }],
  [
    'all of it',
    { name: 'a', value: '1', url: HTTPS, httpOnly: true, secure: true, sameSite: 'Strict', priority: 'High' },
    { httpOnly: true, sameSite: 'Strict', priority: 'High' },
  ],
  [
    'partitioned',
    { name: 'a', value: '1', url: HTTPS, secure: true, sameSite: 'None', partitionKey },
    { partitionKey },
  ],
])('%s is stored', async (_, cookie, stored) => {
  const answer = await chrome.run((op) => setCookies(op, { cookies: [cookie] }));
  expect(answer.cookies).toHaveLength(1);
  expect(answer.cookies[0]).toMatchObject(stored);
  expect(await chrome.run((op) => getCookies(op, {}))).toEqual(answer);
  // What was read can be set as it is.
  await chrome.run(clearCookies);
  expect(await chrome.run((op) => setCookies(op, answer))).toEqual(answer);
});

test('an expiry is kept, and cut to the 400 days that Chrome allows', async () => {
  const now = Math.floor(Date.now() / 1000);
  const { cookies } = await chrome.run((op) =>
    setCookies(op, {
      cookies: [
        { name: 'soon', value: '1', url: HTTP, expires: now + 1000.5 },
        { name: 'far', value: '1', url: HTTP, expires: now + 1000 * 86_400 },
      ],
    }),
  );
  expect(cookies[0]?.expires).toBeCloseTo(now + 1000.5, 3);
  expect(cookies[1]?.expires).toBeGreaterThan(now + 399 * 86_400);
  expect(cookies[1]?.expires).toBeLessThan(now + 401 * 86_400);
});

test('one bad cookie among good ones: the good are stored and told, the bad is named', async () => {
  const cookies = [
    { name: 'good', value: '1', url: HTTP },
    { name: 'bad', value: '1', url: HTTP, sameSite: 'None' as const },
    { name: 'also', value: '1', url: HTTP },
  ];
  const problem = await problemOf(chrome.run((op) => setCookies(op, { cookies })));
  expect(problem.extra).toMatchObject({
    rejected: [{ index: 1, name: 'bad' }],
    stored: [{ name: 'good' }, { name: 'also' }],
  });
});

test('a cookie that was there before is not taken for one that was dropped', async () => {
  await chrome.run((op) => setCookies(op, { cookies: [{ name: 'a', value: 'old', url: HTTP }] }));
  const cookies = [{ name: 'a', value: 'old', url: HTTP, sameSite: 'None' as const }];
  expect((await problemOf(chrome.run((op) => setCookies(op, { cookies })))).code).toBe('cookie_rejected');
});

test('a cookie without a home is refused on a page that has none', async () => {
  const problem = await problemOf(
    chrome.run((op) => setCookies(op, { cookies: [{ name: 'a', value: '1' }] })),
  );
  expect(problem.code).toBe('invalid_request');
});
