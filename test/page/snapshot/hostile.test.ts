import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, bench, launch } from './harness.ts';

let browser: Browser;
let page: Bench;
beforeAll(async () => {
  browser = await launch();
  page = await bench(browser);
});
afterAll(() => browser.close());

/** Loads markup, runs script in the page, and takes the snapshot. */
async function text(html: string, script = '0'): Promise<string> {
  await page.load(html);
  await page.page.evaluate(script);
  return page.text();
}

describe('hostile pages', () => {
  it('form fields and images named like DOM properties do not stand for them', async () => {
    const names =
      'tagName parentNode attributes firstChild nextSibling getAttribute localName nodeType hasAttributes checkVisibility shadowRoot children getRootNode isConnected'.split(
        ' ',
      );
    const found = await text(
      `<form name=querySelectorAll>${names.map((name) => `<input name=${name} aria-label=${name}>`).join('')}<button>In form</button></form>
       <img name=body alt=i><img name=title alt=i><form name=getElementById></form><form name=activeElement></form><img name=documentElement alt=i>
       <iframe name=getComputedStyle></iframe><form id=owner aria-owns=late><input name=id></form><p id=late>Late</p><button>After</button>`,
    );
    for (const name of names) expect(found).toContain(`textbox "${name}"`);
    expect(found).toMatch(/button "In form"[\s\S]*button "After"/);
    expect((await page.query({ role: 'button' })).count).toBe(2);
    expect((await page.query({ selector: 'form input[name=tagName]' })).count).toBe(1);
    expect((await page.query({ text: 'After' })).count).toBe(1);
  });

  it('prototypes that the page has changed are not used', async () => {
    const found = await text(
      '<button>Safe</button>',
      `Element.prototype.getAttribute = () => { throw 1 }; Element.prototype.checkVisibility = () => false;
       Object.defineProperty(Node.prototype, 'firstChild', { get() { throw 2 } }); window.getComputedStyle = () => { throw 3 };
       Array.prototype.push = () => { throw 4 }; Object.defineProperty(Element.prototype, 'shadowRoot', { get: () => document }); 0`,
    );
    expect(found).toMatch(/^- button "Safe" \[ref=e\d+\]$/);
  });

  it('nesting far deeper than calls may nest', async () => {
    const nest = (tag: string, end: string): string =>
      `{ let e = document.body; for (let i = 0; i < 2000; i++) { const d = document.createElement('${tag}'); e.append(d); e = d } ${end} }`;
    expect(await text('', nest('div', "e.innerHTML = '<button>Deep</button>'"))).toMatch(/^- button "Deep"/);
    const named = nest('span', "e.textContent = 'Deep name'").replace('document.body', 'x');
    expect(await text('<button id=x></button>', named)).toMatch(/^- button "Deep name"/);
    const listed = await text('', nest('ul', "e.innerHTML = '<li>Deep item'"));
    expect(listed).toContain('- listitem: Deep item');
    expect(listed.length).toBeLessThan(500_000);
    const roots = `{ let e = document.body; for (let i = 0; i < 1000; i++) { const d = document.createElement('div'); e.append(d);
      e = d.attachShadow({ mode: 'open' }) } e.innerHTML = '<button>Deep root</button>' }`;
    expect(await text('', roots)).toMatch(/^- button "Deep root"/);
  });

  it('circles of aria-labelledby and aria-owns end', async () => {
    const found = await text(
      '',
      `document.body.innerHTML = Array.from({ length: 500 }, (_, i) =>
        '<button id=b' + i + ' aria-labelledby="b' + i + ' b' + (i + 1) % 500 + '">N' + i + '</button>' +
        '<div id=d' + i + ' aria-owns=d' + (i + 1) % 500 + '>D' + i + '</div>').join('')`,
    );
    expect(found).toContain('button "N0 N1"');
    expect(found.match(/D\d+/g)).toHaveLength(500);
    expect(new Set(found.match(/D\d+/g)).size).toBe(500);
  });

  it('names made of everything are cut and cost no more than the page', async () => {
    const found = await text(
      '',
      `document.body.innerHTML = '<div id=all>' + '<button aria-labelledby=all>N</button>'.repeat(1000) + '</div>' +
       '<div role=button tabindex=0>x'.repeat(1000)`,
    );
    expect(found.split('\n').length).toBe(2000);
    expect(Math.max(...found.split('\n').map((line) => line.length))).toBeLessThan(800);
  });

  it('text of millions of characters is cut within its line, and says how much', async () => {
    const found = await text(
      '<p id=p></p><button id=b></button><input id=i aria-label=I>',
      "p.textContent = 'word '.repeat(400_000); b.textContent = 'y '.repeat(200_000); i.value = 'z'.repeat(100_000)",
    );
    const [paragraph = '', button = '', input = ''] = found.split('\n');
    expect(paragraph).toMatch(/^- text: word word .*… \[19979\d\d more characters\]$/);
    expect(button).toMatch(/^- button "y y .*more characters\]" \[ref=e\d+\]$/);
    expect(input).toMatch(/^- textbox "I" \[ref=e\d+\]: z+… \[98000 more characters\]$/);
  });

  it('characters that hide or turn text are not printed, lone surrogates are replaced', async () => {
    const found = await text(
      '<p id=p></p><button id=b></button>',
      String.raw`p.textContent = 'a\u202eb\u200bc\u{e0041}d\u0007e\u00adf'; b.textContent = 'x\ud83d'`,
    );
    expect(found).toMatch(/^- text: abcd ef\n- button "x\ufffd"/);
  });

  it('documents that are not HTML, or nothing at all', async () => {
    const xml =
      "document.documentElement.replaceWith(document.createElementNS('urn:x', 'root')); document.documentElement.append('plain')";
    expect(await text('', xml)).toBe('- text: plain');
    expect(await text('', 'document.documentElement.remove()')).toBe('');
    expect((await page.query({ text: 'x' })).count).toBe(0);
    await page.page.goto(
      'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"><title>T</title><text y="20">Hello</text><a href="%23x"><text y="40">Go</text></a></svg>',
    );
    await page.inject();
    expect(await page.text()).toContain('Hello');
    await page.page.goto('about:blank');
  });

  it('a hundred thousand elements', async () => {
    const found = await text(
      '',
      "document.body.innerHTML = '<div><span>a</span><a href=#>b</a></div>'.repeat(33_000)",
    );
    expect(found.split('\n')).toHaveLength(66_000);
  });
});
