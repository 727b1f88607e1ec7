/**
 * The snapshot walk against Playwright's aria snapshot: the same Chrome binary, the same pages, turn by turn.
 * `node bench/snapshot-walk.ts [rounds]`. Times are medians in milliseconds over the protocol, sizes are characters;
 * the ratio is the result.
 */
import { existsSync } from 'node:fs';
import { chromium, type Page as PlaywrightPage } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import { injectedSource } from '../src/page/injected/bundle.ts';
import type { FrameText } from '../src/page/injected/types.ts';
import { assembleSnapshot } from '../src/page/snapshot/answer.ts';
import { SnapshotStore } from '../src/page/snapshot/store.ts';

const candidates = ['/usr/lib/chromium/chromium-headless-shell', '/usr/lib/chromium/chromium'];
const executablePath = process.env['CHROME_PATH'] ?? candidates.find((path) => existsSync(path)) ?? '';
const rounds = Number(process.argv[2] ?? 15);

const row = (i: number): string =>
  `<tr><td>${i}</td><td><a href="#r${i}">Order ${i}</a></td><td><button>Edit ${i}</button></td><td><input type=checkbox aria-label="Select ${i}"></td></tr>`;
const small = `<header><a href="/">Home</a><nav><ul><li><a href="/a">Products</a><li><a href="/b">Prices</a></ul></nav></header>
<main><h1>Sign in</h1><p>Welcome back, please sign in.</p><form><label>Email <input type=email required></label><label>Password <input type=password></label>
<label><input type=checkbox> Remember me</label><button>Sign in</button> <a href="/forgot">Forgot it?</a></form></main><footer>© Example</footer>`;
const soup = (n: number): string => {
  let out = '';
  for (let i = 0; i < n; i++) {
    out += `<div class=card><div><div><h3>Card ${i}</h3><p>Some <b>text</b> of card ${i} with <a href="#c${i}">a link</a>.</p></div><div><span>${i}</span><span> pieces</span><div role=button tabindex=0>Buy</div></div></div></div>`;
  }
  return out;
};
const pages: Record<string, string> = {
  'small page': small,
  'table, 12 000 elements': `<style>button{cursor:pointer}tr:hover{background:#eee}</style><table>${Array.from({ length: 1500 }, (_, i) => row(i)).join('')}</table>`,
  'table, 2 000 rows': `<style>button{cursor:pointer}</style><table>${Array.from({ length: 2000 }, (_, i) => row(i)).join('')}</table>`,
  'nested divs, 12 000 elements': `<style>.card{padding:4px}.card::before{content:""}</style>${soup(1000)}`,
};

interface Ours {
  load(html: string): Promise<void>;
  snapshot(): Promise<string>;
  elements(): Promise<number>;
  close(): Promise<void>;
}

async function ours(): Promise<Ours> {
  const browser = await puppeteer.launch({ executablePath, pipe: true, args: ['--no-sandbox'] });
  const page = await browser.newPage();
  const cdp = await page.createCDPSession();
  const store = new SnapshotStore();
  let contextId = 0;
  let nextRef = 1;
  return {
    load: async (html) => {
      await page.goto('about:blank');
      await page.setContent(`<!doctype html><meta charset=utf-8>${html}`);
      const { frameTree } = await cdp.send('Page.getFrameTree');
      const world = await cdp.send('Page.createIsolatedWorld', {
        frameId: frameTree.frame.id,
        worldName: 'bench',
      });
      contextId = world.executionContextId;
      await cdp.send('Runtime.evaluate', { expression: `${injectedSource()}, 0`, contextId });
    },
    snapshot: async () => {
      const expression = `airlock.snapshot({ nextRef: ${nextRef}, prefix: '', maxChars: 20000 })`;
      const answer = await cdp.send('Runtime.evaluate', { expression, contextId, returnByValue: true });
      const walked = answer.result.value as FrameText;
      nextRef = walked.nextRef;
      const assembled = assembleSnapshot(
        { walked, children: new Map() },
        { tab: 't1', maxChars: 20_000 },
        store,
      );
      return store.get(assembled.id)?.full ?? '';
    },
    elements: () => page.evaluate('document.querySelectorAll("*").length') as Promise<number>,
    close: () => browser.close(),
  };
}

function median(times: number[]): number {
  return [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0;
}

async function timed<T>(work: () => Promise<T>, into: number[]): Promise<T> {
  const start = performance.now();
  const result = await work();
  into.push(performance.now() - start);
  return result;
}

async function measure(mine: Ours, theirs: PlaywrightPage, html: string): Promise<string[]> {
  await mine.load(html);
  await theirs.goto('about:blank');
  await theirs.setContent(`<!doctype html><meta charset=utf-8>${html}`);
  const times = { mine: [] as number[], ai: [] as number[], plain: [] as number[] };
  const sizes = { mine: 0, ai: 0, plain: 0 };
  for (let i = 0; i < rounds; i++) {
    sizes.mine = (await timed(() => mine.snapshot(), times.mine)).length;
    sizes.ai = (await timed(() => theirs.ariaSnapshot({ mode: 'ai' }), times.ai)).length;
    sizes.plain = (await timed(() => theirs.locator('body').ariaSnapshot(), times.plain)).length;
  }
  const [a, b, c] = [median(times.mine), median(times.ai), median(times.plain)];
  return [
    String(await mine.elements()),
    a.toFixed(1),
    b.toFixed(1),
    c.toFixed(1),
    (a / b).toFixed(3),
    (a / c).toFixed(3),
    String(sizes.mine),
    String(sizes.ai),
    (sizes.mine / sizes.ai).toFixed(2),
  ];
}

const mine = await ours();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const theirs = await browser.newPage();
  theirs.setDefaultTimeout(0);
  const head = [
    'page',
    'elements',
    'ours',
    'pw ai',
    'pw plain',
    '/ai',
    '/plain',
    'chars',
    'pw ai chars',
    'size /ai',
  ];
  console.log(head.join(' | '));
  for (const [name, html] of Object.entries(pages)) {
    console.log([name, ...(await measure(mine, theirs, html))].join(' | '));
  }
} finally {
  await browser.close();
  await mine.close();
}
