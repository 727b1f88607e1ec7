import { expect, test } from 'vitest';
import { readText } from '../../../src/page/reading/content.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': '<title>Blank</title><p>Nothing',
  '/frames': `<title>Outer</title><h1>Before</h1><iframe src="/inner"></iframe><p>Between</p>
    <iframe src="CROSS/inner"></iframe><iframe srcdoc="<b>Deep</b> text"></iframe><p>After`,
  '/inner': '<p>Inner text</p>',
  '/cross-child': '<p>Child</p>',
});

async function textOf(body: string, input: Parameters<typeof readText>[1] = {}): Promise<string> {
  await page.goto();
  await page.eval(`document.body.innerHTML = ${JSON.stringify(body)}; 0`);
  return (await page.run((op) => readText(op, input))).content;
}

test.each([
  [
    'blocks are lines, paragraphs have blank lines',
    '<div>a</div><div>b</div><p>c</p><p>d</p>',
    'a\nb\n\nc\n\nd',
  ],
  [
    'white space is joined as it is laid out',
    '<p>  one \n two <b> three</b>four\u00a0five ',
    'one two threefour five',
  ],
  [
    'white space that is laid out stays',
    '<pre>a\n  b\tc\n</pre><div style="white-space:pre-wrap">x  y</div>',
    'a\n  b\tc\nx  y',
  ],
  ['br', 'a<br>b<br><br>c', 'a\nb\n\nc'],
  [
    'cells are parted by tabs, rows by lines',
    '<table><tr><th>A<th>B<tr><td>1<td></td><td>3</table>',
    'A\tB\n1\t\t3',
  ],
  ['what is not displayed is not there', 'a<div style="display:none">no</div><span hidden>no</span>b', 'ab'],
  [
    'what is invisible is not there, but visible content in it is',
    '<div style="visibility:hidden">no<b style="visibility:visible">yes</b></div>',
    'yes',
  ],
  ['content-visibility', '<div style="content-visibility:hidden">no</div>yes', 'yes'],
  [
    'closed details show their summary',
    '<details><summary>Sum</summary>no<p>no</p></details>yes',
    'Sum\nyes',
  ],
  [
    'scripts, styles, templates and what fields hold are no text',
    '<script>no</script><style>no{}</style><template>no</template><noscript>no</noscript><textarea>no</textarea><input value=no><select><option>no</select>yes',
    'yes',
  ],
  [
    'characters that hide or turn text are left out',
    'pass\u200bword \u202edlrow\u202c x\u{e0041}',
    'password dlrow x',
  ],
  [
    'special characters',
    '&lt;b&gt; &amp;amp; " \' \\ {} 日本 👩‍👩‍👧 🇯🇵',
    '<b> &amp; " \' \\ {} 日本 👩‍👩‍👧 🇯🇵',
  ],
  [
    'inline blocks are not parted',
    '<span style="display:inline-block">a</span><span style="display:inline-block">b</span>',
    'ab',
  ],
])('%s', async (_, body, expected) => {
  expect(await textOf(body)).toBe(expected);
});

test('shadow roots, open and closed, with slots in painted order', async () => {
  await page.goto();
  await page.eval(`document.body.innerHTML = '<x-a><i slot=b>Second</i><i slot=a>First</i>Default</x-a><x-o>light</x-o>';
    for (const [name, mode] of [['x-a', 'closed'], ['x-o', 'open']]) customElements.define(name, class extends HTMLElement {
      constructor() { super(); this.attachShadow({ mode }).innerHTML = name === 'x-a'
        ? '<p>Closed</p><slot name=a>unused</slot> <slot name=b></slot> <slot name=z>Fallback</slot>' : '<p>Open</p>'; } }); 0`);
  expect((await page.run((op) => readText(op, {}))).content).toBe('Closed\n\nFirst Second Fallback\n\nOpen');
  expect((await page.run((op) => readText(op, { selector: 'x-a p' }))).content).toBe('Closed');
});

test('frames are read in their places, of the same site, of another one and inline', async () => {
  await page.goto('/frames');
  const { content, title, url } = await page.run((op) => readText(op, {}));
  expect(content.split(/\n+/)).toEqual([
    'Before',
    'Inner text',
    'Between',
    'Inner text',
    'Deep text',
    'After',
  ]);
  expect(title).toBe('Outer');
  expect(url).toBe(page.server.url('/frames'));
});

test('one frame by its label, its URL, and by the element that holds it', async () => {
  await page.goto('/frames');
  const cross = page.tab.frames.list().find(({ url }) => url.startsWith(page.server.url('', 'localhost')));
  const label = `f${cross?.ordinal}`;
  for (const input of [
    { frame: label },
    { frame: page.server.url('/inner', 'localhost') },
    { selector: 'iframe >> x' },
  ].slice(0, 2)) {
    const { content, url } = await page.run((op) => readText(op, input));
    expect([content, url]).toEqual(['Inner text', page.server.url('/inner', 'localhost')]);
  }
  const byElement = await page.run((op) => readText(op, { target: { selector: 'iframe', nth: 1 } }));
  expect(byElement.content).toBe('Inner text');
  expect((await page.run((op) => readText(op, { selector: 'p', frame: label }))).content).toBe('Inner text');
});

test('an element by selector, ref or target; more than one match is an error', async () => {
  const body = '<p id=a>One</p><p id=b>Two <span style="display:none">gone</span></p><ul><li>x<li>y</ul>';
  expect(await textOf(body, { selector: '#b' })).toBe('Two');
  expect(await textOf(body, { target: { role: 'listitem', nth: 1 } })).toBe('y');
  await problem(textOf(body, { selector: 'p' }), 'ambiguous_target');
  await problem(textOf(body, { selector: '#none' }), 'target_not_found');
  const error = await problem(textOf(body, { selector: '#a', ref: 'e1' }), 'invalid_request');
  expect(error.extra['pointer']).toBe('/target');
});

test.each([
  [{ selector: 'a[' }, /not a valid selector/],
  [{ selector: 'p:nope()' }, /not a valid selector/],
  [{ target: { xpath: '//p[' } }, /not a valid XPath/],
  [{ target: { xpath: 'count(//p)' } }, /not elements/],
])('%j is refused at once, with what the parser says', async (input, message) => {
  expect((await problem(textOf('<p>a', input), 'invalid_target')).message).toMatch(message);
});

test('an element that is not painted has the text that it holds', async () => {
  expect(
    await textOf('<div id=d style="display:none">kept<input type=password value=s3cret></div>', {
      selector: '#d',
    }),
  ).toBe('kept');
});

test('a page that redefines what there is of the DOM does not change what is read', async () => {
  await page.goto();
  await page.eval(`
    document.body.innerHTML = '<form><input name=parentNode><input name=nodeType><input name=firstChild><input name=localName><p>Real text</p></form><img name=body><img name=documentElement><img name=title>';
    for (const [proto, name] of [[Node.prototype, 'textContent'], [Node.prototype, 'firstChild'], [Node.prototype, 'nodeValue'], [Document.prototype, 'documentElement'], [Document.prototype, 'body'], [Document.prototype, 'title'], [HTMLElement.prototype, 'innerText']])
      Object.defineProperty(proto, name, { get() { return 'forged'; }, configurable: true });
    window.getComputedStyle = () => ({ display: 'none' });
    Element.prototype.checkVisibility = () => false;
    Array.prototype.push = Array.prototype.map = Array.prototype.join = () => { throw new Error('forged'); };
    String.prototype.trim = String.prototype.replace = () => 'forged';
    JSON.stringify = () => 'forged';
    Object.prototype.toJSON = () => 'forged';
    0`);
  expect((await page.run((op) => readText(op, {}))).content).toBe('Real text');
});

test('a password and what is marked secret are not told', async () => {
  await page.goto();
  await page.eval(
    `document.body.innerHTML = '<input type=password value=s3cret><p id=p contenteditable>s3cret</p><textarea id=t>s3cret</textarea>'; 0`,
  );
  const ref = await page.run(async (op) => {
    const { resolveTarget, handleOf } = await import('../../../src/page/resolve-target.ts');
    const found = await resolveTarget(op, '#p');
    const objectId = await handleOf(op, found);
    await op.send(found.session, 'Runtime.callFunctionOn', {
      objectId,
      functionDeclaration: 'function () { globalThis.airlock.markSecret(this); }',
    });
    return found.ref;
  });
  expect((await page.run((op) => readText(op, {}))).content).toBe('[redacted]');
  expect((await page.run((op) => readText(op, { ref }))).content).toBe('[redacted]');
});

test('nesting without end is read', async () => {
  await page.goto();
  await page.eval(
    `let at = document.body; for (let i = 0; i < 2000; i++) { const el = document.createElement('div'); at.append(el); at = el; } at.append('deep'); 0`,
  );
  expect((await page.run((op) => readText(op, {}))).content).toBe('Nothing\n\ndeep');
});
