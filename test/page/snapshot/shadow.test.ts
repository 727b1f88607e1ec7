import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adoptClosedRoots } from '../../../src/page/snapshot/closed-roots.ts';
import { type Bench, bench, launch } from './harness.ts';

let browser: Browser;
let page: Bench;
beforeAll(async () => {
  browser = await launch();
  page = await bench(browser);
});
afterAll(() => browser.close());

const markup = (mode: string): string =>
  `<x-a><span slot=b>Second</span><span slot=a>First</span></x-a><script>customElements.define("x-a", class extends HTMLElement {
   constructor() { super(); const r = this.attachShadow({ mode: "${mode}" });
   r.innerHTML = '<button>Closed btn</button><input placeholder=Pw><slot name=a>unused</slot><slot name=b></slot><slot name=z>Real fallback</slot>';
   r.querySelector("button").onclick = () => hits++ } }); hits = 0</script>`;

const expected = [
  '- button "Closed btn" *',
  '- textbox "Pw" *',
  '- text: First',
  '- text: Second',
  '- text: Real fallback',
];

/** Walks until no host is left that was not asked about. */
async function lines(): Promise<string[]> {
  let walked = await page.snapshot();
  for (let round = 0; walked.closedHosts > 0 && round < 5; round++) {
    if ((await adoptClosedRoots(page.cdp, page.contextId())) === 0) break;
    walked = await page.snapshot();
  }
  return walked.text.replace(/ \[ref=e\d+\]/g, ' *').split('\n');
}

describe('shadow roots', () => {
  it('open: painted order, fallback only where nothing is slotted', async () => {
    await page.load(markup('open'));
    expect(await lines()).toEqual(expected);
    expect((await page.query({ selector: 'x-a button' })).matches.map(({ name }) => name)).toEqual([
      'Closed btn',
    ]);
  });

  it('closed: the same, and what is inside can be clicked and found', async () => {
    await page.load(markup('closed'));
    expect(await lines()).toEqual(expected);
    const { matches } = await page.query({ role: 'button', name: 'Closed btn' });
    await page.evaluate(`airlock.node(${matches[0]?.ref}).click()`);
    expect(await page.page.evaluate('hits')).toBe(1);
    expect((await page.query({ selector: 'button' })).count).toBe(1);
    expect((await page.query({ placeholder: 'Pw' })).count).toBe(1);
    expect((await page.query({ text: 'Real fallback' })).count).toBe(1);
  });

  it('closed inside closed, closed on a plain element, closed by markup', async () => {
    await page.page.goto(
      `data:text/html,<!doctype html><x-out></x-out><div id=h></div><section id=g><p>Hidden light</p></section>
       <article><template shadowrootmode=closed><button>By markup</button></template><i>never</i></article>
       <script>customElements.define("x-in", class extends HTMLElement { constructor() { super();
         this.attachShadow({ mode: "closed" }).innerHTML = "<button>Inner <slot></slot></button>" } });
       customElements.define("x-out", class extends HTMLElement { constructor() { super();
         this.attachShadow({ mode: "closed" }).innerHTML = "<x-in>one</x-in><x-in>two</x-in><x-in>three</x-in>" } });
       h.attachShadow({ mode: "closed" }).innerHTML = "<button>In div</button>";
       g.attachShadow({ mode: "closed" }).innerHTML = "<button>In section</button>"</script>`,
    );
    await page.inject();
    expect(await lines()).toEqual([
      '- button "Inner one" *',
      '- button "Inner two" *',
      '- button "Inner three" *',
      '- button "In div" *',
      '- button "In section" *',
      '- article',
      '  - button "By markup" *',
    ]);
  });

  it('elements without a closed root are asked about once', async () => {
    await page.load(
      '<y-plain>a</y-plain><y-plain>b</y-plain><y-plain>c</y-plain><script>customElements.define("y-plain", class extends HTMLElement {})</script>',
    );
    expect((await page.snapshot()).closedHosts).toBe(3);
    expect(await adoptClosedRoots(page.cdp, page.contextId())).toBe(0);
    expect((await page.snapshot()).closedHosts).toBe(0);
  });
});
