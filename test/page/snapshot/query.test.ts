import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { QueryTarget } from '../../../src/page/injected/types.ts';
import { type Bench, bench, launch } from './harness.ts';

let browser: Browser;
let page: Bench;
beforeAll(async () => {
  browser = await launch();
  page = await bench(browser);
});
afterAll(() => browser.close());

const html = `<main><h1>Orders</h1><button id=save class="big primary">Save order</button><button>Save all orders</button>
  <button hidden>Save hidden</button><input type=submit value="Send it"><a href=#x title="Go there">Link <b>bold</b> text</a>
  <label>First name <input id=first placeholder="Your name"></label><input aria-label="Last name" data-testid=last>
  <div style="display:none">Secret words</div><p>Some <i>split</i> words <span hidden>not these</span></p>
  <ul><li>Alpha<li>Beta</ul><script>"Some script words"</script>
  <div id=h></div></main><script>h.attachShadow({mode:'open'}).innerHTML='<section><button>In shadow</button></section>'</script>`;

async function found(target: QueryTarget): Promise<string[]> {
  const { matches, count, error } = await page.query(target);
  if (error !== undefined) return [error.kind];
  expect(count).toBeGreaterThanOrEqual(matches.length);
  return matches.map(({ line }) => line);
}

describe('a target by text is the smallest element that shows it', () => {
  const cases: [string, string, QueryTarget, string[]][] = [
    ['of nested ones the inner', '<div><p><b>Save me</b></p></div>', { text: 'save' }, ['B']],
    [
      'split over inline elements',
      '<div><p>Hello <b>big</b> world</p></div>',
      { text: 'hello big world' },
      ['P'],
    ],
    [
      'letters in boxes of their own',
      '<p><i>A</i><i style="display:inline-block">B</i>C</p>',
      { text: 'ABC', exact: true },
      ['P'],
    ],
    ['not what stands in two blocks run together', '<div><p>foo</p><p>bar</p></div>', { text: 'foobar' }, []],
    [
      'over blocks with a space between',
      '<section><p>foo</p><p>bar</p></section>',
      { text: 'foo bar' },
      ['SECTION'],
    ],
    ['over a line break', '<p>foo<br>bar</p>', { text: 'foo bar', exact: true }, ['P']],
    ['cells are apart', '<table><tr id=r><td>a<td>b</table>', { text: 'ab' }, []],
    ['not the title', '<p>x', { text: 'Only in the title' }, []],
    [
      'not what is hidden',
      '<p>a<span style="display:none">secret</span>b</p><p style="visibility:hidden">secret</p>',
      { text: 'secret' },
      [],
    ],
    [
      'what is hidden does not part a text',
      '<p>a<span hidden>x</span>b</p>',
      { text: 'ab', exact: true },
      ['P'],
    ],
    [
      'white space of the source does not matter',
      '<p>\n  one\n  two  </p>',
      { text: ' one   two ', exact: true },
      ['P'],
    ],
    [
      'exact is the whole text and its case',
      '<p>Save</p><p>save</p><p>Save all</p>',
      { text: 'Save', exact: true },
      ['P'],
    ],
    [
      'an element that has it itself and in a child: the child',
      '<div>Go <b>Go</b></div>',
      { text: 'Go' },
      ['B'],
    ],
    ['each of several', '<ul><li>Go<li>Go now<li>No</ul>', { text: 'go' }, ['LI', 'LI']],
    [
      'buttons by their value',
      '<input type=submit value="Send it"><input value="Send it">',
      { text: 'send it' },
      ['INPUT'],
    ],
    ['emoji and case of other languages', '<p>İstanbul 👩‍👩‍👧 ÄÖ</p>', { text: '👩‍👩‍👧 äö' }, ['P']],
    ['not in closed details', '<details><summary>Sum</summary>Inside</details>', { text: 'Inside' }, []],
  ];
  it.each(cases)('%s', async (_, body, target, tags) => {
    await page.load(`<title>Only in the title</title>${body}`);
    expect((await page.query(target)).matches.map(({ tag }) => tag.toUpperCase())).toEqual(tags);
  });

  it('through slots, in the order as painted', async () => {
    await page.load(`<x-s><b slot=s>slotted</b></x-s><script>customElements.define('x-s', class extends HTMLElement {
      constructor() { super(); this.attachShadow({ mode: 'open' }).innerHTML = '<p>Before <slot name=s></slot> after</p>' } })</script>`);
    expect((await page.query({ text: 'before slotted after' })).matches.map(({ tag }) => tag)).toEqual(['p']);
    expect((await page.query({ text: 'slotted' })).matches.map(({ tag }) => tag)).toEqual(['b']);
  });
});

describe('targets', () => {
  it.each<[QueryTarget, string[]]>([
    [{ selector: '#save' }, ['button "Save order"']],
    [{ selector: 'main section > button' }, ['button "In shadow"']],
    [{ selector: '#h button' }, ['button "In shadow"']],
    [{ selector: '#none' }, []],
    [{ selector: 'a[' }, ['syntax']],
    [{ selector: '' }, ['syntax']],
    [{ xpath: '//li[2]' }, ['listitem: Beta']],
    [{ xpath: '//li[2]/text()' }, ['listitem: Beta']],
    [{ xpath: '//a/@title' }, ['link "Link bold text"']],
    [{ xpath: '//li[' }, ['syntax']],
    [{ xpath: 'count(//li)' }, ['syntax']],
    [{ role: 'button', name: 'save' }, ['button "Save order"', 'button "Save all orders"']],
    [{ role: 'button', name: 'Save order', exact: true }, ['button "Save order"']],
    [{ role: 'button', name: 'save order', exact: true }, []],
    [{ role: 'button', name: 'Save hidden' }, []],
    [{ role: 'Heading' }, ['heading "Orders" [level=1]']],
    [{ role: 'button', nth: -1 }, ['button "In shadow"']],
    [{ role: 'button', nth: 9 }, []],
    [{ text: 'Some split words' }, ['paragraph: Some split words not these']],
    [{ text: 'split', exact: true }, ['generic: split']],
    [{ text: 'Send it' }, ['button "Send it"']],
    [{ text: 'Secret' }, []],
    [{ text: 'not these' }, []],
    [{ text: 'script words' }, []],
    [{ text: 'in SHADOW' }, ['button "In shadow"']],
    [{ label: 'First name' }, ['textbox "First name"']],
    [{ label: 'name' }, ['textbox "First name"', 'textbox "Last name"']],
    [{ placeholder: 'Your' }, ['textbox "First name"']],
    [{ testId: 'last' }, ['textbox "Last name"']],
    [{ testId: 'las' }, []],
    [{}, ['syntax']],
  ])('%j', async (target, expected) => {
    await page.load(html);
    expect(await found(target)).toEqual(expected);
  });

  it('say what comes close when nothing matches', async () => {
    await page.load(html);
    const near = async (target: QueryTarget): Promise<string | undefined> =>
      (await page.query(target)).near[0]?.line;
    expect(await near({ role: 'button', name: 'Svae order' })).toBe('button "Save order"');
    expect(await near({ role: 'link', name: 'Save order' })).toBe('button "Save order"');
    expect(await near({ text: 'Save ordr' })).toBe('button "Save order"');
    expect(await near({ selector: '#sav' })).toBe('button "Save order"');
    expect(await near({ testId: 'lasts' })).toBe('textbox "Last name"');
  });

  it('give refs that resolve to the matches, and the same ones as a snapshot', async () => {
    await page.load(html);
    const ref = (await page.query({ selector: '#save' })).matches[0]?.ref;
    expect(await page.text()).toContain(`button "Save order" [ref=e${ref}]`);
    expect(await page.evaluate(`airlock.node(${ref}).id`)).toBe('save');
  });

  it('by ref: live, gone, and of another document', async () => {
    await page.load(html);
    const ref = (await page.query({ selector: '#save' })).matches[0]?.ref ?? 0;
    expect(await found({ ref })).toEqual(['button "Save order"']);
    await page.page.evaluate('save.remove()');
    expect(await found({ ref })).toEqual(['stale']);
    expect(await found({ ref: 99_999 })).toEqual(['unknown']);
  });
});
