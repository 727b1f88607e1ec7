import { afterAll, expect, test } from 'vitest';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import { pageInfo } from '../../../src/page/info.ts';
import { navigate } from '../../../src/page/navigate.ts';
import { PageHarness, PageServer } from '../../support/page-harness.ts';
import { problemOf } from '../../support/problem-of.ts';

const chrome = await PageHarness.open();
afterAll(() => chrome[Symbol.asyncDispose]());

function open(): Promise<PageServer> {
  return PageServer.open({
    '/page': `<title>P</title><h1>Ready</h1><img src="/never"><script>
      new EventSource('/sse'); new WebSocket('ws://' + location.host + '/never')</script>`,
    '/streams': "<title>S</title><h1>Ready</h1><script>new EventSource('/sse')</script>",
    '/never': () => undefined,
    '/sse': (_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n'),
    '/body': (_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).write('<title>B</title><h1>Half</h1>'),
    '/a': '<title>A</title>',
  });
}

test('a page whose images and streams never end is ready for those who wait for the DOM', async () => {
  await using server = await open();
  const url = server.url('/page');
  expect(await chrome.run((op) => navigate(op, { url, waitUntil: 'commit' }))).toMatchObject({ status: 200 });
  expect(await chrome.run((op) => navigate(op, { url, waitUntil: 'domcontentloaded' }))).toMatchObject({
    status: 200,
    title: 'P',
  });
});

test('waiting for its load, or for silence, ends at the limit and keeps the page', async () => {
  await using server = await open();
  for (const [path, waitUntil] of [
    ['/page', 'load'],
    ['/streams', 'networkidle'],
    ['/body', 'load'],
  ] as const) {
    const url = server.url(path);
    const problem = await problemOf(
      chrome.run((op) => navigate(op, { url, waitUntil }), { timeoutMs: 1500 }),
    );
    expect(problem).toMatchObject({ code: 'timeout', retryable: true });
    expect(await chrome.run(pageInfo)).toMatchObject({ url, loading: path !== '/streams' });
    const { value } = await chrome.run((op) =>
      evaluate(op, { expression: "document.querySelector('h1').textContent" }),
    );
    expect(value).toBe(path === '/body' ? 'Half' : 'Ready');
  }
});

test('a load that was given up does not hold up, or pass for, the next one', async () => {
  await using server = await open();
  await problemOf(chrome.run((op) => navigate(op, { url: server.url('/page') }), { timeoutMs: 1000 }));
  const next = await chrome.run((op) => navigate(op, { url: server.url('/a'), waitUntil: 'networkidle' }));
  expect(next).toMatchObject({ url: server.url('/a'), status: 200, title: 'A', redirects: [] });
});

test('a navigation that got no answer in time does not replace the page later', async () => {
  let answer: (() => void) | undefined;
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  await using server = await PageServer.open({
    '/a': '<title>A</title>',
    '/late': (_, response) => {
      answer = () => response.writeHead(200, { 'content-type': 'text/html' }).end('<title>late</title>');
      response.on('close', resolve);
    },
  });
  await chrome.run((op) => navigate(op, { url: server.url('/a') }));
  const problem = await problemOf(
    chrome.run((op) => navigate(op, { url: server.url('/late') }), { timeoutMs: 1000 }),
  );
  expect(problem.code).toBe('timeout');
  await asked;
  answer?.();
  expect(await chrome.run(pageInfo)).toMatchObject({ url: server.url('/a'), title: 'A', loading: false });
});
