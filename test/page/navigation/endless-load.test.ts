import { once } from 'node:events';
import { afterAll, expect, test } from 'vitest';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import { reload } from '../../../src/page/history.ts';
import { pageInfo } from '../../../src/page/info.ts';
import { navigate } from '../../../src/page/navigate.ts';
import type { Operation } from '../../../src/page/operation.ts';
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
  let late = false;
  const held: (() => void)[] = [];
  const closed: Promise<unknown>[] = [];
  const slow: Parameters<typeof PageServer.open>[0][string] = (_, response) => {
    const send = () => response.writeHead(200, { 'content-type': 'text/html' }).end('<title>late</title>');
    if (!late) return void response.writeHead(200, { 'content-type': 'text/html' }).end('<title>A</title>');
    held.push(send);
    closed.push(once(response, 'close'));
  };
  await using server = await PageServer.open({ '/a': slow, '/b': slow });
  await chrome.run((op) => navigate(op, { url: server.url('/b') }));
  await chrome.run((op) => navigate(op, { url: server.url('/a') }));
  late = true;
  for (const go of [
    (op: Operation) => navigate(op, { url: server.url('/b') }),
    (op: Operation) => reload(op, { ignoreCache: true }),
  ]) {
    expect((await problemOf(chrome.run(go, { timeoutMs: 1000 }))).code).toBe('timeout');
    await closed.pop();
    held.pop()?.();
    expect(await chrome.run(pageInfo)).toMatchObject({ url: server.url('/a'), title: 'A', loading: false });
  }
});
