import { afterAll, expect, test } from 'vitest';
import { navigate } from '../../../src/page/navigate.ts';
import { PageHarness, PageServer } from '../../support/page-harness.ts';
import { problemOf } from '../../support/problem-of.ts';

const chrome = await PageHarness.open();
afterAll(() => chrome[Symbol.asyncDispose]());

test('the redirects of the server are listed in order, with their statuses', async () => {
  await using server = await PageServer.open({
    '/1': (_, response) => response.writeHead(301, { location: '/2' }).end(),
    '/2': (_, response) => response.writeHead(307, { location: '/3?q' }).end(),
    '/3': '<title>end</title>',
  });
  expect(await chrome.run((op) => navigate(op, { url: server.url('/1') }))).toMatchObject({
    url: server.url('/3?q'),
    status: 200,
    title: 'end',
    redirects: [
      { url: server.url('/1'), status: 301, by: 'http' },
      { url: server.url('/2'), status: 307, by: 'http' },
    ],
  });
});

test.each([
  ['a script, at once', '<script>location.replace("/end")</script><p>x'],
  ['a script, when it has loaded', '<script>onload = () => { location = "/end" }</script>'],
  ['a meta refresh', '<meta http-equiv=refresh content="0;url=/end">'],
  ['a form', '<form action="/end"></form><script>document.forms[0].submit()</script>'],
])('a page that goes on by %s is followed to where it leads', async (_, html) => {
  await using server = await PageServer.open({ '/start': html, '/end': '<title>end</title>' });
  const answer = await chrome.run((op) => navigate(op, { url: server.url('/start') }));
  expect(answer).toMatchObject({ status: 200, title: 'end' });
  expect(new URL(answer.url).pathname).toBe('/end');
  expect(answer.redirects).toEqual([{ url: server.url('/start'), status: 200, by: 'page' }]);
});

test('a page that goes on to a dead address fails with that address', async () => {
  await using server = await PageServer.open({
    '/start': '<script>location = "/dead"</script>',
    '/dead': (request) => request.socket.destroy(),
  });
  const problem = await problemOf(chrome.run((op) => navigate(op, { url: server.url('/start') })));
  expect(problem).toMatchObject({
    code: 'navigation_failed',
    extra: { netError: 'net::ERR_EMPTY_RESPONSE', url: server.url('/dead') },
  });
});

test('a page that reloads itself for ever is answered', async () => {
  await using server = await PageServer.open({
    '/again': '<title>again</title><script>onload = () => location.reload()</script>',
  });
  const answer = await chrome.run((op) => navigate(op, { url: server.url('/again') }), { timeoutMs: 30_000 });
  expect(answer).toMatchObject({ url: server.url('/again'), status: 200 });
});
