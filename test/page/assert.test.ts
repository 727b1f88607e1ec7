import { expect, test } from 'vitest';
import { type AssertInput, assert } from '../../src/page/assert.ts';
import { navigate } from '../../src/page/navigate.ts';
import { ActionPage, problem } from '../support/action-page.ts';

const page = new ActionPage({
  '/': `<title>t</title><p id=p>Here</p><button id=b disabled>Go</button><img src="http://127.0.0.1:1/none">
    <script>console.error('broken', 7);console.log('fine')</script>`,
  '/clean': '<p>clean',
  '/last-words': `<p>a<script>onpagehide = () => console.error('last words'); fetch('/never').catch(() => 0)</script>`,
  '/never': () => undefined,
});
const holds = (input: AssertInput) => page.run((op) => assert(op, input));

test('what holds passes, with what was seen', async () => {
  await page.goto();
  const result = await holds({
    text: 'Here',
    selector: '#b',
    state: 'disabled',
    url: '**/',
    function: 'document.title === "t"',
  });
  expect(result).toMatchObject({ passed: true, seen: { target: { count: 1 }, text: { shown: true } } });
});

test('what does not hold fails with what was seen instead', async () => {
  await page.goto();
  const error = await problem(
    holds({ text: 'There', selector: '#b', state: 'enabled', withinMs: 200 }),
    'assertion_failed',
  );
  expect(error.extra).toMatchObject({
    unmet: ['target', 'text'],
    seen: { target: { first: { enabled: false } }, text: { shown: false } },
  });
});

test('it looks again for a moment', async () => {
  await page.goto();
  await page.eval('void setTimeout(() => { p.textContent = "There" }, 300)');
  await holds({ text: 'There' });
});

test('console errors and failed requests are told', async () => {
  await page.goto();
  await expect.poll(() => page.tab.failedRequests.items.length).toBeGreaterThan(0);
  const error = await problem(
    holds({ console: { noErrors: true }, network: { noFailures: true } }),
    'assertion_failed',
  );
  expect(error.extra).toMatchObject({ unmet: ['console', 'network'] });
  expect(error.extra['seen']).toMatchObject({
    console: expect.arrayContaining(['broken 7']),
    network: expect.arrayContaining([expect.objectContaining({ url: 'http://127.0.0.1:1/none' })]),
  });
  await holds({ console: { noMatch: 'other' }, network: { noMatch: '/api/' } });
  await problem(holds({ console: { noMatch: 'brok*7' } }), 'assertion_failed');
});

test('to look for longer than the request may take is refused, and a page that never answered has not failed', async () => {
  await page.goto();
  const within = (withinMs: number) =>
    page.run((op) => assert(op, { text: 'Nope', withinMs }), { timeoutMs: 700 });
  const refused = await problem(within(701), 'invalid_request');
  expect(refused.extra).toMatchObject({ pointer: '/withinMs' });
  await problem(within(700), 'assertion_failed');
  const spinning = page.tab.session.send('Runtime.evaluate', {
    expression: 'for (const end = Date.now() + 3000; Date.now() < end; );',
  });
  const silent = await problem(within(500), 'timeout');
  expect(silent.extra).toMatchObject({ unmet: ['text'], seen: {} });
  await spinning;
});

test('only what the page that is there has logged and failed to get counts', async () => {
  const none: AssertInput = { console: { noErrors: true }, network: { noFailures: true } };
  await page.goto();
  await expect.poll(() => page.tab.failedRequests.items.length).toBeGreaterThan(0);
  await page.goto('/clean');
  await holds(none);
  await page.goto('/last-words');
  await page.goto('/clean');
  await holds(none);
  // A new fragment is no new page.
  await page.eval('console.error("mine"); location.hash = "x"');
  await problem(holds(none), 'assertion_failed');
  // What came of the load itself is of the page that it led to: here, Chrome's own.
  await problem(
    page.run((op) => navigate(op, { url: 'http://127.0.0.1:1/' })),
    'navigation_failed',
  );
  expect(page.tab.consoleErrors.items).toEqual([]);
  expect(page.tab.failedRequests.items).toEqual([
    { url: 'http://127.0.0.1:1/', type: 'Document', error: 'net::ERR_UNSAFE_PORT' },
  ]);
});

test('no condition is no assertion', async () => {
  await page.goto('/clean');
  await problem(holds({}), 'invalid_request');
});

test('of more errors than are remembered nothing can be said to be absent', async () => {
  await page.goto('/clean');
  page.tab.consoleErrors.clear();
  await page.eval('console.error("the first"); for (let i = 0; i < 600; i++) console.error("noise " + i)');
  await expect.poll(() => page.tab.consoleErrors.dropped).toBe(101);
  const error = await problem(holds({ console: { noMatch: 'the first' } }), 'assertion_failed');
  expect(error.extra).toMatchObject({ unmet: ['console'], seen: { console: [], consoleDropped: 101 } });
});
