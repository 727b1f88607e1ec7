import { afterAll, expect, test } from 'vitest';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import { PageHarness } from '../../support/page-harness.ts';
import { problemOf } from '../../support/problem-of.ts';

const chrome = await PageHarness.open();
afterAll(() => chrome[Symbol.asyncDispose]());

const run = (expression: string) => chrome.run((op) => evaluate(op, { expression }));

test.each([
  ['1; 2; 3', 3],
  ['if (true) { 7 } else { 8 }', 7],
  ['for (const a of [1, 2]) { a }', 2],
  ['let a1 = 1; { let b = 2; a1 + b }', 3],
  ['function f() { return 1 } f()', 1],
  ['return 5', 5],
  ['if (document) return "early"; "late"', 'early'],
  ['return await Promise.resolve(6) // a comment', 6],
  ['await Promise.resolve([1])', [1]],
  ['let z = await 3; z + 1', 4],
  ['const p = new Promise((r) => setTimeout(r, 1, "late")); p', 'late'],
  ['new Promise((r) => setTimeout(r, 1, { a: 1 }))', { a: 1 }],
  ['({ then(resolve) { resolve(9) } })', 9],
  ['1 + 1;', 2],
  ['1 + 1 // ;', 2],
  ['/* why */ 1, 2', 2],
  ['// why\n3', 3],
  ['{ a: 1 }', 1],
  ['({ a: 1 });', { a: 1 }],
  ['/* f */ function g() { return 1 }', { $type: 'undefined' }],
  ['async function h() {}', { $type: 'undefined' }],
  ['4\n5', 5],
  ['"a;"', 'a;'],
  ['`a\n;`', 'a\n;'],
  ['x1 = 5, x1 * 2', 10],
  ['var v1 = 7; v1', 7],
  ['typeof v1', 'number'],
  ['"return"', 'return'],
  ['"await"', 'await'],
  ['eval("1 + 1")', 2],
  ['', { $type: 'undefined' }],
])('%s', async (expression, value) => {
  expect((await run(expression)).value).toEqual(value);
});

test('a script with declarations can run again, and what it declared stays', async () => {
  expect((await run('const again = 1; let more = 2; again + more')).value).toBe(3);
  expect((await run('const again = 5; let more = 2; again + more')).value).toBe(7);
  expect((await run('again')).value).toBe(5);
});

test('a promise is waited for only where that is asked for', async () => {
  const waiting = await chrome.run((op) =>
    evaluate(op, { expression: 'Promise.resolve(1)', awaitPromise: false }),
  );
  expect(waiting.value).toEqual({ $type: 'promise', class: 'Promise' });
});

test('a script that would return runs once', async () => {
  await run('globalThis.runs = 0');
  await run('globalThis.runs += 1; return globalThis.runs');
  expect((await run('globalThis.runs')).value).toBe(1);
});

test.each([
  ['throw new TypeError("bad")', { name: 'TypeError', message: 'bad', line: 1 }],
  ['1;\nnull.x', { name: 'TypeError', line: 2 }],
  ['nope nope', { name: 'SyntaxError', message: "Unexpected identifier 'nope'", line: 1 }],
  ['await Promise.reject(new RangeError("r"))', { name: 'RangeError', message: 'r' }],
  ['Promise.reject(new RangeError("r"))', { name: 'RangeError', message: 'r' }],
  ['setTimeout(() => 0); return (() => { throw new Error("in") })()', { name: 'Error', message: 'in' }],
  ['class Mine extends Error { name = "Mine" } throw new Mine("m")', { name: 'Mine', message: 'm' }],
  ['throw 5', { name: 'number', message: '5', value: 5 }],
  ['throw { a: [NaN] }', { value: { a: [{ $type: 'number', value: 'NaN' }] } }],
  ['throw undefined', { value: { $type: 'undefined' } }],
  [
    'throw new SyntaxError("Illegal return statement")',
    { name: 'SyntaxError', message: 'Illegal return statement' },
  ],
])('%s is an error of the page, with what was thrown', async (expression, exception) => {
  const problem = await problemOf(run(expression));
  expect(problem).toMatchObject({ code: 'evaluation_error', status: 422, extra: { exception } });
});

test('the stack says where', async () => {
  const problem = await problemOf(run('function inner() { throw new Error("deep") }\ninner()'));
  expect(problem.extra['exception']).toMatchObject({
    stack: expect.stringMatching(/Error: deep\n\s+at inner .*:1:/),
  });
});
