import { expect, test } from 'vitest';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import { navigate } from '../../../src/page/navigate.ts';
import { PageHarness, PageServer } from '../../support/page-harness.ts';
import { problemOf } from '../../support/problem-of.ts';

test('no script runs in a page that is not of the web', async () => {
  await using server = await PageServer.open({
    '/a': '<title>A</title><iframe srcdoc="<p>in</p>"></iframe>',
  });
  await using chrome = await PageHarness.open();
  const run = (frame?: string) =>
    chrome.run((op) => evaluate(op, { expression: 'document.title', ...(frame && { frame }) }));

  for (const url of ['data:text/html,<title>d</title>', 'file:///etc/hostname']) {
    await chrome.tab.session.send('Page.navigate', { url });
    await chrome.run((op) => op.race(expect.poll(() => chrome.tab.url).toBe(url)));
    expect(await problemOf(run())).toMatchObject({
      code: 'policy_denied',
      extra: { decision: { reason: 'scheme' } },
    });
  }
  const dead = server.url('/a');
  await chrome.run((op) => navigate(op, { url: dead }));
  expect((await run()).value).toBe('A');
  expect((await run('f1').catch(() => run('f2'))).value).toBe('');
  await server[Symbol.asyncDispose]();
  await problemOf(chrome.run((op) => navigate(op, { url: dead })));
  expect(await problemOf(run())).toMatchObject({ code: 'navigation_failed', extra: { url: dead } });
});
