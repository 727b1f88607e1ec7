import { afterAll, expect, test } from 'vitest';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import { reload } from '../../../src/page/history.ts';
import { pageInfo } from '../../../src/page/info.ts';
import { navigate } from '../../../src/page/navigate.ts';
import { screenshot } from '../../../src/page/screenshot.ts';
import { PageHarness, PageServer } from '../../support/page-harness.ts';
import { problemOf } from '../../support/problem-of.ts';

const server = await PageServer.open({ '/a': '<title>A</title>' });
const chrome = await PageHarness.open();
afterAll(async () => {
  await chrome[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

test.each([
  ['a navigation', () => chrome.run((op) => navigate(op, { url: server.url('/a') }))],
  ['a reload', () => chrome.run((op) => reload(op, {}))],
])('a crash ends what waits, fails what comes, and %s brings the tab back', async (_, revive) => {
  await chrome.run((op) => navigate(op, { url: server.url('/a') }));
  const waiting = problemOf(
    chrome.run((op) => evaluate(op, { expression: 'new Promise((r) => { globalThis.r = r })' }), {
      timeoutMs: 50_000,
    }),
  );
  await chrome.run((op) => evaluate(op, { expression: '1' }));
  chrome.tab.session.send('Page.crash').catch(() => undefined);
  expect((await waiting).code).toBe('page_crashed');

  expect((await problemOf(chrome.run((op) => evaluate(op, { expression: '1' })))).code).toBe('page_crashed');
  expect((await problemOf(chrome.run((op) => screenshot(op, {})))).code).toBe('page_crashed');
  expect(await chrome.run(pageInfo)).toMatchObject({ crashed: true, url: server.url('/a') });

  expect(await revive()).toMatchObject({ status: 200, title: 'A' });
  expect(await chrome.run((op) => evaluate(op, { expression: 'document.title' }))).toMatchObject({
    value: 'A',
  });
});

test('chrome://crash, however it is reached, is the same', async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/a') }));
  const waiting = problemOf(
    chrome.run((op) => evaluate(op, { expression: 'new Promise((r) => { globalThis.r = r })' }), {
      timeoutMs: 50_000,
    }),
  );
  chrome.tab.session.send('Page.navigate', { url: 'chrome://crash' }).catch(() => undefined);
  expect(['page_crashed', 'evaluation_error']).toContain((await waiting).code);
  expect(await chrome.run((op) => navigate(op, { url: server.url('/a') }))).toMatchObject({ status: 200 });
});
