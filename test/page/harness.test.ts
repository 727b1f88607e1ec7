import { expect, test } from 'vitest';
import { evaluateValue, isolatedWorld } from '../../src/page/world.ts';
import { PageHarness, PageServer } from '../support/page-harness.ts';

test('frames of the same and of another site are followed, each with its isolated world', async () => {
  await using server = await PageServer.open({
    '/': '',
    '/in': '<title>in</title><p>inner',
  });
  await using other = await PageServer.open({
    '/top': `<iframe src="/in"></iframe><iframe src="${server.url('/in', 'localhost')}"></iframe>`,
    '/in': '<p>inner',
  });
  await using chrome = await PageHarness.open();
  const seen = await chrome.run(async (op) => {
    const { loaderId } = await op.main('Page.navigate', { url: other.url('/top') });
    const load = op.tab.documents.get(loaderId ?? '');
    if (!load?.reached.has('load')) {
      await op.race(
        new Promise<void>((resolve) =>
          op.tab.documents.on('progress', (progress) => {
            if (progress.reached.has('load')) resolve();
          }),
        ),
      );
    }
    const texts: unknown[] = [];
    for (const frame of op.tab.frames.list()) {
      const world = await isolatedWorld(op, frame);
      texts.push(await evaluateValue(op, world, 'document.body.innerText.trim()'));
    }
    return { texts, sessions: new Set(op.tab.frames.list().map((frame) => frame.session?.id())).size };
  });
  expect(seen.texts).toEqual(['', 'inner', 'inner']);
  expect(seen.sessions).toBe(2);
});

test('a command that Chrome refuses fails with its name, and with the stack of whoever sent it', async () => {
  await using chrome = await PageHarness.open();
  const sendNonsense = () => chrome.run((op) => op.main('Page.navigateToHistoryEntry', { entryId: -1 }));
  const error: unknown = await sendNonsense().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  const { message, stack } = error as Error;
  expect(message).toMatch(/Protocol error \(Page\.navigateToHistoryEntry\)/);
  expect(stack).toContain(message);
  expect(stack).toMatch(/at .*harness\.test\.ts/);
});
