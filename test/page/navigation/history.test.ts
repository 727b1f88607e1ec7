import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import { back, forward, reload, stop } from '../../../src/page/history.ts';
import { pageInfo } from '../../../src/page/info.ts';
import { navigate } from '../../../src/page/navigate.ts';
import { engines, PageHarness, PageServer } from '../../support/page-harness.ts';
import { problemOf } from '../../support/problem-of.ts';

describe.each(engines)('%s', (engine) => {
  let chrome: PageHarness;
  let server: PageServer;
  beforeAll(async () => {
    server = await PageServer.open({
      '/a': '<title>A</title>',
      '/b': '<title>B</title>',
      '/gone': (_, response) => response.writeHead(404).end(),
      '/slow': '<title>slow</title><img src="/never">',
      '/never': () => undefined,
    });
    chrome = await PageHarness.open({ engine });
  });
  afterAll(async () => {
    await chrome[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  test('the ends of the history are told as such', async () => {
    expect(await problemOf(chrome.run((op) => back(op, {})))).toMatchObject({ code: 'no_history_entry' });
    expect(await problemOf(chrome.run((op) => forward(op, {})))).toMatchObject({ code: 'no_history_entry' });
  });

  test('back and forward, over documents and fragments, also where Chrome restores a page', async () => {
    await chrome.run((op) => navigate(op, { url: server.url('/a') }));
    await chrome.run((op) => evaluate(op, { expression: 'globalThis.kept = 1' }));
    await chrome.run((op) => navigate(op, { url: server.url('/b') }));
    await chrome.run((op) => navigate(op, { url: server.url('/b#x') }));

    const fragment = await chrome.run((op) => back(op, {}));
    expect(fragment).toMatchObject({ url: server.url('/b'), title: 'B', sameDocument: true });
    const first = await chrome.run((op) => back(op, {}));
    expect(first).toMatchObject({ url: server.url('/a'), title: 'A', status: 200 });
    const { value } = await chrome.run((op) => evaluate(op, { expression: 'typeof kept' }));
    expect(value).toBe(first.restored ? 'number' : 'undefined');
    const { value: title } = await chrome.run((op) =>
      evaluate(op, { expression: 'document.title', world: 'isolated' }),
    );
    expect(title).toBe('A');

    expect(await chrome.run((op) => forward(op, {}))).toMatchObject({ url: server.url('/b'), title: 'B' });
    expect(await chrome.run((op) => forward(op, {}))).toMatchObject({
      url: server.url('/b#x'),
      sameDocument: true,
    });
    expect(await problemOf(chrome.run((op) => forward(op, {})))).toMatchObject({ code: 'no_history_entry' });
  });

  test('reload loads the document again, from the server where that is asked for', async () => {
    await chrome.run((op) => navigate(op, { url: server.url('/a') }));
    await chrome.run((op) => evaluate(op, { expression: 'globalThis.kept = 1' }));
    const before = server.requests.length;
    const answer = await chrome.run((op) => reload(op, { ignoreCache: true }));
    expect(answer).toMatchObject({ url: server.url('/a'), status: 200, title: 'A' });
    expect(server.requests.slice(before)).toContain('GET /a');
    const { value } = await chrome.run((op) => evaluate(op, { expression: 'typeof kept' }));
    expect(value).toBe('undefined');
  });

  test('reload of a page with an error status gives that status again', async () => {
    await chrome.run((op) => navigate(op, { url: server.url('/gone') }));
    expect(await chrome.run((op) => reload(op, {}))).toMatchObject({ url: server.url('/gone'), status: 404 });
  });

  test('stop ends a load that would not end, and says whether there was one', async () => {
    await chrome.run((op) => navigate(op, { url: server.url('/slow'), waitUntil: 'domcontentloaded' }));
    expect(await chrome.run(stop)).toMatchObject({ stopped: true, url: server.url('/slow') });
    expect(await chrome.run(stop)).toMatchObject({ stopped: false });
    expect(await chrome.run(pageInfo)).toMatchObject({
      loading: false,
      title: 'slow',
      readyState: 'complete',
    });
  });
});
