import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { check, JsonClient } from '../json-client.ts';
import { Skipped } from '../row.ts';
import { PeerHome } from './home.ts';

const START_LIMIT_MS = 20_000;
/** The member that names an element (WebDriver, "web element identifier"). */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

/** chromedriver: the other browser service over HTTP. One session at a time is enough here. */
export class ChromedriverPeer implements AsyncDisposable {
  readonly #bench: Bench;
  readonly #child: ChildProcess;
  readonly #client: JsonClient;
  readonly #home: PeerHome;

  private constructor(bench: Bench, child: ChildProcess, client: JsonClient, home: PeerHome) {
    this.#bench = bench;
    this.#child = child;
    this.#client = client;
    this.#home = home;
  }

  /** @throws Skipped it is not installed */
  static async start(bench: Bench): Promise<ChromedriverPeer> {
    if (bench.chromedriver === undefined) {
      throw new Skipped('chromedriver is not installed; sh scripts/setup.sh --bench installs it');
    }
    const home = await PeerHome.make(bench);
    const child = spawn(bench.chromedriver, ['--port=0'], {
      env: home.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const port = await portOf(child);
      return new ChromedriverPeer(bench, child, new JsonClient(`http://127.0.0.1:${port}`), home);
    } catch (error) {
      child.kill('SIGKILL');
      await home[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A new session; gives its path. */
  async open(): Promise<string> {
    const { chrome } = this.#bench;
    // The pipe and the profile are its own business; its page is about:blank unless it is told of another.
    const own = /^(?:--remote-debugging-pipe|--user-data-dir=.*|about:blank)$/;
    const args = this.#home.directFlags.filter((flag) => !own.test(flag));
    const options = {
      binary: chrome.path,
      args: chrome.engine === 'chrome' ? args : ['--headless', ...args],
    };
    const capabilities = { alwaysMatch: { browserName: 'chrome', 'goog:chromeOptions': options } };
    const answer = (await this.#client.post('/session', { capabilities })).expect(200);
    return `/session/${answer.text('value.sessionId')}`;
  }

  async load(session: string, url: string): Promise<void> {
    (await this.#client.post(`${session}/url`, { url })).expect(200);
  }

  /** The value of an expression. */
  async value(session: string, expression: string): Promise<unknown> {
    const body = { script: `return ${expression}`, args: [] };
    return (await this.#client.post(`${session}/execute/sync`, body)).expect(200).at('value');
  }

  /** Finds an element by CSS and clicks it: two requests, as its protocol has it. */
  async click(session: string, selector: string): Promise<void> {
    const find = { using: 'css selector', value: selector };
    const found = (await this.#client.post(`${session}/element`, find)).expect(200);
    const id = found.text(`value.${ELEMENT}`);
    (await this.#client.post(`${session}/element/${id}/click`)).expect(200);
  }

  async close(session: string): Promise<void> {
    (await this.#client.delete(session)).expect(200);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      await exited;
    }
    await this.#client[Symbol.asyncDispose]();
    await this.#home[Symbol.asyncDispose]();
  }
}

/** The port that it says it listens on. */
async function portOf(child: ChildProcess): Promise<number> {
  let said = '';
  const found = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`chromedriver ended with ${code}: ${said}`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const port = /started successfully on port (\d+)/.exec(said)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
  const late = delay(START_LIMIT_MS, undefined, { ref: false });
  const port = await Promise.race([found, late]);
  check(port !== undefined, `chromedriver did not start: ${said}`);
  return port;
}
