import { type Browser, chromium, type Page } from 'playwright-core';
import type { Bench } from '../bench.ts';
import { check } from '../json-client.ts';
import { PeerHome } from './home.ts';

/** playwright-core on the same binary with the same flags. */
export class PlaywrightPeer implements AsyncDisposable {
  readonly page: Page;
  readonly #browser: Browser;
  readonly #home: PeerHome;

  private constructor(browser: Browser, page: Page, home: PeerHome) {
    this.#browser = browser;
    this.page = page;
    this.#home = home;
  }

  static async start(bench: Bench): Promise<PlaywrightPeer> {
    const home = await PeerHome.make(bench);
    const browser = await chromium.launch({
      executablePath: bench.chrome.path,
      ignoreDefaultArgs: true,
      args: home.directFlags,
      env: home.env,
    });
    return new PlaywrightPeer(browser, await browser.newPage({ viewport: null }), home);
  }

  async load(url: string): Promise<void> {
    const response = await this.page.goto(url);
    check(response?.status() === 200, `playwright: ${url} gave ${response?.status()}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    await this.#home[Symbol.asyncDispose]();
  }
}
