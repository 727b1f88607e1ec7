import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WalkOptions } from '../../../src/page/injected/types.ts';
import { type Bench, bench, launch } from './harness.ts';

let browser: Browser;
let page: Bench;
beforeAll(async () => {
  browser = await launch();
  page = await bench(browser);
});
afterAll(() => browser.close());

async function lines(options: Partial<WalkOptions> = {}): Promise<string[]> {
  return (await page.text(options)).replace(/ \[ref=e\d+\]/g, ' *').split('\n');
}

const site = `<header><a href="/home">Home</a> text</header><main><h1>Title</h1><p>Words</p>
  <ul><li><a href="/one">One</a> first<li>Two</ul><form aria-label=F><label>Name <input></label></form></main><footer>Foot</footer>`;

describe('options of the walk', () => {
  it('interactive: what can be acted on, and its ancestors', async () => {
    await page.load(site);
    expect(await lines({ interactive: true })).toEqual([
      '- banner',
      '  - link "Home" *',
      '- main',
      '  - list',
      '    - listitem',
      '      - link "One" *',
      '  - form "F"',
      '    - textbox "Name" *',
    ]);
  });

  it('depth: 1 is the top level', async () => {
    await page.load(site);
    expect(await lines({ depth: 1 })).toEqual(['- banner', '- main', '- contentinfo: Foot']);
    expect(await lines({ depth: 2 })).toContain('  - heading "Title" [level=1]');
  });

  it('root: a subtree by selector or by ref, with the same refs', async () => {
    await page.load(site);
    const whole = await page.text();
    const part = await page.text({ root: { selector: 'ul' } });
    expect(part.split('\n')).toHaveLength(5);
    for (const ref of part.matchAll(/ref=e\d+/g)) expect(whole).toContain(ref[0]);
    const input = Number(/textbox "Name" \[ref=e(\d+)\]/.exec(whole)?.[1]);
    expect(await page.text({ root: { ref: input } })).toBe(`- textbox "Name" [ref=e${input}]`);
  });

  it('root: says what is wrong with a selector or a ref', async () => {
    await page.load(site);
    expect((await page.snapshot({ root: { selector: 'main >' } })).error).toMatchObject({ kind: 'syntax' });
    expect((await page.snapshot({ root: { selector: '#none' } })).error).toMatchObject({ kind: 'not_found' });
    expect((await page.snapshot({ root: { ref: 99_999 } })).error).toMatchObject({ kind: 'unknown' });
    const ref = Number(/textbox "Name" \[ref=e(\d+)\]/.exec(await page.text())?.[1]);
    await page.page.evaluate('document.querySelector("input").remove()');
    expect((await page.snapshot({ root: { ref } })).error).toMatchObject({ kind: 'stale' });
  });

  it('viewport: what is scrolled out of sight is left out', async () => {
    await page.load(
      `<button>Top</button><main><p>Near</p><div style="height:5000px"></div><button>Bottom</button><p>Far</p></main>
       <div style="display:contents"><b style="position:fixed;top:9px">Fixed</b></div>`,
    );
    expect(await lines({ viewport: true })).toEqual([
      '- button "Top" *',
      '- main',
      '  - text: Near',
      '- text: Fixed',
    ]);
    await page.page.evaluate('scrollTo(0, 9999)');
    expect(await lines({ viewport: true })).toEqual([
      '- main',
      '  - button "Bottom" *',
      '  - text: Far',
      '- text: Fixed',
    ]);
  });

  it('urls and boxes', async () => {
    await page.page.goto(
      'data:text/html,<base href="http://127.0.0.1/x/"><body style="margin:0"><a href="y?q=a b" style="position:absolute;left:10px;top:20px;width:30px;height:40px">L</a>',
    );
    await page.inject();
    expect(await lines({ urls: true, boxes: true })).toEqual([
      '- link "L" * [box=10,20,30,40] url=http://127.0.0.1/x/y?q=a%20b',
    ]);
    expect(await lines()).toEqual(['- link "L" *']);
  });

  it('maxChars: only when the page is longer do its large parts get a ref to ask for', async () => {
    const items = (n: number): string => Array.from({ length: n }, (_, i) => `<li>Item number ${i}`).join('');
    await page.load(`<nav><ul>${items(3)}</ul></nav><main><ul>${items(300)}</ul></main>`);
    expect(await lines({ maxChars: 100_000 })).toContain('- main');
    const cut = await lines({ maxChars: 2000 });
    expect(cut).toContain('- main *');
    expect(cut).toContain('- navigation');
    const ref = Number(/- main \[ref=e(\d+)\]/.exec(await page.text({ maxChars: 2000 }))?.[1]);
    expect((await page.text({ root: { ref } })).split('\n')).toHaveLength(302);
  });
});
