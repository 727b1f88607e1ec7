import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { navigate } from '../../../src/page/navigate.ts';
import { engines, PageHarness, PageServer } from '../../support/page-harness.ts';
import { problemOf } from '../../support/problem-of.ts';

const RIGHT = `Basic ${Buffer.from('u:p').toString('base64')}`;

function open(): Promise<PageServer> {
  return PageServer.open({
    '/a': '<title>A</title>',
    '/401': (request, response) => {
      const known = request.headers.authorization === RIGHT;
      response.writeHead(known ? 200 : 401, {
        'www-authenticate': 'Basic realm=r',
        'content-type': 'text/html',
      });
      response.end(known ? '<title>in</title>' : '<h1>need auth</h1>');
    },
    '/401e': (_, response) => response.writeHead(401, { 'www-authenticate': 'Basic realm=r' }).end(),
    '/404': (_, response) =>
      response.writeHead(404, { 'content-type': 'text/html' }).end('<title>gone</title>'),
    '/404e': (_, response) => response.writeHead(404).end(),
    '/500e': (_, response) => response.writeHead(500).end(),
    '/503': (_, response) => response.writeHead(503, { 'content-type': 'text/plain' }).end('later'),
    '/loop': (_, response) => response.writeHead(302, { location: '/loop' }).end(),
  });
}

describe.each(engines)('%s', (engine) => {
  let chrome: PageHarness;
  beforeAll(async () => {
    chrome = await PageHarness.open({ engine });
  });
  afterAll(() => chrome[Symbol.asyncDispose]());

  test('a page with an error status is a success with that status, with and without a body', async () => {
    await using server = await open();
    for (const [path, status] of [
      ['/401', 401],
      ['/401e', 401],
      ['/404e', 404],
      ['/500e', 500],
      ['/404', 404],
      ['/503', 503],
    ] as const) {
      const answer = await chrome.run((op) => navigate(op, { url: server.url(path) }));
      expect(answer).toMatchObject({ status, url: server.url(path) });
      const next = await chrome.run((op) => navigate(op, { url: server.url('/a') }));
      expect(next).toMatchObject({ status: 200, url: server.url('/a'), title: 'A' });
    }
  });

  test('right credentials give the page, wrong ones the 401, after a bounded number of requests', async () => {
    await using server = await open();
    const withUser = (user: string) => server.url('/401').replace('://', `://${user}@`);
    expect(await chrome.run((op) => navigate(op, { url: withUser('u:wrong') }))).toMatchObject({
      status: 401,
    });
    expect(server.requests.length).toBeLessThanOrEqual(4);
    const right = await chrome.run((op) => navigate(op, { url: withUser('u:p') }));
    expect(right).toMatchObject({ status: 200, title: 'in' });
    expect(right.url).not.toContain('u:p');

    await using stranger = await PageHarness.open({ engine });
    expect(await stranger.run((op) => navigate(op, { url: server.url('/401') }))).toMatchObject({
      status: 401,
    });
  });

  test('a redirect to itself is told as too many redirects, and the tab goes on', async () => {
    await using server = await open();
    const problem = await problemOf(chrome.run((op) => navigate(op, { url: server.url('/loop') })));
    expect(problem).toMatchObject({
      code: 'navigation_failed',
      retryable: false,
      extra: { netError: 'net::ERR_TOO_MANY_REDIRECTS', url: server.url('/loop') },
    });
    expect(server.requests.length).toBeLessThanOrEqual(25);
    expect(await chrome.run((op) => navigate(op, { url: server.url('/a') }))).toMatchObject({ status: 200 });
  });
});
