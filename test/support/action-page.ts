import { afterAll, beforeAll, expect } from 'vitest';
import { AirlockError, type ErrorCode } from '../../src/errors.ts';
import type { CdpSession } from '../../src/page/cdp.ts';
import type { Operation, PageEnvironment } from '../../src/page/operation.ts';
import type { Tab } from '../../src/page/tab.ts';
import { PageHarness, PageServer } from './page-harness.ts';

type Pages = Parameters<typeof PageServer.open>[0];

/** A Chrome and a server on loopback for the tests of one file. In HTML, `CROSS` is the server's address as another site. */
export class ActionPage {
  #chrome: PageHarness | undefined;
  #server: PageServer | undefined;

  constructor(pages: Pages, options: { dialogs?: PageEnvironment['dialogs'] } = {}) {
    beforeAll(async () => {
      const served: Pages = {};
      for (const [path, page] of Object.entries(pages)) {
        if (typeof page !== 'string') served[path] = page;
        else {
          served[path] = (_, response) => {
            const html = page.replaceAll('CROSS', this.server.url('', 'localhost'));
            response
              .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
              .end(`<!doctype html>${html}`);
          };
        }
      }
      this.#server = await PageServer.open(served);
      this.#chrome = await PageHarness.open(options);
    });
    afterAll(async () => {
      await this.#chrome?.[Symbol.asyncDispose]();
      await this.#server?.[Symbol.asyncDispose]();
    });
  }

  get chrome(): PageHarness {
    if (!this.#chrome) throw new Error('only inside a test');
    return this.#chrome;
  }

  get server(): PageServer {
    if (!this.#server) throw new Error('only inside a test');
    return this.#server;
  }

  get tab(): Tab {
    return this.chrome.tab;
  }

  run<T>(work: (op: Operation) => Promise<T>, options?: { timeoutMs?: number; tab?: string }): Promise<T> {
    return this.chrome.run(work, options);
  }

  /** Loads a page of the server, until its load event and that of its frames. */
  async goto(path = '/'): Promise<void> {
    const { session, documents } = this.tab;
    const { loaderId } = await session.send('Page.navigate', { url: this.server.url(path) });
    await new Promise<void>((resolve) => {
      const look = () => {
        if (!documents.get(loaderId ?? '')?.reached.has('load')) return;
        documents.off('progress', look);
        resolve();
      };
      documents.on('progress', look);
      look();
    });
  }

  /** Evaluates in the page's own world, as the page's scripts would. */
  async eval(expression: string, session: CdpSession = this.tab.session): Promise<unknown> {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** As `eval`, in the frame whose URL contains `part`, once it is there. */
  async evalIn(part: string, expression: string): Promise<unknown> {
    const frame = this.tab.frames.list().find(({ url }) => url.includes(part));
    if (!frame?.session || frame.mainContextId === undefined) throw new Error(`no frame ${part}`);
    const { result } = await frame.session.send('Runtime.evaluate', {
      expression,
      contextId: frame.mainContextId,
      returnByValue: true,
      awaitPromise: true,
    });
    return result.value;
  }
}

/** Expects an AirlockError of a code, and gives it for a closer look. */
export async function problem(work: Promise<unknown>, code: ErrorCode): Promise<AirlockError> {
  const error = await work.then(
    (value) => new Error(`it answered ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof AirlockError)) throw error;
  expect(`${error.code}: ${error.message}`).toMatch(new RegExp(`^${code}: `));
  return error;
}
