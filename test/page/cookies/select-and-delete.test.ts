import { afterAll, beforeEach, expect, test } from 'vitest';
import type { GetCookiesInput } from '../../../src/page/cookie-schema.ts';
import { clearCookies, deleteCookie, getCookies, setCookies } from '../../../src/page/cookies.ts';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import { navigate } from '../../../src/page/navigate.ts';
import { PageHarness, PageServer } from '../../support/page-harness.ts';
import { problemOf } from '../../support/problem-of.ts';

const server = await PageServer.open({ '/': '<title>T</title>' });
const chrome = await PageHarness.open();
afterAll(async () => {
  await chrome[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await chrome.run(clearCookies);
  await chrome.run((op) =>
    setCookies(op, {
      cookies: [
        { name: 'a', value: 'host', domain: 'x.test' },
        { name: 'a', value: 'domain', domain: '.x.test' },
        { name: 'a', value: 'path', domain: 'x.test', path: '/p' },
        { name: 'a', value: 'other', domain: 'y.test' },
        { name: 'b', value: 'secure', domain: 'x.test', secure: true },
      ],
    }),
  );
});

const values = async (input: GetCookiesInput) =>
  (await chrome.run((op) => getCookies(op, input))).cookies.map((cookie) => cookie.value).sort();

test.each<[GetCookiesInput, string[]]>([
  [{}, ['domain', 'host', 'other', 'path', 'secure']],
  [{ name: 'a' }, ['domain', 'host', 'other', 'path']],
  [{ domain: 'x.test' }, ['domain', 'host', 'path', 'secure']],
  [{ domain: '.X.test', path: '/' }, ['domain', 'host', 'secure']],
  [{ urls: ['http://x.test/'] }, ['domain', 'host']],
  [{ urls: ['https://x.test/'] }, ['domain', 'host', 'secure']],
  [{ urls: ['http://x.test/p/q', 'http://y.test/'] }, ['domain', 'host', 'other', 'path']],
  [{ urls: ['http://x.test/pq'] }, ['domain', 'host']],
  [{ urls: ['http://sub.x.test/'] }, ['domain']],
  [{ urls: ['http://notx.test/'] }, []],
])('%o selects %o', async (input, expected) => {
  expect(await values(input)).toEqual(expected);
});

test('deleting by name takes all that match, and no more; what is left is left', async () => {
  const deleted = await chrome.run((op) => deleteCookie(op, { name: 'a', domain: 'x.test', path: '/' }));
  expect(deleted.deleted.map((cookie) => cookie.value).sort()).toEqual(['domain', 'host']);
  expect(await values({})).toEqual(['other', 'path', 'secure']);
  await chrome.run((op) => deleteCookie(op, { name: 'a' }));
  expect(await values({})).toEqual(['secure']);
  expect((await problemOf(chrome.run((op) => deleteCookie(op, { name: 'a' })))).code).toBe(
    'cookie_not_found',
  );
});

test('a cookie without url or domain belongs to the page of the tab, which sees it', async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/') }));
  const { cookies } = await chrome.run((op) => setCookies(op, { cookies: [{ name: 'here', value: 'v' }] }));
  expect(cookies).toMatchObject([{ domain: '127.0.0.1', path: '/' }]);
  const { value } = await chrome.run((op) => evaluate(op, { expression: 'document.cookie' }));
  expect(value).toBe('here=v');
});

test('urls that are none are refused', async () => {
  for (const url of ['x.test', 'file:///x', '']) {
    expect((await problemOf(chrome.run((op) => getCookies(op, { urls: [url] })))).code).toBe(
      'invalid_request',
    );
  }
});
