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

async function refOf(name: string): Promise<number> {
  const match = new RegExp(`"${name}" \\[ref=e(\\d+)\\]`).exec(await page.text());
  if (match === null) throw new Error(`no ref for ${name}`);
  return Number(match[1]);
}

async function collectGarbage(): Promise<void> {
  for (let i = 0; i < 3; i++) await page.cdp.send('HeapProfiler.collectGarbage');
}

describe('refs', () => {
  it('stay with the node, whatever is put around it', async () => {
    await page.load('<div id=h><button>Mine</button></div>');
    const mine = await refOf('Mine');
    await page.page.evaluate(`h.prepend(Object.assign(document.createElement('button'), {textContent: 'New'}));
      h.querySelector('button:last-child').textContent = 'Renamed'`);
    expect(await refOf('Renamed')).toBe(mine);
    expect(await refOf('New')).toBeGreaterThan(mine);
  });

  it('never stand for a node that took the place of another', async () => {
    await page.load('<div id=h><button>Mine</button><button>Other</button></div>');
    const mine = await refOf('Mine');
    await page.page.evaluate(`h.innerHTML = '<button>More</button><button>Mine</button>'`);
    expect(await page.status(mine)).toBe('removed');
    expect(await refOf('Mine')).toBeGreaterThan(mine);
    expect(await page.evaluate(`airlock.node(${mine})`)).toBeNull();
  });

  it('are known again when the node comes back', async () => {
    await page.load('<div id=h><button id=b>Mine</button></div>');
    const mine = await refOf('Mine');
    await page.page.evaluate('globalThis.kept = b; b.remove()');
    expect(await page.status(mine)).toBe('removed');
    await page.page.evaluate('h.append(kept)');
    expect(await page.status(mine)).toBe('live');
    expect(await refOf('Mine')).toBe(mine);
  });

  it('of an earlier document are unknown, and their numbers are not used again', async () => {
    await page.load('<button>Old</button>');
    const old = await refOf('Old');
    await page.page.goto('data:text/html,<button>Old</button>');
    await page.inject();
    expect(await page.status(old)).toBe('unknown');
    expect(await refOf('Old')).toBeGreaterThan(old);
  });

  it('survive garbage collection as long as the node is in the document', async () => {
    await page.load(Array.from({ length: 300 }, (_, i) => `<button>B${i}</button>`).join(''));
    const before = await page.text();
    await collectGarbage();
    expect(await page.text()).toBe(before);
    const refs = [...before.matchAll(/ref=e(\d+)/g)].map((match) => Number(match[1]));
    expect(refs).toHaveLength(300);
    expect(await page.evaluate(`[${refs}].every((ref) => airlock.resolve(ref).status === 'live')`)).toBe(
      true,
    );
  });

  it('do not keep removed nodes in memory, and still say that they were removed', async () => {
    await page.load('<div id=h><button>Mine</button></div>');
    const mine = await refOf('Mine');
    await page.page.evaluate('globalThis.weak = new WeakRef(h.firstChild); h.innerHTML = ""');
    await collectGarbage();
    expect(await page.page.evaluate('weak.deref() === undefined')).toBe(true);
    expect(await page.status(mine)).toBe('removed');
  });

  it('are not shared with the page, which cannot see the injected object either', async () => {
    await page.load('<button>Mine</button>');
    await page.text();
    expect(
      await page.page.evaluate('typeof airlock + Object.keys(document.querySelector("button")).length'),
    ).toBe('undefined0');
  });
});
