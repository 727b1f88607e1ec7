import { expect, test } from 'vitest';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import { back } from '../../../src/page/history.ts';
import { pageInfo } from '../../../src/page/info.ts';
import { navigate } from '../../../src/page/navigate.ts';
import { PageHarness, PageServer } from '../../support/page-harness.ts';
import { problemOf } from '../../support/problem-of.ts';

function open(): Promise<PageServer> {
  return PageServer.open({
    '/a': '<title>A</title>',
    '/alert': '<title>L</title><script>alert("on load")</script><p>text',
    '/stay': '<title>S</title><script>onbeforeunload = (event) => event.preventDefault()</script>',
  });
}

/** Only a page that was touched may ask whether to be left. */
async function touch(chrome: PageHarness): Promise<void> {
  for (const type of ['mousePressed', 'mouseReleased'] as const) {
    await chrome.tab.session.send('Input.dispatchMouseEvent', {
      type,
      x: 5,
      y: 5,
      button: 'left',
      clickCount: 1,
    });
  }
}

test('a dialog of the new page is answered with the page, and the page is whole once it is closed', async () => {
  await using server = await open();
  await using chrome = await PageHarness.open();
  const answer = await chrome.run((op) => navigate(op, { url: server.url('/alert') }));
  expect(answer).toMatchObject({
    url: server.url('/alert'),
    status: 200,
    dialog: { type: 'alert', message: 'on load' },
  });
  expect(await problemOf(chrome.run((op) => evaluate(op, { expression: '1' })))).toMatchObject({
    code: 'dialog_open',
  });
  await chrome.tab.answerDialog(true);
  const { value } = await chrome.run((op) =>
    evaluate(op, { expression: "document.querySelector('p').textContent" }),
  );
  expect(value).toBe('text');
});

test('a page that asks not to be left ends the operation at once, and the answer decides', async () => {
  await using server = await open();
  await using chrome = await PageHarness.open();
  await chrome.run((op) => navigate(op, { url: server.url('/a') }));
  await chrome.run((op) => navigate(op, { url: server.url('/stay') }));
  for (const leave of [
    () => chrome.run((op) => navigate(op, { url: server.url('/a') })),
    () => chrome.run((op) => back(op, {})),
  ]) {
    await touch(chrome);
    expect(await problemOf(leave())).toMatchObject({
      code: 'dialog_open',
      extra: { dialog: { type: 'beforeunload', url: server.url('/stay') } },
    });
    await chrome.tab.answerDialog(false);
    expect(await chrome.run(pageInfo)).toMatchObject({ url: server.url('/stay'), title: 'S', dialog: null });
  }
});

test.each([
  ['dismiss', 'navigation_failed'],
  ['accept', undefined],
] as const)(
  'where the session answers "%s" by itself, the navigation says how it ended',
  async (dialogs, code) => {
    await using server = await open();
    await using chrome = await PageHarness.open({ dialogs });
    chrome.tab.on('dialog', () => {
      chrome.tab.answerDialog(dialogs === 'accept').catch(() => undefined);
    });
    await chrome.run((op) => navigate(op, { url: server.url('/a') }));
    await chrome.run((op) => navigate(op, { url: server.url('/stay') }));
    for (const leave of [
      () => chrome.run((op) => navigate(op, { url: server.url('/a') })),
      () => chrome.run((op) => back(op, {})),
    ]) {
      await touch(chrome);
      if (code === undefined) expect(await leave()).toMatchObject({ status: 200 });
      else expect(await problemOf(leave())).toMatchObject({ code, extra: { netError: 'net::ERR_ABORTED' } });
      if (code === undefined) await chrome.run((op) => navigate(op, { url: server.url('/stay') }));
    }
  },
);
