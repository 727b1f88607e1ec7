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

const text = async (): Promise<string> => (await page.text()).replace(/ \[ref=e\d+\]/g, ' *');

describe('a modal dialog', () => {
  it('is all that is offered while it is open', async () => {
    await page.load(
      `<button>Behind</button><dialog id=a aria-label=First><button>In first</button></dialog>
       <dialog id=b aria-label=Second><button>In second</button></dialog>`,
    );
    expect(await text()).toBe('- button "Behind" *');
    await page.page.evaluate('b.showModal()');
    expect(await text()).toBe('- dialog "Second"\n  - button "In second" * [focused]');
    expect((await page.query({ role: 'button', name: 'Behind' })).count).toBe(0);
    await page.page.evaluate('a.showModal()');
    expect(await text()).toBe('- dialog "First"\n  - button "In first" * [focused]');
    await page.page.evaluate('a.close(); b.close()');
    expect(await text()).toBe('- button "Behind" * [focused]'.replace(' [focused]', ''));
  });

  it('that is not modal leaves the rest in place', async () => {
    await page.load('<button>Behind</button><dialog open aria-label=D><button>In</button></dialog>');
    expect(await text()).toBe('- button "Behind" *\n- dialog "D"\n  - button "In" *');
  });
});
