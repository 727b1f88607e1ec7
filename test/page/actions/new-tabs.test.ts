import { afterEach, expect, test } from 'vitest';
import { click } from '../../../src/page/actions/click.ts';
import { ActionPage } from '../../support/action-page.ts';

afterEach(async () => {
  // The tabs of one test must not count against the limit of the next.
  for (const tab of page.chrome.tabs.list().slice(1)) {
    const gone = new Promise<void>((resolve) => tab.once('closed', () => resolve()));
    await tab.session.send('Page.close');
    await gone;
  }
});

const page = new ActionPage({
  '/': `<a href="/p2">Plain</a><a target=_blank href="/p2">Blank</a><a target=_blank rel=noopener href="/p2">Noopener</a>
    <button onclick="w=window.open('/p2','x'+Date.now(),'width=300,height=200')">Open</button>
    <button onclick="window.open('/p2','_blank','noopener')">Hidden</button>
    <button onclick="window.open('/p2');window.open('/p3')">Both</button><button onclick="window.open('')">Empty</button>
    <button onclick="w.close()">Shut</button><button onclick="location='/p3'">Here</button>
    <form target=_blank action="/p2"><button>Form</button></form>`,
  '/p2': `<title>two</title><button onclick="window.close()">Me</button><button onclick="n=1">Mark</button>`,
  '/p3': '<title>three</title>',
});
const clickOn = (name: string, tab?: string) =>
  page.run((op) => click(op, { target: { text: name, exact: true } }), tab === undefined ? {} : { tab });

test.each(['Blank', 'Noopener', 'Open', 'Hidden', 'Form'])(
  '%s: the new tab is in the answer, with its URL',
  async (name) => {
    await page.goto();
    const result = await clickOn(name);
    expect(result.newTabs?.map(({ url }) => url.replace(/\?$/, ''))).toEqual([page.server.url('/p2')]);
    expect(result).toMatchObject({ navigated: false, url: page.server.url('/') });
    const ids = page.chrome.tabs.list().map(({ id }) => id);
    expect(ids).toContain(result.newTabs?.[0]?.id);
    expect(page.chrome.tabs.activeId).toBe(page.tab.id);
  },
);

test.each([
  ['Control', { modifiers: ['Control' as const] }],
  ['Shift', { modifiers: ['Shift' as const] }],
  ['the middle button', { button: 'middle' as const }],
])('a link that %s opens in a tab of its own', async (_, how) => {
  await page.goto();
  const result = await page.run((op) => click(op, { target: { text: 'Plain' }, ...how }));
  expect(result.newTabs?.map(({ url }) => url)).toEqual([page.server.url('/p2')]);
  expect(result.navigated).toBe(false);
});

test('two windows of one click are both told, and a blank one too', async () => {
  await page.goto();
  expect((await clickOn('Both')).newTabs).toHaveLength(2);
  expect((await clickOn('Empty')).newTabs).toHaveLength(1);
});

test('an action acts on the tab that is named; a tab that closes itself says so; ids are not used again', async () => {
  await page.goto();
  const opened = (await clickOn('Open')).newTabs?.[0]?.id ?? '';
  await clickOn('Mark', opened);
  const tab = page.chrome.tabs.get(opened);
  expect(await page.eval('n', tab.session)).toBe(1);
  const closed = await clickOn('Me', opened);
  expect(closed).toMatchObject({ tab: opened, closed: true });
  expect(page.chrome.tabs.list().map(({ id }) => id)).not.toContain(opened);
  const next = (await clickOn('Open')).newTabs?.[0]?.id;
  expect(next).not.toBe(opened);
  const gone = new Promise<string>((resolve) => page.chrome.tabs.once('closed', (one) => resolve(one.id)));
  await clickOn('Shut');
  expect(await gone).toBe(next);
});
