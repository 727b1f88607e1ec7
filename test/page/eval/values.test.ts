import { afterAll, expect, test } from 'vitest';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import { PageHarness } from '../../support/page-harness.ts';

const chrome = await PageHarness.open();
afterAll(() => chrome[Symbol.asyncDispose]());

const run = (expression: string) => chrome.run((op) => evaluate(op, { expression }));
const undef = { $type: 'undefined' };
const number = (value: string) => ({ $type: 'number', value });

test.each([
  ['1 + 1', 2, 'number'],
  ['"a\\u{1F600}"', 'a😀', 'string'],
  ['true', true, 'boolean'],
  ['null', null, 'null'],
  ['undefined', undef, 'undefined'],
  ['NaN', number('NaN'), 'number'],
  ['Infinity', number('Infinity'), 'number'],
  ['-Infinity', number('-Infinity'), 'number'],
  ['-0', number('-0'), 'number'],
  ['10n', { $type: 'bigint', value: '10' }, 'bigint'],
  ['Symbol("z")', { $type: 'symbol', description: 'z' }, 'symbol'],
  ['Symbol()', { $type: 'symbol', description: '' }, 'symbol'],
  ['() => 1', { $type: 'function', source: '() => 1' }, 'function'],
  ['new Date(0)', { $type: 'date', value: '1970-01-01T00:00:00.000Z' }, 'date'],
  ['new Date(NaN)', { $type: 'date', value: null }, 'date'],
  ['/a\\/b/gi', { $type: 'regexp', pattern: 'a\\/b', flags: 'gi' }, 'regexp'],
  [
    'new Map([[1, 2], [{ a: 1 }, "k"]])',
    {
      $type: 'map',
      value: [
        [1, 2],
        [{ a: 1 }, 'k'],
      ],
    },
    'map',
  ],
  ['new Set([1, "a", NaN])', { $type: 'set', value: [1, 'a', number('NaN')] }, 'set'],
  [
    'new Uint8Array([1, 2, 255])',
    { $type: 'typedarray', class: 'Uint8Array', length: 3, base64: 'AQL/' },
    'typedarray',
  ],
  [
    'new Uint16Array([1, 258]).buffer',
    { $type: 'arraybuffer', class: 'ArrayBuffer', length: 4, base64: 'AQACAQ==' },
    'arraybuffer',
  ],
  [
    'new BigInt64Array([-1n])',
    { $type: 'typedarray', class: 'BigInt64Array', length: 1, base64: '//////////8=' },
    'typedarray',
  ],
  ['new DataView(new ArrayBuffer(2))', { $type: 'dataview', length: 2 }, 'dataview'],
  ['new Number(3)', { $type: 'boxed', class: 'Number', value: '3' }, 'boxed'],
  ['new URL("http://a/")', { $type: 'platformobject', class: 'URL' }, 'platformobject'],
  ['new WeakMap()', { $type: 'weakmap', class: 'WeakMap' }, 'weakmap'],
  ['[new Promise(() => {})]', [{ $type: 'promise', class: 'Promise' }], 'array'],
  ['window', { $type: 'window' }, 'window'],
  ['document.createTextNode("t")', { $type: 'node', nodeType: 3, text: 't', children: 0 }, 'node'],
  [
    '[NaN, -0, 5n,, null]',
    [number('NaN'), number('-0'), { $type: 'bigint', value: '5' }, undef, null],
    'array',
  ],
  [
    '({ u: undefined, n: NaN, s: { f() {} } })',
    { u: undef, n: number('NaN'), s: { f: { $type: 'function', source: 'f() {}' } } },
    'object',
  ],
  ['({ ["__proto__"]: 1, constructor: 2 })', JSON.parse('{"__proto__": 1, "constructor": 2}'), 'object'],
  ['({})', {}, 'object'],
  ['Object.create(null)', {}, 'object'],
])('%s', async (expression, value, type) => {
  const answer = await run(expression);
  expect(answer).toEqual({ value, type });
  // What is sent is what was meant: no member of it is lost on the way.
  expect(JSON.parse(JSON.stringify(answer.value))).toEqual(value);
});

test('floats keep their bits', async () => {
  const { value } = await run('[new Float64Array([1.5, -0, NaN]), new Float32Array([0.1])]');
  const bytes = (buffer: ArrayBuffer) => Buffer.from(buffer).toString('base64');
  expect(value).toMatchObject([
    { base64: bytes(new Float64Array([1.5, -0, Number.NaN]).buffer) },
    { base64: bytes(new Float32Array([0.1]).buffer) },
  ]);
});

test.each([
  ['new Error("boom")', 'Error', 'boom'],
  ['new TypeError("bad")', 'TypeError', 'bad'],
  ['Object.assign(new Error("m\\nn"), { name: "Mine" })', 'Mine', 'm\nn'],
  ['new DOMException("gone", "AbortError")', 'AbortError', 'gone'],
])('%s keeps its name, message and stack, wherever it is', async (expression, name, message) => {
  const tag = { $type: 'error', name, message, stack: expect.stringContaining(message) };
  expect(await run(expression)).toEqual({ value: tag, type: 'error' });
  const { value } = await run(`({ a: [${expression}], m: new Map([[1, ${expression}]]) })`);
  expect(value).toEqual({ a: [tag], m: { $type: 'map', value: [[1, tag]] } });
});

test('a member of the page that looks like a tag cannot pass for one', async () => {
  const forged = '{ $type: "bigint", value: "1" }';
  expect((await run(`(${forged})`)).value).toEqual({
    $type: 'object',
    value: { $type: 'bigint', value: '1' },
  });
  expect((await run('[{ $ref: "/0", x: [1] }]')).value).toEqual([
    { $type: 'object', value: { $ref: '/0', x: [1] } },
  ]);
});

test('a cycle is a JSON pointer; an object that is only met twice is written twice', async () => {
  expect((await run('a = { b: 1 }; a.self = a; a')).value).toEqual({ b: 1, self: { $ref: '' } });
  expect((await run('x = { y: 1 }; [x, x, { x }]')).value).toEqual([{ y: 1 }, { y: 1 }, { x: { y: 1 } }]);
  const { value } = await run(
    'm = new Map(); o = { "a/b": { m, "~": [] } }; m.set("k", o["a/b"]); o["a/b"]["~"].push(o["a/b"]["~"]); o',
  );
  expect(value).toEqual({
    'a/b': { m: { $type: 'map', value: [['k', { $ref: '/a~1b' }]] }, '~': [{ $ref: '/a~1b/~0' }] },
  });
  const escaped = 'o = { $type: "t", in: {} }; o.in.up = o; o.in.self = o.in; o';
  expect((await run(escaped)).value).toEqual({
    $type: 'object',
    value: { $type: 't', in: { up: { $ref: '' }, self: { $ref: '/value/in' } } },
  });
});

test('a primitive takes one command of Chrome, an object two', async () => {
  const sent: string[] = [];
  const { session } = chrome.tab;
  const send = session.send.bind(session);
  session.send = (method, ...rest) => {
    sent.push(method);
    return send(method, ...rest);
  };
  try {
    await run('1 + 1');
    expect(sent).toEqual(['Runtime.evaluate']);
    sent.length = 0;
    await run('({ a: [1, "b"] })');
    expect(sent).toEqual(['Runtime.evaluate', 'Runtime.callFunctionOn', 'Runtime.releaseObjectGroup']);
  } finally {
    session.send = send;
  }
});
