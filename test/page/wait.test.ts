import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { click } from '../../src/page/actions/click.ts';
import { resolveTarget } from '../../src/page/resolve-target.ts';
import { type WaitInput, wait } from '../../src/page/wait.ts';
import { ActionPage, problem } from '../support/action-page.ts';

let held: ServerResponse | undefined;
const page = new ActionPage({
  '/': `<p id=p>Loading</p><button id=b disabled>Go</button><input id=c type=checkbox><input id=i readonly><ul><li>a<li style="display:none">b</ul>
    <button id=load onclick="fetch('/data?x=1').then(()=>p.textContent='Loaded')">Load</button><button id=go onclick="location.href='/two'">Two</button>
    <iframe name=f src="CROSS/in"></iframe><div id=h></div><script>h.attachShadow({mode:'open'}).innerHTML='<b>In the shadow</b>'</script>`,
  '/two': '<title>two</title><p>Second page',
  '/in': '<p>Inner text<script>ready=false</script>',
  '/data': (_, response) => void response.end('{}'),
  '/slow': (_, response) => {
    held = response;
  },
});
const until = (input: WaitInput, timeoutMs = 5000) => page.run((op) => wait(op, input), { timeoutMs });
const later = (code: string, ms = 200) => page.eval(`void setTimeout(() => { ${code} }, ${ms})`);

test.each<[string, WaitInput, string]>([
  ['text', { text: 'Finished' }, 'p.textContent = "Finished"'],
  ['textGone', { textGone: 'Loading' }, 'p.remove()'],
  ['enabled', { selector: '#b', state: 'enabled' }, 'b.disabled = false'],
  ['attached', { selector: '.new', state: 'attached' }, 'p.className = "new"'],
  ['detached', { target: '#p', state: 'detached' }, 'p.remove()'],
  [
    'visible',
    { target: { text: 'b', exact: true } },
    'document.querySelectorAll("li")[1].style.display = ""',
  ],
  ['hidden', { selector: 'li', state: 'hidden' }, 'document.querySelector("ul").hidden = true'],
  ['checked', { selector: '#c', state: 'checked' }, 'c.checked = true'],
  ['editable', { selector: '#i', state: 'editable' }, 'i.readOnly = false'],
  ['focused', { selector: '#i', state: 'focused' }, 'i.focus()'],
  ['url', { url: '**/#done' }, 'location.hash = "done"'],
  ['url, a part', { url: '#done' }, 'location.hash = "done"'],
  ['url, a regular expression', { url: { regex: 'd.ne$' } }, 'location.hash = "done"'],
  ['function', { function: 'window.done' }, 'window.done = true'],
  ['function, with a promise', { function: 'async () => window.done === 7' }, 'window.done = 7'],
  ['text in the shadow', { text: 'Changed' }, 'h.shadowRoot.firstChild.textContent = "Changed"'],
])('%s: not before it holds', async (_, input, change) => {
  await page.goto();
  await problem(until(input, 700), 'timeout');
  await later(change);
  const result = await until(input);
  expect(result).toMatchObject({ ok: true, url: page.tab.url });
});

test('all that is given must hold at once, and a timeout says what was seen', async () => {
  await page.goto();
  const error = await problem(
    until({ selector: '#b', state: 'enabled', text: 'Loading', url: '/two' }, 1000),
    'timeout',
  );
  expect(error.extra).toMatchObject({
    unmet: ['target', 'url'],
    seen: {
      target: { count: 1, first: { name: 'Go', enabled: false } },
      text: { shown: true },
      url: page.server.url('/'),
    },
  });
});

test('text is looked for in every frame, and only in one that is named', async () => {
  await page.goto();
  await until({ text: 'Inner text' });
  await until({ text: 'Inner text', frame: 'f' });
  await problem(until({ text: 'Loading', frame: 'f' }, 800), 'timeout');
  await until({ selector: 'p', frame: 'f', function: 'ready === false' });
});

test('a response that the last action caused counts, whether it came before or after one asks', async () => {
  await page.goto();
  await page.run((op) => click(op, { target: '#load' }));
  await until({ text: 'Loaded' });
  const result = await until({ response: '**/data?x=1' });
  expect(result.seen['response']).toMatchObject({ url: page.server.url('/data?x=1'), status: 200 });
  await problem(until({ response: '/other' }, 800), 'timeout');
});

test('the network is idle when nothing is under way', async () => {
  await page.goto();
  await page.eval('void fetch("/slow").then(() => { window.got = 1 })');
  await problem(until({ networkidle: true }, 1500), 'timeout');
  held?.end('x');
  await until({ networkidle: true, function: 'window.got' });
});

test('it goes on over navigations', async () => {
  await page.goto();
  await later('location.href = "/two"');
  await until({ text: 'Second page', url: '/two', function: 'document.title === "two"' });
});

test('what no waiting can mend fails at once', async () => {
  await page.goto();
  await problem(until({ selector: 'p[' }), 'invalid_target');
  await problem(until({ function: 'if (' }), 'evaluation_error');
  await problem(until({ url: { regex: '(' } }), 'invalid_request');
  await problem(until({}), 'invalid_request');
  await problem(until({ state: 'visible' }), 'invalid_request');
  await problem(until({ text: 'x', frame: 'nope' }), 'frame_not_found');
  const { ref } = await page.run((op) => resolveTarget(op, '#p'));
  await page.eval('p.remove()');
  await problem(until({ target: ref }), 'stale_ref');
  await until({ target: ref, state: 'detached' });
  await page.goto();
  await until({ target: ref, state: 'detached' });
});

test('a function that throws or never ends is a timeout, with what it threw', async () => {
  await page.goto();
  const error = await problem(until({ function: 'nowhere.length > 0' }, 700), 'timeout');
  expect(JSON.stringify(error.extra['seen'])).toContain('nowhere is not defined');
  await problem(until({ function: 'new Promise(() => {})' }, 700), 'timeout');
  await problem(until({ function: '(() => { while (true); })' }, 700), 'timeout');
});

test('a bad regular expression is stopped, and the page goes on', async () => {
  await page.goto();
  await page.eval(`location.hash = ${JSON.stringify('a'.repeat(60))}`);
  await problem(until({ url: { regex: '^(.*a)*(.*a)*(.*a)*(.*a)*b$' } }), 'invalid_request');
  expect(await page.eval('1 + 1')).toBe(2);
});

test('nearly all of a short time is used, and the detail tells how long it was', async () => {
  await page.goto();
  await later('p.textContent = "In time"', 150);
  expect(await until({ text: 'In time' }, 400)).toMatchObject({ ok: true });
  const error = await problem(until({ text: 'Never' }, 300), 'timeout');
  const waited = Number(/^Not within (\d+) ms \(timeoutMs 300\): text$/.exec(error.message)?.[1]);
  expect(waited).toBeGreaterThan(200);
});
