import puppeteer, { type Browser, type CDPSession, type Page } from 'puppeteer-core';
import type { Bench } from '../bench.ts';
import { check } from '../json-client.ts';
import { PeerHome } from './home.ts';

/** Raw puppeteer-core on the same binary with the same flags, over a pipe: the least that a page can cost over CDP. */
export class PuppeteerPeer implements AsyncDisposable {
  readonly browser: Browser;
  readonly page: Page;
  readonly home: PeerHome;

  private constructor(browser: Browser, page: Page, home: PeerHome) {
    this.browser = browser;
    this.page = page;
    this.home = home;
  }

  static async start(bench: Bench): Promise<PuppeteerPeer> {
    const home = await PeerHome.make(bench);
    const browser = await launchPuppeteer(bench, home, home.directFlags);
    const [page] = await browser.pages();
    check(page !== undefined, 'puppeteer has no page');
    return new PuppeteerPeer(browser, page, home);
  }

  async load(url: string): Promise<void> {
    const response = await this.page.goto(url, { waitUntil: 'load' });
    check(response?.status() === 200, `puppeteer: ${url} gave ${response?.status()}`);
  }

  cdp(): Promise<CDPSession> {
    return this.page.createCDPSession();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
    await this.home[Symbol.asyncDispose]();
  }
}

/** `puppeteer.launch` with our flags and none of its own. */
export function launchPuppeteer(bench: Bench, home: PeerHome, args: string[]): Promise<Browser> {
  return puppeteer.launch({
    executablePath: bench.chrome.path,
    pipe: true,
    ignoreDefaultArgs: true,
    args,
    env: home.env,
    // As the service has it: a viewport is asked for, not given.
    defaultViewport: null,
  });
}
