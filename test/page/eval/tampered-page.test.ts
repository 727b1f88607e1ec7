import { afterAll, expect, test } from 'vitest';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import { navigate } from '../../../src/page/navigate.ts';
import { PageHarness, PageServer } from '../../support/page-harness.ts';

const TAMPERED = `<title>T</title><p>text</p><script>
  const lie = () => 'lie';
  JSON.stringify = lie; JSON.parse = lie;
  globalThis.JSON = { stringify: lie };
  Array.prototype.toJSON = lie; Object.prototype.toJSON = lie;
  Array.prototype[Symbol.iterator] = function* () { yield 'lie' };
  Map.prototype.entries = lie; Map.prototype[Symbol.iterator] = lie; Map.prototype.forEach = lie;
  Set.prototype[Symbol.iterator] = lie;
  Object.keys = lie; Object.entries = lie; Object.getPrototypeOf = lie;
  Object.prototype.hasOwnProperty = lie;
  Array.isArray = () => false; Array.prototype.push = lie; Array.prototype.map = lie;
  Date.prototype.toISOString = lie; Date.prototype.toJSON = lie;
  globalThis.WeakSet = class { has() { return false } add() {} };
  globalThis.WeakMap = class { get() {} set() {} };
  Function.prototype.call = lie; Function.prototype.apply = lie;
  Promise.prototype.then = lie;
  globalThis.Promise = class { then() {} };
  globalThis.Error = class {};
  document.querySelector = lie;
  Object.defineProperty(document, 'title', { get: lie });
</script>`;

const CSP = "default-src 'none'; script-src 'none'; require-trusted-types-for 'script'";

const server = await PageServer.open({
  '/tampered': TAMPERED,
  '/csp': (_, response) =>
    response
      .writeHead(200, { 'content-type': 'text/html', 'content-security-policy': CSP })
      .end('<title>C</title><p>text</p>'),
});
const chrome = await PageHarness.open();
afterAll(async () => {
  await chrome[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const ASKED = '({ a: [1, { b: "c" }], m: new Map().set(1, new Set().add(2)), d: new Date(0), n: null })';
const TRUTH = {
  a: [1, { b: 'c' }],
  m: { $type: 'map', value: [[1, { $type: 'set', value: [2] }]] },
  d: { $type: 'date', value: '1970-01-01T00:00:00.000Z' },
  n: null,
};

test.each(['/tampered', '/csp'])('%s changes nothing about an answer', async (path) => {
  await chrome.run((op) => navigate(op, { url: server.url(path) }));
  const run = (expression: string) => chrome.run((op) => evaluate(op, { expression }));
  expect(await run(ASKED)).toEqual({ value: TRUTH, type: 'object' });
  expect((await run(`await (async () => (${ASKED}))()`)).value).toEqual(TRUTH);
  expect((await run(`return (async () => (${ASKED}))()`)).value).toEqual(TRUTH);
  expect((await run('a = { b: 1 }; a.self = a; a')).value).toEqual({ b: 1, self: { $ref: '' } });
  const called = await chrome.run((op) =>
    evaluate(op, { function: '(a, b) => [a, b]', args: [{ x: [1] }, 'y'] }),
  );
  expect(called.value).toEqual([{ x: [1] }, 'y']);
});

test('the isolated world has the DOM and none of what the page redefined', async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/tampered') }));
  const expression = '[document.title, JSON.stringify([1]), document.querySelector("p").textContent]';
  expect((await chrome.run((op) => evaluate(op, { expression, world: 'isolated' }))).value).toEqual([
    'T',
    '[1]',
    'text',
  ]);
  expect((await chrome.run((op) => evaluate(op, { expression }))).value).toEqual(
    ['lie', 'lie', undefined].map((v) => v ?? { $type: 'undefined' }),
  );
});
