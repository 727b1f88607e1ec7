import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readHtml } from '../../../src/page/reading/content.ts';
import { ActionPage } from '../../support/action-page.ts';
import { eventually } from '../../support/processes.ts';

const page = new ActionPage({
  '/': '<title>Blank</title><p>Nothing',
  '/sandboxed': `<iframe name=box sandbox srcdoc="<p><noscript>a &amp;lt; b<i>c</i></noscript>"></iframe>`,
  '/all': `<html lang="en"><head><title>All &amp; more</title><meta charset=utf-8><script>if (1 < 2 && 3 > 2) {}</script><style>a > b {}</style></head>
    <body class='a "quoted" <b> &amp; name'><!-- a -- comment --><p>Text &lt;b&gt; &amp;nbsp; \u00a0<br><img src=x alt="">
    <template><i>inert</i><noscript a=1>&lt;b></noscript></template><noscript><b>raw</b></noscript><svg viewBox="0 0 1 1"><use xlink:href="#a"/><text>x</text></svg>
    <math><mi>y</mi></math><pre>
 first</pre><textarea>a < b</textarea><iframe srcdoc="<p>in</p>"></iframe><x-a>light</x-a><select><option selected>1</select></body></html>`,
});

const html = async (input: Parameters<typeof readHtml>[1] = {}) =>
  (await page.run((op) => readHtml(op, { maxChars: 1_000_000, ...input }))).content;

test('a document is serialised as the engine does it', async () => {
  await page.goto('/all');
  expect(await html()).toBe(await page.eval("'<!DOCTYPE html>' + document.documentElement.outerHTML"));
});

test('an element, and its state as it is now', async () => {
  await page.goto('/all');
  await page.eval("document.querySelector('p').setAttribute('data-x', '1'); 0");
  expect(await html({ selector: 'select' })).toBe('<select><option selected="">1</option></select>');
  expect(await html({ selector: 'p[data-x]' })).toBe(
    await page.eval("document.querySelector('p').outerHTML"),
  );
});

test('shadow roots are declarative ones, closed ones too', async () => {
  await page.goto();
  await page.eval(`document.body.innerHTML = '<x-c>light</x-c><x-o></x-o>';
    for (const [name, mode] of [['x-c', 'closed'], ['x-o', 'open']]) customElements.define(name, class extends HTMLElement {
      constructor() { super(); this.attachShadow({ mode }).innerHTML = '<slot></slot>'; } }); 0`);
  expect(await html({ selector: 'body' })).toBe(
    '<body><x-c><template shadowrootmode="closed"><slot></slot></template>light</x-c><x-o><template shadowrootmode="open"><slot></slot></template></x-o></body>',
  );
});

test('the value of a password is not told, wherever it stands', async () => {
  await page.goto();
  await page.eval(`document.body.innerHTML = '<input type=password value=s3cret><input type=text value=plain><input type=password>';
    document.querySelector('input:last-child').value = 's3cret'; document.querySelector('input:last-child').title = 's3cret'; 0`);
  expect(await html({ selector: 'body' })).toBe(
    '<body><input type="password" value="[redacted]"><input type="text" value="plain"><input type="password" title="[redacted]"></body>',
  );
});

test('reading runs nothing of the page: no custom element is made', async () => {
  await page.goto();
  await page.eval(`window.made = 0; customElements.define('x-count', class extends HTMLElement { constructor() { super(); window.made++; } });
    document.body.innerHTML = '<x-count></x-count>'; 0`);
  await html();
  expect(await page.eval('window.made')).toBe(1);
});

test('what a template holds has no scripts, so noscript is no exception there', async () => {
  await page.goto();
  await page.eval(
    `document.body.innerHTML = '<template><noscript><div></div></noscript></template><noscript><div></div></noscript>'; 0`,
  );
  const body = await html({ selector: 'body' });
  expect(body).toBe(await page.eval('document.body.outerHTML'));
  expect(body).toContain('<template><noscript>&lt;div&gt;');
  expect(body).toContain('</template><noscript><div>');
});

test('in a sandbox without scripts noscript is no exception either', async () => {
  await page.goto('/sandboxed');
  // A frame in a process of its own tells its name when it has its session.
  await eventually(
    async () => page.tab.frames.list(),
    (frames) => frames.some(({ name, session }) => name === 'box' && session !== undefined),
  );
  const box = await html({ frame: 'box' });
  expect(box).toContain('<noscript>a &lt; b<i>c</i></noscript>');
});

test('a form whose fields have the names of its properties', async () => {
  await page.goto();
  const body =
    '<form><input name="attributes"><input name="localName"><input name="firstChild"><b>x</b></form>';
  await page.eval(`document.body.innerHTML = ${JSON.stringify(body)}; 0`);
  expect(await html({ selector: 'body' })).toBe(`<body>${body}</body>`);
});

test('any markup is serialised as the engine does it', { timeout: 60_000 }, async () => {
  await page.goto();
  const tags = [
    'div',
    'p',
    'table',
    'tr',
    'td',
    'script',
    'style',
    'textarea',
    'pre',
    'template',
    'svg',
    'math',
    'mi',
    'select',
    'option',
    'br',
    'img',
    'x-y',
    'noscript',
    'title',
    'a',
    'iframe',
    'plaintext',
  ];
  const piece = fc.oneof(
    fc.constantFrom(...tags).map((tag) => `<${tag}>`),
    fc.constantFrom(...tags).map((tag) => `</${tag}>`),
    fc
      .tuple(fc.constantFrom(...tags), fc.string(), fc.string())
      .map(
        ([tag, name, value]) =>
          `<${tag} ${name.replace(/[<>/\s"'=]/g, '')}x="${value.replaceAll('"', "'")}">`,
      ),
    fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
    fc.constantFrom(
      '<!-- c -->',
      '&amp;',
      '&nbsp;',
      '\u00a0',
      '&lt;b&gt;',
      '<![CDATA[x]]>',
      '<svg><a xlink:href="#x">',
      '\n',
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      const engine = await page.eval(
        `document.body.innerHTML = ${JSON.stringify(pieces.join(''))}; document.body.outerHTML`,
      );
      expect(await html({ selector: 'body' })).toBe(engine);
    }),
    { numRuns: 150 },
  );
});
