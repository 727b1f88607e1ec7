import { expect, test } from 'vitest';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import { back, reload } from '../../../src/page/history.ts';
import { navigate } from '../../../src/page/navigate.ts';
import type { DecisionView } from '../../../src/page/operation.ts';
import { PageHarness, PageServer } from '../../support/page-harness.ts';
import { problemOf } from '../../support/problem-of.ts';

test('the policy judges the canonical form of every address, those of the history too', async () => {
  await using server = await PageServer.open({ '/a': '<title>A</title>', '/b': '<title>B</title>' });
  const judged: string[] = [];
  let denied = '';
  await using chrome = await PageHarness.open({
    judgeNavigation: (target) => {
      judged.push(target);
      return target === denied
        ? { verdict: 'deny', reason: 'rule', target, rule: 'x' }
        : { verdict: 'allow', reason: 'ok', target };
    },
  });
  await chrome.run((op) => navigate(op, { url: ` ${server.url('/b/../a').replace('http', 'hTTp')}\n` }));
  expect(judged).toEqual([server.url('/a')]);
  await chrome.run((op) => navigate(op, { url: server.url('/b') }));

  denied = server.url('/a');
  const before = server.requests.length;
  for (const work of [chrome.run((op) => navigate(op, { url: denied })), chrome.run((op) => back(op, {}))]) {
    expect(await problemOf(work)).toMatchObject({
      code: 'policy_denied',
      extra: { decision: { verdict: 'deny', reason: 'rule', rule: 'x' }, url: denied },
    });
  }
  denied = server.url('/b');
  expect(await problemOf(chrome.run((op) => reload(op, {})))).toMatchObject({ code: 'policy_denied' });
  expect(server.requests.length).toBe(before);
  expect(chrome.tab.url).toBe(server.url('/b'));
});

test('no scheme but http, https and about:blank reaches Chrome, whatever the policy says', async () => {
  await using chrome = await PageHarness.open();
  for (const url of [
    'javascript:document.title="ran"',
    ' \u0001java\nscript:document.title="ran"',
    'file:///etc/hostname',
    'view-source:http://127.0.0.1/',
    'chrome://version',
    'devtools://devtools/bundled/inspector.html',
    'blob:http://127.0.0.1/x',
    'filesystem:http://127.0.0.1/temporary/x',
  ]) {
    expect(await problemOf(chrome.run((op) => navigate(op, { url })))).toMatchObject({
      code: 'policy_denied',
    });
  }
  const { value } = await chrome.run((op) => evaluate(op, { expression: '[document.title, location.href]' }));
  expect(value).toEqual(['', 'about:blank']);
  for (const url of ['', 'a b', '/path', 'http://', 'http://[::1']) {
    expect(await problemOf(chrome.run((op) => navigate(op, { url })))).toMatchObject({
      code: 'invalid_request',
    });
  }
});

test('a load that the policy cut off is told as denied, any other as failed', async () => {
  await using server = await PageServer.open({ '/cut': (request) => request.socket.destroy() });
  const denials: DecisionView[] = [];
  await using chrome = await PageHarness.open({ denialsSince: () => denials });
  const go = () => problemOf(chrome.run((op) => navigate(op, { url: server.url('/cut') })));

  expect(await go()).toMatchObject({
    code: 'navigation_failed',
    retryable: true,
    extra: { netError: 'net::ERR_EMPTY_RESPONSE', url: server.url('/cut') },
  });
  denials.push({ verdict: 'deny', reason: 'loopback', target: 'elsewhere.example:80' });
  expect(await go()).toMatchObject({ code: 'navigation_failed' });
  const denial: DecisionView = { verdict: 'deny', reason: 'loopback', target: `127.0.0.1:${server.port}` };
  denials.push(denial);
  expect(await go()).toMatchObject({ code: 'policy_denied', extra: { decision: denial } });
});

test('a request that the guard failed is told as denied, with the newest denial', async () => {
  await using server = await PageServer.open({
    '/hop': (_, response) => response.writeHead(302, { location: 'http://hidden.invalid/' }).end(),
  });
  const denial: DecisionView = { verdict: 'deny', reason: 'metadata', target: 'http://hidden.invalid/' };
  await using chrome = await PageHarness.open({ denialsSince: () => [denial] });
  const { session } = chrome.tab;
  session.on('Fetch.requestPaused', ({ requestId, request }) => {
    const answer = request.url.includes('hidden')
      ? session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' })
      : session.send('Fetch.continueRequest', { requestId });
    answer.catch(() => undefined);
  });
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
  const problem = await problemOf(chrome.run((op) => navigate(op, { url: server.url('/hop') })));
  expect(problem).toMatchObject({ code: 'policy_denied', extra: { decision: denial } });
});

test('errors say whether the same request may succeed later', async () => {
  await using server = await PageServer.open({ '/a': '<title>A</title>' });
  const { port } = server;
  await server[Symbol.asyncDispose]();
  await using chrome = await PageHarness.open();
  for (const [url, netError, retryable] of [
    [`http://127.0.0.1:${port}/`, 'net::ERR_CONNECTION_REFUSED', true],
    ['http://127.0.0.1:1/', 'net::ERR_UNSAFE_PORT', false],
  ] as const) {
    expect(await problemOf(chrome.run((op) => navigate(op, { url })))).toMatchObject({
      code: 'navigation_failed',
      retryable,
      extra: { netError, url },
    });
  }
});
