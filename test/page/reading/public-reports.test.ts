import { expect, test } from 'vitest';
import { click } from '../../../src/page/actions/click.ts';
import { fill } from '../../../src/page/actions/fill.ts';
import { readHtml, readMarkdown, readText } from '../../../src/page/reading/content.ts';
import { extract } from '../../../src/page/reading/extract.ts';
import { readLinks } from '../../../src/page/reading/links.ts';
import { query } from '../../../src/page/reading/query.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

/** Faults that users of comparable tools met when they acted on a page, as far as reading it can have them too. */
const inner = `<button onclick="o.textContent='hit'">Inner</button><output id=o>-</output><iframe srcdoc="<a href='#k'>Deep</a>"></iframe>`;
const page = new ActionPage({
  '/': '<title>Blank</title><body>',
  '/outer': `<h1>Outer</h1><iframe style="cursor:pointer" src="/in?same"></iframe><iframe style="cursor:pointer" src="CROSS/in?cross"></iframe>`,
  '/in': inner,
  '/slots': `<x-a><span slot=b>Second</span><span slot=a>First</span></x-a><script>customElements.define("x-a",class extends HTMLElement{constructor(){super();const r=this.attachShadow({mode:"closed"});r.innerHTML='<button>Closed btn</button><input placeholder=Pw><slot name=a>unused</slot><slot name=b></slot><slot name=z>Real fallback</slot>';r.querySelector("button").onclick=()=>hits++}});hits=0</script>`,
  '/large': `<table id=t></table><select id=s></select><button id=end>End</button><script>
    t.innerHTML = Array.from({ length: 400 }, (_, r) => '<tr>' + Array.from({ length: 30 }, (_, c) => '<td>' + r + '-' + c).join('')).join('');
    s.innerHTML = Array.from({ length: 5000 }, (_, i) => '<option>Option ' + i).join('')</script>`,
  '/one': '<a href="/two">Go</a><button>Delete</button>',
  '/two': '<button>Delete</button>',
  '/asks': `<p>Under it</p><button id=a onclick="setTimeout(()=>r=confirm('save?'),50)">Later</button>`,
  '/busy': '<p>Busy</p>',
});

test('contents of frames are read once each, in their places, also below a pointer cursor', async () => {
  await page.goto('/outer');
  const { content } = await page.run((op) => readText(op, {}));
  expect(content.split(/\s+/)).toEqual(['Outer', 'Inner-', 'Deep', 'Inner-', 'Deep']);
  const { content: markdown } = await page.run((op) => readMarkdown(op, {}));
  expect(markdown.match(/Inner/g)).toHaveLength(2);
  expect(markdown.match(/\[Deep\]/g)).toHaveLength(2);
  const { links } = await page.run((op) => readLinks(op, {}));
  // A srcdoc document has the base of the one around it.
  expect(links.map(({ url, text }) => [url, text])).toEqual([
    [page.server.url('/in?same#k'), 'Deep'],
    [page.server.url('/in?cross#k', 'localhost'), 'Deep'],
  ]);
  const cross = page.server.url('/in?cross', 'localhost');
  await page.run((op) => click(op, { target: { selector: 'button', frame: cross } }));
  const outputs = ['/in?same', cross].map((frame) =>
    page.run((op) => query(op, { target: { selector: 'output', frame }, props: ['text'] })),
  );
  expect((await Promise.all(outputs)).map(({ text }) => text)).toEqual(['-', 'hit']);
});

test('a closed root is read in the order that is painted, with fallback text only where it is shown', async () => {
  await page.goto('/slots');
  const text = (await page.run((op) => readText(op, {}))).content;
  expect(text).toBe('Closed btnFirstSecondReal fallback');
  const markdown = (await page.run((op) => readMarkdown(op, {}))).content;
  expect(markdown.replace(/\s+/g, ' ')).toBe('Closed btn FirstSecondReal fallback');
  const { data } = await page.run((op) =>
    extract(op, { fields: { button: 'x-a button', spans: { selector: 'span', all: true } } }),
  );
  expect(data).toEqual({ button: 'Closed btn', spans: ['Second', 'First'] });
});

test('a very large table and list are read whole, or cut and said to be, again and again', async () => {
  await page.goto('/large');
  for (let i = 0; i < 3; i++) {
    const text = await page.run((op) => readText(op, { maxChars: 1_000_000 }));
    expect(text.truncated).toBe(false);
    expect(text.content.split('\n')).toHaveLength(401);
    expect(text.content.split('\n')[399]).toBe(Array.from({ length: 30 }, (_, c) => `399-${c}`).join('\t'));
    expect(text.content.endsWith('\nEnd')).toBe(true);
    const cut = await page.run((op) => readMarkdown(op, {}));
    expect(cut).toMatchObject({ truncated: true, cursor: expect.any(String) });
    expect(cut.content.length).toBeLessThanOrEqual(20_000);
  }
  const { data } = await page.run((op) => extract(op, { fields: { o: { selector: 'option', all: true } } }));
  expect(data['o']).toHaveLength(5000);
});

test('a ref of the page before is stale for reading too, and a hash change keeps it', async () => {
  await page.goto('/one');
  const { ref = '' } = await page.run((op) => query(op, { target: 'button', props: ['text'] }));
  await page.eval("location.hash = 'x'; 0");
  expect((await page.run((op) => readText(op, { ref }))).content).toBe('Delete');
  await page.run((op) => click(op, { target: { text: 'Go' } }));
  for (const read of [readText, readHtml, readMarkdown, readLinks]) {
    await problem(
      page.run<unknown>((op) => read(op, { ref })),
      'stale_ref',
    );
  }
  await problem(
    page.run((op) => query(op, { target: ref, props: ['text'] })),
    'stale_ref',
  );
  await problem(
    page.run((op) => extract(op, { fields: { a: 'a' }, ref })),
    'stale_ref',
  );
});

test('characters beyond the basic plane come back as they were typed', async () => {
  const text = 'a😀𠮷日本🇯🇵👩‍👩‍👧B';
  await page.goto();
  await page.eval(
    "document.body.innerHTML = '<input id=i><p id=p></p>'; i.oninput = () => { p.textContent = i.value }; 0",
  );
  await page.run((op) => fill(op, { target: '#i', value: text }));
  expect((await page.run((op) => query(op, { target: '#i', props: ['value'] }))).value).toBe(text);
  expect((await page.run((op) => readText(op, {}))).content).toBe(text);
  expect((await page.run((op) => readMarkdown(op, {}))).content).toBe(text);
  expect((await page.run((op) => readHtml(op, { selector: '#p' }))).content).toBe(`<p id="p">${text}</p>`);
});

test('while a dialog is open reading fails at once and says so, and works after it', async () => {
  await page.goto('/asks');
  await page.run((op) => click(op, { target: '#a' }));
  await expect.poll(() => page.tab.dialog?.message).toBe('save?');
  for (const read of [readText, readHtml, readMarkdown, readLinks]) {
    const error = await problem(
      page.run<unknown>((op) => read(op, {})),
      'dialog_open',
    );
    expect(error.message).toContain('save?');
  }
  await problem(
    page.run((op) => extract(op, { fields: { p: 'p' } })),
    'dialog_open',
  );
  await page.tab.answerDialog(true);
  expect((await page.run((op) => readText(op, { selector: 'p' }))).content).toBe('Under it');
});

test('a busy renderer costs each reading its own limit, and the next one works', async () => {
  await page.goto('/busy');
  await page.eval('setTimeout(() => { for (;;) {} }); 0');
  for (const read of [readText, readMarkdown]) {
    await problem(
      page.run((op) => read(op, {}), { timeoutMs: 300 }),
      'timeout',
    );
  }
  await page.tab.session.send('Runtime.terminateExecution');
  expect((await page.run((op) => readText(op, { selector: 'p' }))).content).toBe('Busy');
});

test('a crashed renderer ends a reading at once, and a new page is read', async () => {
  await page.goto('/busy');
  const crashed = new Promise<void>((resolve) => page.tab.once('crashed', resolve));
  page.tab.session.send('Page.crash').catch(() => undefined);
  await crashed;
  await problem(
    page.run((op) => readText(op, {})),
    'page_crashed',
  );
  await page.goto('/one');
  expect((await page.run((op) => readText(op, { selector: 'a' }))).content).toBe('Go');
});
