import { afterAll, expect, test } from 'vitest';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import type { EvalInput } from '../../../src/page/eval/schema.ts';
import { PageHarness } from '../../support/page-harness.ts';

const chrome = await PageHarness.open();
afterAll(() => chrome[Symbol.asyncDispose]());

const run = (expression: string, limits: Partial<EvalInput> = {}) =>
  chrome.run((op) => evaluate(op, { expression, ...limits }), { timeoutMs: 40_000 });

test.each<[string, Partial<EvalInput>, unknown, string, object[]]>([
  [
    'Array.from({ length: 20 }, (_, i) => i)',
    { maxItems: 3 },
    [0, 1, 2],
    'array',
    [{ path: '', reason: 'items', total: 20 }],
  ],
  [
    '({ a: 1, b: { c: 1, d: 2, e: 3 } })',
    { maxItems: 2 },
    { a: 1, b: { c: 1, d: 2 } },
    'object',
    [{ path: '/b', reason: 'items', total: 3 }],
  ],
  [
    'new Map([[1, 1], [2, 2], [3, 3]])',
    { maxItems: 1 },
    { $type: 'map', value: [[1, 1]] },
    'map',
    [{ path: '', reason: 'items', total: 3 }],
  ],
  [
    '[new Set([1, 2])]',
    { maxItems: 1 },
    [{ $type: 'set', value: [1] }],
    'array',
    [{ path: '/0', reason: 'items', total: 2 }],
  ],
  [
    '({ a: { b: { c: 1 } } })',
    { maxDepth: 2 },
    { a: { b: { $type: 'object', cut: 'depth' } } },
    'object',
    [{ path: '/a/b', reason: 'depth' }],
  ],
  [
    '[[[1]]]',
    { maxDepth: 1 },
    [{ $type: 'array', cut: 'depth' }],
    'array',
    [{ path: '/0', reason: 'depth' }],
  ],
  ['"abcdef"', { maxChars: 4 }, 'abcd', 'string', [{ path: '', reason: 'chars', total: 6 }]],
  ['"abc😀"', { maxChars: 4 }, 'abc', 'string', [{ path: '', reason: 'chars', total: 5 }]],
  [
    '["abcdef", "gh"]',
    { maxChars: 4 },
    ['abcd', ''],
    'array',
    [
      { path: '/0', reason: 'chars', total: 6 },
      { path: '/1', reason: 'chars', total: 2 },
    ],
  ],
  ['["abc😀"]', { maxChars: 4 }, ['abc'], 'array', [{ path: '/0', reason: 'chars', total: 5 }]],
  [
    'new Uint8Array(8)',
    { maxChars: 4 },
    { $type: 'typedarray', class: 'Uint8Array', length: 8, base64: 'AAAA' },
    'typedarray',
    [{ path: '', reason: 'items', total: 8 }],
  ],
  [
    '({ get a() { throw 1 }, b: 2 })',
    {},
    { a: { $type: 'cut', reason: 'getter' }, b: 2 },
    'object',
    [{ path: '/a', reason: 'getter' }],
  ],
])('%s within %o is cut, and the cut is said', async (expression, limits, value, type, cut) => {
  expect(await run(expression, limits)).toEqual({ value, type, truncated: true, cut });
});

test.each<[string, Partial<EvalInput>]>([
  ['[0, 1, 2]', { maxItems: 3 }],
  ['({ a: { b: 1 } })', { maxDepth: 2 }],
  ['"abcd"', { maxChars: 4 }],
  ['["ab", "cd"]', { maxChars: 4 }],
])('%s exactly at the bound %o is whole', async (expression, limits) => {
  expect(await run(expression, limits)).not.toHaveProperty('truncated');
});

test('what is cut keeps its cycles', async () => {
  const { value } = await run('o = { big: "x".repeat(50), in: {} }; o.in.up = o; o', { maxChars: 20 });
  expect(value).toEqual({ big: 'x'.repeat(20), in: { up: { $ref: '' } } });
});

test('a huge object, and one that unfolds to a huge one, answer within bounds', async () => {
  const wide = await run('Array.from({ length: 300000 }, (_, i) => ({ i, s: "k" + i }))', {
    maxItems: 100_000,
  });
  expect(wide.truncated).toBe(true);
  expect(JSON.stringify(wide.value).length).toBeLessThan(10_000_000);

  const laughs = await run('let l = ["ha"]; for (let i = 0; i < 40; i++) l = [l, l]; l', { maxDepth: 32 });
  expect(laughs.truncated).toBe(true);
  expect(JSON.stringify(laughs.value).length).toBeLessThan(10_000_000);
});

test('a deep object is cut, not a fault, with whatever it is made of', async () => {
  const map = await run('let m = 1; for (let i = 0; i < 500; i++) m = new Map([[m, m]]); m', {
    maxDepth: 32,
  });
  expect(map.truncated).toBe(true);
  const list = await run('let l = ["x".repeat(99)]; for (let i = 0; i < 31; i++) l = [{ l }]; l', {
    maxDepth: 32,
    maxChars: 9,
  });
  expect(list.truncated).toBe(true);
  const { truncated } = await run('let d = {}; for (let i = 0; i < 100000; i++) d = { d }; d', {
    maxDepth: 32,
  });
  expect(truncated).toBe(true);
});

test.each<[string, EvalInput]>([
  ['an expression', { expression: '"x".repeat(3e7)' }],
  ['what is awaited', { expression: 'await Promise.resolve("x".repeat(3e7))' }],
  ['a promise', { expression: 'Promise.resolve("x".repeat(3e7)) // late' }],
  ['a body with return', { expression: 'const s = "x".repeat(3e7); return s;' }],
  ['a function', { function: '(n) => "x".repeat(n)', args: [3e7] }],
  ['an async function', { function: 'async function big(n) { return "x".repeat(n) }', args: [3e7] }],
])('a long string stays in the page, as the value of %s', async (_, input) => {
  let received = 0;
  const { session } = chrome.tab;
  const send = session.send.bind(session);
  session.send = async (method, ...rest) => {
    const answer = await send(method, ...rest);
    received += JSON.stringify(answer).length;
    return answer;
  };
  try {
    const answer = await chrome.run((op) => evaluate(op, { ...input, maxChars: 5 }), { timeoutMs: 40_000 });
    const cut = [{ path: '', reason: 'chars', total: 3e7 }];
    expect(answer).toEqual({ value: 'xxxxx', type: 'string', truncated: true, cut });
    expect(received).toBeLessThan(10_000);
  } finally {
    session.send = send;
  }
});

test('objects that defend themselves are told as far as they let', async () => {
  const hostile = 'new Proxy({}, new Proxy({}, { get() { throw new Error("trap") } }))';
  expect((await run(hostile, { awaitPromise: false })).value).toEqual({ $type: 'proxy', class: 'Object' });
  expect((await run(`[${hostile}, 1]`)).value).toEqual([{ $type: 'proxy', class: 'Object' }, 1]);
  const fickle = '(() => { let n = 0; return { get a() { if (n++) throw 1; return "once" }, b: 2 } })()';
  expect((await run(fickle)).value).toMatchObject({ b: 2 });
});
