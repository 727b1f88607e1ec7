import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { click } from '../../../src/page/actions/click.ts';
import { fill } from '../../../src/page/actions/fill.ts';
import { press } from '../../../src/page/actions/press.ts';
import { select } from '../../../src/page/actions/select.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

let slow: ServerResponse | undefined;
const page = new ActionPage({
  '/': `<a id=l href="/two">link</a><a id=h href="#x">hash</a><form action="/two"><input id=q name=q><button id=f>form</button></form>
    <button id=loc onclick="location.href='/two'">loc</button><button id=later onclick="setTimeout(()=>location.href='/two',0)">later</button>
    <button id=push onclick="history.pushState(0,'','/pushed')">push</button><a id=n href="/204">204</a><a id=d href="/file">file</a>
    <a id=s href="/slow">slow</a><a id=bad href="http://127.0.0.1:1/">refused</a><button id=down onmousedown="location.href='/two'">down</button>
    <select id=jump onchange="location.href=this.value"><option>-<option value="/two">two</select><input id=i oninput="location.href='/two'">
    <iframe name=fr src="/frame"></iframe><button id=quiet>quiet</button><a id=mail href="mailto:a@b.test">mail</a>`,
  '/two': '<title>two</title><p id=p>two',
  '/frame': '<a id=in href="/two">in</a><a id=top target=_top href="/two">top</a>',
  '/204': (_, response) => void response.writeHead(204).end(),
  '/file': (_, response) =>
    void response
      .writeHead(200, {
        'content-disposition': 'attachment; filename=x.txt',
        'content-type': 'application/octet-stream',
      })
      .end('x'),
  '/slow': (_, response) => {
    slow = response;
  },
});
const clicked = (target: string) => page.run((op) => click(op, { target }));
const two = () => page.server.url('/two');

test.each(['#l', '#loc', '#later', '#down'])('%s: the answer comes with the new page', async (target) => {
  await page.goto();
  expect(await clicked(target)).toMatchObject({ ok: true, navigated: true, url: two() });
  expect(await page.eval('document.querySelector("#p").textContent')).toBe('two');
});

test('a form that is submitted, by button or by Enter, navigates', async () => {
  await page.goto();
  expect(await clicked('#f')).toMatchObject({ navigated: true, url: page.server.url('/two?q=') });
  await page.goto();
  expect(await page.run((op) => press(op, { target: '#q', key: 'Enter' }))).toMatchObject({
    navigated: true,
  });
});

test('fill and select that navigate say so', async () => {
  await page.goto();
  expect(await page.run((op) => select(op, { target: '#jump', labels: 'two' }))).toMatchObject({
    navigated: true,
    url: two(),
  });
  await page.goto();
  expect(await page.run((op) => fill(op, { target: '#i', value: 'x' }))).toMatchObject({
    navigated: true,
    url: two(),
  });
});

test('a new URL of the same document is told', async () => {
  await page.goto();
  expect(await clicked('#push')).toMatchObject({ navigated: true, url: page.server.url('/pushed') });
  await page.goto();
  expect(await clicked('#h')).toMatchObject({ navigated: true, url: page.server.url('/#x') });
});

test('no content, a download, and a foreign scheme leave the page where it is, and answer', async () => {
  for (const target of ['#n', '#d', '#mail', '#quiet']) {
    await page.goto();
    const result = await clicked(target);
    expect(result).toMatchObject({ navigated: false, url: page.server.url('/') });
    expect(result.navigating).toBeUndefined();
  }
});

test('a page that does not come within the wait is told as on its way', async () => {
  await page.goto();
  const result = await page.run((op) => click(op, { target: '#s' }), { timeoutMs: 4000 });
  expect(result).toMatchObject({ navigated: false, navigating: page.server.url('/slow') });
  slow?.end('<p>at last');
  await expect.poll(() => page.tab.url).toBe(page.server.url('/slow'));
});

test('a page that fails to load is an error that says so, and is not to be tried again', async () => {
  await page.goto();
  const error = await problem(clicked('#bad'), 'navigation_failed');
  expect(error.message).toMatch(/^The action was done, .* ERR_UNSAFE_PORT at /);
  expect(error.retryable).toBe(false);
});

test('a frame that is led elsewhere is not the tab; a link to the top is', async () => {
  await page.goto();
  const inner = await page.run((op) => click(op, { target: { selector: '#in', frame: 'fr' } }));
  expect(inner).toMatchObject({ navigated: false, url: page.server.url('/') });
  expect(page.tab.frames.list().map(({ url }) => url)).toEqual([page.server.url('/'), two()]);
  await page.goto();
  const top = await page.run((op) => click(op, { target: { selector: '#top', frame: 'fr' } }));
  expect(top).toMatchObject({ navigated: true, url: two() });
});
