import { existsSync } from 'node:fs';
import puppeteer, { type Browser, type CDPSession, type Page } from 'puppeteer-core';
import { injectedSource } from '../../../src/page/injected/bundle.ts';
import type {
  Described,
  FrameText,
  QueryAnswer,
  QueryTarget,
  Resolved,
  WalkOptions,
} from '../../../src/page/injected/types.ts';

const paths = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/lib/chromium/chromium',
  '/usr/bin/chromium',
];

export function chromePath(): string {
  const path = process.env['CHROME_PATH'] ?? paths.find((one) => existsSync(one));
  if (path === undefined) throw new Error(`no Chrome at ${paths.join(', ')}`);
  return path;
}

/** The Chrome that the tests drive. */
export async function launch(): Promise<Browser> {
  return puppeteer.launch({ executablePath: chromePath(), pipe: true, args: ['--no-sandbox'] });
}

/** One page with the injected code in an isolated world of its main frame. */
export interface Bench {
  page: Page;
  cdp: CDPSession;
  /** Replaces the document's markup (a full document is made of it) and injects. */
  load(html: string): Promise<void>;
  /** Injects into the current document of the main frame. */
  inject(): Promise<void>;
  /** The value of an expression in the isolated world, where `airlock` is the API. */
  evaluate<T>(expression: string): Promise<T>;
  snapshot(options?: Partial<WalkOptions>): Promise<FrameText>;
  text(options?: Partial<WalkOptions>): Promise<string>;
  query(target: QueryTarget): Promise<QueryAnswer>;
  /** What the API says of the first element that a selector matches. */
  describe(selector: string): Promise<Described>;
  status(ref: number): Promise<Resolved['status']>;
  contextId(): number;
}

export async function bench(browser: Browser): Promise<Bench> {
  const page = await browser.newPage();
  const cdp = await page.createCDPSession();
  let contextId = 0;
  let nextRef = 1;

  async function inject(): Promise<void> {
    const { frameTree } = await cdp.send('Page.getFrameTree');
    const world = await cdp.send('Page.createIsolatedWorld', {
      frameId: frameTree.frame.id,
      worldName: 'test',
    });
    contextId = world.executionContextId;
    await evaluate(`${injectedSource()}, 0`);
  }

  async function evaluate<T>(expression: string): Promise<T> {
    const answer = await cdp.send('Runtime.evaluate', { expression, contextId, returnByValue: true });
    if (answer.exceptionDetails !== undefined) {
      throw new Error(answer.exceptionDetails.exception?.description ?? answer.exceptionDetails.text);
    }
    return answer.result.value as T;
  }

  async function snapshot(options: Partial<WalkOptions> = {}): Promise<FrameText> {
    const all = JSON.stringify({ nextRef, prefix: '', ...options });
    const answer = await evaluate<FrameText>(`airlock.snapshot(${all})`);
    nextRef = answer.nextRef;
    return answer;
  }

  async function query(target: QueryTarget): Promise<QueryAnswer> {
    const answer = await evaluate<QueryAnswer>(`airlock.query(${JSON.stringify(target)}, ${nextRef})`);
    nextRef = answer.nextRef;
    return answer;
  }

  return {
    page,
    cdp,
    load: async (html) => {
      await page.setContent(`<!doctype html><meta charset=utf-8>${html}`);
      await inject();
    },
    inject,
    evaluate,
    snapshot,
    text: async (options) => (await snapshot(options)).text,
    query,
    describe: (selector) =>
      evaluate<Described>(`airlock.describe(document.querySelector(${JSON.stringify(selector)}))`),
    status: (ref) => evaluate<Resolved['status']>(`airlock.resolve(${ref}).status`),
    contextId: () => contextId,
  };
}
