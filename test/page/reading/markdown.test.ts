import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readMarkdown, readText } from '../../../src/page/reading/content.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const paragraph =
  'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna aliqua. ';
const page = new ActionPage({
  '/': '<title>Blank</title><p>Nothing',
  '/frames': '<h1>Outer</h1><iframe src="CROSS/inner"></iframe><p>After',
  '/inner': '<h2>Inner</h2><ul><li>a<li>b</ul>',
  '/article': `<title>The story - Site</title><nav><a href=/a>Home</a> <a href=/b>Other things</a></nav><main><article><h2>Part one</h2>
    ${`<p>${paragraph.repeat(3)}<a href=/more>more</a></p>`.repeat(6)}<figure><img src=/pic.png alt="A picture"><figcaption>Shown</figcaption></figure></article></main>
    <footer>Copyright and other words</footer>`,
});

async function markdown(body: string, input: Parameters<typeof readMarkdown>[1] = {}): Promise<string> {
  await page.goto();
  await page.eval(`document.body.innerHTML = ${JSON.stringify(body)}; 0`);
  return (await page.run((op) => readMarkdown(op, input))).content;
}

test.each([
  ['headings', '<h1>One</h1><h3>Three <b>bold</b><br>line</h3><h2></h2>', '# One\n\n### Three **bold** line'],
  ['emphasis', '<p><b>b</b> <em>e</em> <s>s</s> <code>c`d</code>', '**b** *e* ~~s~~ ``c`d``'],
  ['lists', '<ul><li>a<ul><li>b</ul><li>c</ul><ol start=3><li>x<li>y</ol>', '- a\n  - b\n- c\n\n3. x\n4. y'],
  [
    'task lists',
    '<ul><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>',
    '- [x] done\n- [ ] open',
  ],
  ['quotes', '<blockquote><p>a</p><p>b</p></blockquote>', '> a\n> \n> b'],
  [
    'code blocks',
    '<pre><code class="language-js">let a = 1;\n\nif (a < 2) {}\n</code></pre>',
    '```js\nlet a = 1;\n\nif (a < 2) {}\n```',
  ],
  [
    'code with highlighting inside',
    '<pre class="lang-py"><span>def</span> f():<br>  pass</pre>',
    '```py\ndef f():\n  pass\n```',
  ],
  [
    'tables',
    '<table><thead><tr><th>A</th><th>B</th></tr></thead> <tbody><tr><td>1</td><td>x|y</td></tr><tr><td><p>two</p><p>lines</p></td><td></td></tr></tbody></table>',
    '| A | B |\n| --- | --- |\n| 1 | x\\|y |\n| two lines |  |',
  ],
  [
    'tables without a head',
    '<table><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>',
    '| 1 | 2 |\n| --- | --- |\n| 3 | 4 |',
  ],
  [
    'tables that lay out',
    '<table role=presentation><tr><td>left</td><td>right</td></tr></table>',
    'left\n\nright',
  ],
  [
    'what Markdown would read as its own',
    '<p>1. a * b _c_ # d [e](f)',
    '1\\. a \\* b \\_c\\_ # d \\[e\\](f)',
  ],
  ['hidden things', 'a<span hidden>no</span><script>no</script><div style="display:none">no</div>', 'a'],
  ['rules and breaks', '<p>a<br>b</p><hr><p>c', 'a  \nb\n\n---\n\nc'],
  ['buttons side by side', '<button>Save</button><button>Cancel</button>', 'Save Cancel'],
  ['fields', 'Name <input value=no><select><option>no</select><textarea>no</textarea>', 'Name'],
])('%s', async (_, body, expected) => {
  expect(await markdown(body)).toBe(expected);
});

test('links and pictures have absolute addresses; scripts and inline data are none', async () => {
  const body = `<a href="a(b)?c=d e">x</a> <a href="javascript:alert(1)">js</a> <a href="/y" title='T "q"'><h3>Card</h3><p>text</p></a>
    <img src="p.png" alt="P"> <img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="inline"> <a href="/empty"></a>`;
  expect(await markdown(body)).toBe(
    `[x](${page.server.url('/a\\(b\\)?c=d%20e')}) js [Card text](${page.server.url('/y')} "T \\"q\\"") ![P](${page.server.url('/p.png')}) inline`,
  );
});

test('frames are in their places', async () => {
  await page.goto('/frames');
  const { content } = await page.run((op) => readMarkdown(op, {}));
  expect(content).toBe('# Outer\n\n## Inner\n\n- a\n- b\n\nAfter');
});

test('main=1 is the article alone', async () => {
  await page.goto('/article');
  const { content } = await page.run((op) => readMarkdown(op, { main: true, maxChars: 100_000 }));
  expect(content).toMatch(/^# The story/);
  expect(content).toContain('Lorem ipsum');
  expect(content).toContain(`[more](${page.server.url('/more')})`);
  expect(content).toContain(`![A picture](${page.server.url('/pic.png')})`);
  expect(content).not.toMatch(/Home|Copyright/);
  const all = await page.run((op) => readMarkdown(op, { maxChars: 100_000 }));
  expect(all.content).toMatch(/Home[\s\S]*Copyright/);
});

test('main=1 of a page without an article is the page', async () => {
  expect(await markdown('<p>short', { main: true })).toBe('short');
});

test('a password and secrets are not told', async () => {
  expect(
    await markdown('<input type=password value=s3cret><ul><li><input type=password value=s3cret>x</ul>'),
  ).not.toContain('s3cret');
});

test('a form whose fields have the names of its properties, and nesting that breaks recursion', async () => {
  const names = ['nodeName', 'parentNode', 'childNodes', 'firstChild', 'textContent']
    .map((name) => `<input name=${name}>`)
    .join('');
  expect(await markdown(`<form>${names}<p>in form</p></form>${'<blockquote>'.repeat(300)}deep`)).toMatch(
    /^in form\n\n(> )+deep$/,
  );
});

test('a time limit ends the work in the thread too', async () => {
  await page.goto();
  await page.eval("document.body.innerHTML = '<p>word</p>'.repeat(60000); 0");
  const work = page.run((op) => readMarkdown(op, {}), { timeoutMs: 300 });
  await problem(work, 'timeout');
  expect(
    (await page.run((op) => readMarkdown(op, { selector: 'p:first-child' }), { timeoutMs: 20_000 })).content,
  ).toBe('word');
});

test('text has of a drawing what it draws as text, and not what stands in it otherwise', async () => {
  await page.goto();
  const drawing =
    '<svg>lost<desc>lost</desc><a href=/x>lost</a><g>lost<text>word<tspan>word</tspan><a href=/x>word</a></text></g><foreignObject><p>word</p></foreignObject></svg>';
  await page.eval(`document.body.innerHTML = ${JSON.stringify(drawing)}; 0`);
  const text = (await page.run((op) => readText(op, {}))).content;
  const { content } = await page.run((op) => readMarkdown(op, {}));
  expect(text).not.toContain('lost');
  expect(text.match(/word/g)).toHaveLength(4);
  // Markdown has no drawings.
  expect(content).toBe('');
});

test('no markup makes it fail, and what it shows is in text and Markdown alike', {
  timeout: 60_000,
}, async () => {
  const tags = [
    'div',
    'p',
    'ul',
    'ol',
    'li',
    'table',
    'tr',
    'td',
    'th',
    'pre',
    'code',
    'a',
    'b',
    'i',
    'blockquote',
    'h2',
    'img',
    'details',
    'summary',
    'svg',
    'select',
    'button',
    'br',
    'hr',
    's',
  ];
  const piece = fc.oneof(
    fc.constantFrom(...tags).map((tag) => `<${tag} href=/x src=/y alt=z>`),
    fc.constantFrom(...tags).map((tag) => `</${tag}>`),
    fc.constantFrom(
      'word',
      ' two  words ',
      '*',
      '`',
      '|',
      '# x',
      '1. y',
      '[z](u)',
      '\n',
      '\u00a0',
      '<script>x</script>',
      '<input type=checkbox>',
    ),
  );
  await page.goto();
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
      await page.eval(`document.body.innerHTML = ${JSON.stringify(pieces.join(''))}; 0`);
      const text = (await page.run((op) => readText(op, {}))).content;
      const { content } = await page.run((op) => readMarkdown(op, {}));
      const count = (from: string) => from.match(/word/g)?.length ?? 0;
      expect(count(content)).toBe(count(text));
    }),
    { numRuns: 60, examples: [[['<svg href=/x src=/y alt=z>', 'word']]] },
  );
});
