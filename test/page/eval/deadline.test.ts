import { afterAll, beforeEach, expect, test } from 'vitest';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import type { EvalInput } from '../../../src/page/eval/schema.ts';
import { pageInfo } from '../../../src/page/info.ts';
import { navigate } from '../../../src/page/navigate.ts';
import { screenshot } from '../../../src/page/screenshot.ts';
import { PageHarness, PageServer } from '../../support/page-harness.ts';
import { problemOf } from '../../support/problem-of.ts';

const server = await PageServer.open({ '/': '<title>T</title><button onclick="while (1);">Spin</button>' });
const chrome = await PageHarness.open();
afterAll(async () => {
  await chrome[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/') }), { timeoutMs: 30_000 });
});

const run = (input: EvalInput, timeoutMs = 30_000) => chrome.run((op) => evaluate(op, input), { timeoutMs });

test.each(['while (true) {}', 'await 1; while (true) {}', 'const spin = () => { while (true) {} }; spin()'])(
  'a script that still ran is said to have been stopped: %s',
  async (expression) => {
    for (const timeoutMs of [300, 500]) {
      const problem = await problemOf(run({ expression }, timeoutMs));
      expect(problem).toMatchObject({ code: 'timeout', extra: { renderer: 'stopped' } });
    }
  },
);

test('one that only waited is not', async () => {
  const expression = 'new Promise((resolve) => { globalThis.kept = resolve })';
  const problem = await problemOf(run({ expression }, 300));
  expect(problem).toMatchObject({ code: 'timeout', extra: { renderer: 'idle' } });
});

test.each<[string, EvalInput]>([
  ['a loop', { expression: 'while (true) {}' }],
  ['a loop after an await', { expression: 'await 1; while (true) {}' }],
  ['a loop in a function', { function: '() => { while (true) {} }' }],
  [
    'a loop in a timer that the script waits for',
    { expression: 'await new Promise(() => setTimeout(() => { while (true) {} }))' },
  ],
  ['a regular expression that never ends', { expression: '/^(a+)+$/.test("a".repeat(60) + "b")' }],
  ['a promise that never settles', { expression: 'new Promise((resolve) => { globalThis.kept = resolve })' }],
])('%s ends at the limit, and the page goes on', async (_, input) => {
  expect((await problemOf(run(input, 700))).code).toBe('timeout');
  expect((await run({ expression: 'document.title + 1' })).value).toBe('T1');
});

test('a page that starts its loop again and again loses its renderer, not its tab', async () => {
  const expression = 'setInterval(() => { while (true) {} }); await new Promise(() => {})';
  const problem = await problemOf(run({ expression }, 700));
  expect(problem).toMatchObject({ code: 'timeout', extra: { renderer: 'killed' } });
  expect((await problemOf(run({ expression: '1' }))).code).toBe('page_crashed');
  await chrome.run((op) => navigate(op, { url: server.url('/') }), { timeoutMs: 30_000 });
  expect((await run({ expression: '1 + 1' })).value).toBe(2);
});

test('while the page spins, its state is told at once and what needs it ends at the limit', async () => {
  const { session } = chrome.tab;
  const pressed = session.send('Runtime.evaluate', {
    expression: "document.querySelector('button').click()",
  });
  pressed.catch(() => undefined);
  expect(await chrome.run(pageInfo)).toMatchObject({ url: server.url('/'), title: 'T', dialog: null });
  expect((await problemOf(chrome.run((op) => screenshot(op, {}), { timeoutMs: 500 }))).code).toBe('timeout');
  expect((await problemOf(run({ expression: '1' }, 500))).code).toBe('timeout');
  expect((await run({ expression: '1 + 1' })).value).toBe(2);
});

test('a promise that nothing can settle any more says so, or ends at the limit', async () => {
  const waiting = problemOf(run({ expression: 'new Promise(() => {})' }, 3000));
  await chrome.tab.session.send('HeapProfiler.collectGarbage');
  expect(['timeout', 'evaluation_error']).toContain((await waiting).code);
});

test('a script under which the page navigates ends with that', async () => {
  const problem = await problemOf(
    run({ expression: 'location.reload(); await new Promise((resolve) => { globalThis.kept = resolve })' }),
  );
  expect(problem).toMatchObject({ code: 'evaluation_error', extra: { navigated: true } });
  expect((await run({ expression: '1 + 1' })).value).toBe(2);
});

test('a script that opens a dialog ends with the dialog, and goes on once it is answered', async () => {
  const problem = await problemOf(run({ expression: 'globalThis.answer = confirm("sure?"); answer' }));
  expect(problem).toMatchObject({
    code: 'dialog_open',
    extra: { dialog: { type: 'confirm', message: 'sure?' } },
  });
  expect((await problemOf(run({ expression: '1' }))).code).toBe('dialog_open');
  await chrome.tab.answerDialog(true);
  expect((await run({ expression: 'answer' })).value).toBe(true);
  expect((await run({ expression: 'print(), "after"' })).value).toBe('after');
});

test('where the session answers dialogs by itself, a script gets its answer', async () => {
  await using quiet = await PageHarness.open({ dialogs: 'accept' });
  quiet.tab.on('dialog', () => {
    quiet.tab.answerDialog(true, 'Ann').catch(() => undefined);
  });
  const { value } = await quiet.run((op) => evaluate(op, { expression: '[prompt("name"), confirm("x")]' }));
  expect(value).toEqual(['Ann', true]);
});
