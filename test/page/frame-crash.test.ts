import { expect, test } from 'vitest';
import { click } from '../../src/page/actions/click.ts';
import { freeHungRenderers } from '../../src/page/renderer.ts';
import { snapshot } from '../../src/page/snapshot/snapshot.ts';
import { ActionPage, problem } from '../support/action-page.ts';

const page = new ActionPage({
  '/': '<h1>Outer</h1><button onclick="h=1">Here</button><iframe id=f src="CROSS/in"></iframe>',
  '/in': '<button onclick="while (true);">Inner</button>',
});

const frameSession = () => {
  const session = page.tab.frames.list().find(({ url }) => url.includes('/in'))?.session;
  if (!session) throw new Error('no frame');
  return session;
};
const inner = { selector: 'button', frame: '/in' };

test('a frame whose renderer died is an error at once; the rest of the page goes on, and a new document heals it', async () => {
  await page.goto();
  const session = frameSession();
  const crashed = new Promise((resolve) => page.tab.frames.once('crashed', resolve));
  session.send('Page.crash').catch(() => undefined);
  expect(await crashed).toBe(session);

  await problem(
    page.run((op) => click(op, { target: inner })),
    'page_crashed',
  );
  const { text } = await page.run((op) => snapshot(op, {}));
  expect(text).toContain('button "Here"');
  expect(text).toContain('iframe');
  expect(text).not.toContain('Inner');
  await page.run((op) => click(op, { target: { text: 'Here' } }));
  expect(await page.eval('h')).toBe(1);

  await page.eval('new Promise((done) => { f.onload = done; f.src = f.src + "?again" })');
  expect((await page.run((op) => snapshot(op, {}))).text).toContain('button "Inner"');
});

test('what waits for a frame when its renderer dies ends with it', async () => {
  await page.goto();
  const session = frameSession();
  const waiting = problem(
    page.run((op) =>
      op.send(session, 'Runtime.evaluate', { expression: 'new Promise(() => 0)', awaitPromise: true }),
    ),
    'page_crashed',
  );
  session.send('Page.crash').catch(() => undefined);
  await waiting;
});

test('a frame that hangs is freed, and the page around it keeps what it has', async () => {
  await page.goto();
  await page.eval('kept = 1');
  await problem(
    page.run((op) => click(op, { target: inner }), { timeoutMs: 2000 }),
    'timeout',
  );
  await freeHungRenderers(page.tab);
  expect((await page.run((op) => snapshot(op, {}))).text).toContain('button "Inner"');
  expect(await page.eval('kept')).toBe(1);
});
