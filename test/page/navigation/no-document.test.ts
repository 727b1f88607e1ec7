import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { navigate } from '../../../src/page/navigate.ts';
import { engines, PageHarness, PageServer } from '../../support/page-harness.ts';

describe.each(engines)('%s', (engine) => {
  let chrome: PageHarness;
  beforeAll(async () => {
    chrome = await PageHarness.open({ engine });
  });
  afterAll(() => chrome[Symbol.asyncDispose]());

  test('answers that make no document leave the page and are told as what they are', async () => {
    await using server = await PageServer.open({
      '/a': '<title>A</title>',
      '/204': (_, response) => response.writeHead(204).end(),
      '/205': (_, response) => response.writeHead(205).end(),
      '/file': (_, response) =>
        response.writeHead(200, { 'content-disposition': 'attachment; filename=a.txt' }).end('data'),
      '/to-file': (_, response) => response.writeHead(302, { location: '/file' }).end(),
    });
    await chrome.run((op) => navigate(op, { url: server.url('/a') }));
    for (const [path, told] of [
      ['/204', { noContent: true, status: 204, responseUrl: server.url('/204') }],
      ['/205', { noContent: true, status: 205 }],
      ['/file', { download: true, status: 200, responseUrl: server.url('/file') }],
      ['/to-file', { download: true, status: 200, responseUrl: server.url('/file') }],
    ] as const) {
      const answer = await chrome.run((op) => navigate(op, { url: server.url(path) }));
      expect(answer).toMatchObject({ ...told, url: server.url('/a'), title: 'A' });
    }
  });

  test('a page that goes on to a download while it loads is answered', async () => {
    await using server = await PageServer.open({
      '/a': '<title>A</title><script>location = "/file"</script>',
      '/file': (_, response) =>
        response.writeHead(200, { 'content-disposition': 'attachment; filename=a.txt' }).end('data'),
    });
    const answer = await chrome.run((op) => navigate(op, { url: server.url('/a') }));
    expect(answer).toMatchObject({ url: server.url('/a'), status: 200, title: 'A' });
  });

  test('a new fragment keeps the document and answers at once, while the page still loads too', async () => {
    await using server = await PageServer.open({
      '/a': '<title>A</title><img src="/never">',
      '/never': () => undefined,
    });
    await chrome.run((op) => navigate(op, { url: server.url('/a'), waitUntil: 'domcontentloaded' }));
    const { loaderId } = chrome.tab.frames.main;
    const answer = await chrome.run((op) => navigate(op, { url: server.url('/a#x'), waitUntil: 'load' }));
    expect(answer).toMatchObject({ sameDocument: true, url: server.url('/a#x'), status: 200, title: 'A' });
    expect(chrome.tab.frames.main.loaderId).toBe(loaderId);
  });
});
