import { expect, test } from 'vitest';
import { readHtml, readMarkdown, readText } from '../../../src/page/reading/content.ts';
import { extract } from '../../../src/page/reading/extract.ts';
import { readLinks } from '../../../src/page/reading/links.ts';
import { query } from '../../../src/page/reading/query.ts';
import { snapshot } from '../../../src/page/snapshot/snapshot.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

/** 100 000 elements: rows of a list, each with a link and a text. */
const ROWS = 25_000;
const page = new ActionPage({
  '/': '<title>Blank</title><body>',
  '/huge': `<title>Huge</title><h1>Huge</h1><ul id=list></ul><script>list.innerHTML = Array.from({ length: ${ROWS} }, (_, i) =>
    '<li><a href="/' + i + '">Row ' + i + '</a> <b>text</b> <i>more</i></li>').join('')</script>`,
});
const slow = { timeoutMs: 60_000 };

test('every form of a page of 100 000 elements is read, and is whole when its parts are put together', async () => {
  await page.goto('/huge');
  const text = await page.run((op) => readText(op, { maxChars: 1000 }), slow);
  expect(text.content.startsWith('Huge\nRow 0 text more\nRow 1 text more\n')).toBe(true);
  expect(text).toMatchObject({ truncated: true });
  let whole = text.content;
  for (let { cursor } = text; cursor !== undefined; ) {
    const from: string = cursor;
    const part = await page.run((op) => readText(op, { cursor: from, maxChars: 200_000 }));
    whole += part.content;
    cursor = part.cursor;
  }
  expect(whole.length).toBe(text.total);
  expect(whole.split('\n').slice(1)).toEqual(Array.from({ length: ROWS }, (_, i) => `Row ${i} text more`));

  const html = await page.run((op) => readHtml(op, { maxChars: 10_000_000 }), slow);
  expect(html.content.length).toBe(
    await page.eval("('<!DOCTYPE html>' + document.documentElement.outerHTML).length"),
  );
  const markdown = await page.run((op) => readMarkdown(op, { maxChars: 10_000_000 }), slow);
  expect(markdown.content.split('\n').slice(-1)).toEqual([
    `- [Row ${ROWS - 1}](${page.server.url(`/${ROWS - 1}`)}) **text** *more*`,
  ]);
  expect((await page.run((op) => readLinks(op, {}), slow)).total).toBe(ROWS);
  const { data } = await page.run(
    (op) => extract(op, { fields: { rows: { selector: 'li a', all: true } } }),
    slow,
  );
  expect(data['rows']).toHaveLength(ROWS);
  expect((await page.run((op) => query(op, { target: 'b', props: ['count'] }), slow)).count).toBe(ROWS);
}, 120_000);

test('a snapshot that is cut names the largest parts by refs that can be asked for', async () => {
  await page.goto();
  await page.eval(`const rows = (n) => Array.from({ length: n }, (_, i) => '<tr><td>cell ' + i + '<td>more</tr>').join('');
    document.body.innerHTML = '<main><h1>T</h1><section aria-label=Big><table>' + rows(400) + '</table></section><nav aria-label=Small><ul>' + '<li>x y z</li>'.repeat(200) + '</ul></nav></main>'; 0`);
  const answer = await page.run((op) => snapshot(op, { maxChars: 2000 }));
  expect(answer.truncated).toBe(true);
  expect(answer.largest?.length).toBeGreaterThan(1);
  expect(answer.largest?.map(({ line }) => line)).toContain('list');
  const table = answer.largest?.find(({ line }) => line === 'table' || line === 'rowgroup');
  const ref = table?.ref ?? '';
  const part = await page.run((op) => snapshot(op, { ref, maxChars: 100_000 }));
  expect(part.truncated).toBe(false);
  expect(part.text).toContain('cell 399');
  expect(part.text).not.toContain('x y z');
  // What fits needs no such refs.
  const whole = await page.run((op) => snapshot(op, { maxChars: 1_000_000 }));
  expect(whole.text).not.toContain('[ref=');
});

test('parts without a role are named too, each once, where a page that is cut has nothing else to go by', async () => {
  await page.goto();
  await page.eval(`const links = (name, n) => Array.from({ length: n }, (_, i) => '<div class=row><a href=#>' + name + ' ' + i + '</a> about it</div>').join('');
    document.body.innerHTML = '<div id=app><div><div>Before<div id=big><div>' + links('Big', 300) + '</div></div></div><div id=small>' + links('Small', 60) + '</div></div></div>'; 0`);
  const answer = await page.run((op) => snapshot(op, { maxChars: 2000 }));
  expect(answer.largest?.map(({ line }) => line)).toEqual(['generic', 'generic']);
  const [big, small] = await Promise.all(
    (answer.largest ?? []).map(({ ref }) => page.run((op) => snapshot(op, { ref, maxChars: 100_000 }))),
  );
  expect(big?.text).toContain('link "Big 299"');
  expect(big?.text).not.toMatch(/Small|Before/);
  expect(small?.text).toContain('link "Small 59"');
  expect(small?.text).not.toContain('Big');
  // Put together, the parts are one tree: what is inside a part stands below it.
  let text = answer.text.split('\n').slice(1, -3).join('\n');
  for (let { cursor } = answer; cursor !== undefined; ) {
    const from: string = cursor;
    const part = await page.run((op) => snapshot(op, { cursor: from, maxChars: 100_000 }));
    text += `\n${part.text.split('\n').slice(1).join('\n')}`;
    cursor = part.cursor;
  }
  expect(text).toMatch(/^- text: Before\n- generic \[ref=e\d+\]\n {2}- link "Big 0"/);
  expect(text).toMatch(/\n {2}- text: about it\n- generic \[ref=e\d+\]\n {2}- link "Small 0"/);
  expect(text.match(/generic/g)).toHaveLength(2);
});

test('a page whose script never ends costs the time limit, and is read afterwards', async () => {
  await page.goto();
  await page.eval("document.body.innerHTML = '<p>still here'; setTimeout(() => { for (;;) {} }); 0");
  await problem(
    page.run((op) => readText(op, {}), { timeoutMs: 500 }),
    'timeout',
  );
  await page.tab.session.send('Runtime.terminateExecution');
  expect((await page.run((op) => readText(op, {}))).content).toBe('still here');
});
