import { afterAll, expect, test } from 'vitest';
import { evaluate } from '../../src/page/eval/evaluate.ts';
import { pageInfo } from '../../src/page/info.ts';
import { navigate } from '../../src/page/navigate.ts';
import { PageHarness, PageServer } from '../support/page-harness.ts';
import { problemOf } from '../support/problem-of.ts';

const server = await PageServer.open({
  '/a': '<title>A</title>',
  '/slow': '<title>slow</title><img src="/never">',
  '/half': (_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).write('<title>half</title>x'),
  '/never': () => undefined,
  '/dead': (request) => request.socket.destroy(),
});
const chrome = await PageHarness.open();
afterAll(async () => {
  await chrome[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

test('a new tab', async () => {
  expect(await chrome.run(pageInfo)).toEqual({
    tab: 't1',
    url: 'about:blank',
    title: '',
    readyState: 'complete',
    loading: false,
    dialog: null,
    historyLength: 1,
  });
});

test.each([
  ['/a', 'load', { title: 'A', readyState: 'complete', loading: false }],
  ['/slow', 'domcontentloaded', { title: 'slow', readyState: 'interactive', loading: true }],
  ['/half', 'commit', { readyState: 'loading', loading: true }],
] as const)('%s', async (path, waitUntil, state) => {
  await chrome.run((op) => navigate(op, { url: server.url(path), waitUntil }));
  expect(await chrome.run(pageInfo)).toMatchObject({ url: server.url(path), ...state });
});

test('a page that could not be loaded has its own address, and the error', async () => {
  await problemOf(chrome.run((op) => navigate(op, { url: server.url('/dead') })));
  expect(await chrome.run(pageInfo)).toMatchObject({
    url: server.url('/dead'),
    title: '',
    failed: 'net::ERR_EMPTY_RESPONSE',
    loading: false,
  });
});

test('behind a dialog, and with a changed title', async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/a') }));
  await chrome.run((op) =>
    evaluate(op, { expression: 'document.title = "new"; history.pushState(0, 0, "/b")' }),
  );
  await problemOf(chrome.run((op) => evaluate(op, { expression: 'prompt("name?", "Ann")' })));
  expect(await chrome.run(pageInfo)).toMatchObject({
    url: server.url('/b'),
    title: 'new',
    dialog: { type: 'prompt', message: 'name?', defaultPrompt: 'Ann' },
  });
  await chrome.tab.answerDialog(false);
  expect(await chrome.run(pageInfo)).toMatchObject({ dialog: null });
});
