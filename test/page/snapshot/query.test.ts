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
