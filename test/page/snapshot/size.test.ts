import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { chromium, type Browser as Peer } from 'playwright-core';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, bench, chromePath, launch } from './harness.ts';

const require = createRequire(import.meta.url);
const fixtures = new URL('../../fixtures/pages/', import.meta.url);
const gallery = join(dirname(require.resolve('govuk-frontend/package.json')), 'dist/govuk');

let browser: Browser;
let page: Bench;
let peer: Peer;
beforeAll(async () => {
  browser = await launch();
  page = await bench(browser);
  peer = await chromium.launch({ executablePath: chromePath(), args: ['--no-sandbox'] });
});
afterAll(async () => {
  await peer.close();
  await browser.close();
});

/** Characters of both snapshots of a page. */
async function sizes(html: string): Promise<{ ours: number; theirs: number }> {
  await page.load(html);
  const ours = (await page.text()).length;
  const other = await peer.newPage();
  await other.setContent(`<!doctype html><meta charset=utf-8>${html}`);
  const theirs = (await other.ariaSnapshot({ mode: 'ai' })).length;
  await other.close();
  return { ours, theirs };
}

const row = (i: number): string =>
  `<tr><td>${i}<td><a href="#r${i}">Order ${i}</a><td><button>Edit ${i}</button><td><input type=checkbox aria-label="Select ${i}">`;
const pages: Record<string, () => string> = {
  table: () => `<table>${Array.from({ length: 200 }, (_, i) => row(i)).join('')}</table>`,
  'nested divs': () =>
    '<div><div><div><h3>Card</h3><p>Some <b>text</b> with <a href="#c">a link</a>.</p></div><div><span>3</span> <span>pieces</span></div></div></div>'.repeat(
      100,
    ),
};
for (const name of readdirSync(fixtures).filter((file) => /fields|structure|widgets|tables/.test(file))) {
  pages[name] = () => readFileSync(new URL(name, fixtures), 'utf8');
}
for (const name of ['accordion', 'checkboxes', 'footer', 'service-navigation', 'summary-list', 'table']) {
  const dir = join(gallery, 'components', name);
  pages[`gallery: ${name}`] = () =>
    readdirSync(dir)
      .filter((file) => file.endsWith('.html'))
      .map((file) => readFileSync(join(dir, file), 'utf8'))
      .join('\n');
}

// That nothing an agent can act on is missing is what engine.test.ts proves for the same pages.
describe("a snapshot has at most 0.8 of the characters of Playwright's snapshot for agents", () => {
  it.each(Object.keys(pages))('%s', async (name) => {
    const { ours, theirs } = await sizes(pages[name]?.() ?? '');
    expect(theirs).toBeGreaterThan(200);
    expect(ours / theirs).toBeLessThanOrEqual(0.8);
  });
});
