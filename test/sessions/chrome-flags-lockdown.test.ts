import { createServer } from 'node:http';
import puppeteer, { type Page } from 'puppeteer-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PipeTransport } from '../../src/sessions/pipe-transport.ts';
import { engines, installed, startChrome } from '../support/real-chrome.ts';
import { recordSocks } from '../support/socks-recorder.ts';

/** An HTTP server on loopback that counts: what reaches it did not go through the proxy. */
async function countingServer(): Promise<{ port: number; hits: () => number }> {
  let hits = 0;
  const server = createServer((_request, response) => {
    hits++;
    response.end('reached');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  return { port: bound.port, hits: () => hits };
}

async function openPage(chrome: Awaited<ReturnType<typeof startChrome>>): Promise<Page> {
  const transport = new PipeTransport(chrome.pipeWrite, chrome.pipeRead);
  const browser = await puppeteer.connect({ transport, defaultViewport: null });
  onTestFinished(() => transport.close());
  return browser.newPage();
}

/** The net error that a navigation ends with; '' when it loads. */
async function loads(page: Page, url: string): Promise<string> {
  return page.goto(url).then(
    () => '',
    (error: unknown) => /net::\w+/.exec(String(error))?.[0] ?? String(error),
  );
}

describe.for(engines.map((engine) => ({ engine, path: installed(engine) })))(
  '$engine',
  ({ engine, path }) => {
    test.skipIf(path === undefined)(
      'the first request is the one asked for, and it is asked of the floor',
      async () => {
        if (path === undefined) return;
        const socks = await recordSocks();
        const page = await openPage(await startChrome(engine, path, socks));
        await loads(page, 'http://canary.invalid/');
        expect(socks.asked.length).toBeGreaterThan(0);
        // Not https://canary.invalid first, and no service of the browser's own beside it.
        expect([...new Set(socks.asked)]).toEqual(['canary.invalid:80']);
      },
    );

    test.skipIf(path === undefined)(
      'loopback goes to the floor too; without the flag it does not',
      async () => {
        if (path === undefined) return;
        const [socks, server] = [await recordSocks(), await countingServer()];
        const page = await openPage(await startChrome(engine, path, socks));
        for (const host of ['127.0.0.1', 'localhost']) {
          expect(await loads(page, `http://${host}:${server.port}/`)).toMatch(/^net::ERR_/);
          expect(socks.asked).toContain(`${host}:${server.port}`);
        }
        expect(server.hits()).toBe(0);
        const bare = (flags: string[]) =>
          flags.filter((flag) => !/^--(proxy-bypass-list|host-resolver-rules)=/.test(flag));
        const leaky = await openPage(await startChrome(engine, path, socks, bare));
        expect(await loads(leaky, `http://127.0.0.1:${server.port}/`)).toBe('');
        expect(server.hits()).toBeGreaterThan(0);
      },
    );

    test.skipIf(path === undefined)(
      'with the proxy setting lost, nothing resolves, literals included',
      async () => {
        if (path === undefined) return;
        // The floor is on another loopback address, as a session's is, so that the exclusion does not open 127.0.0.1.
        const [socks, server] = [await recordSocks('127.83.12.7'), await countingServer()];
        // Full Chrome obeys the switch, the shell does not know it: taking the setting away is the same loss.
        const lost = (flags: string[]) => flags.filter((flag) => !flag.startsWith('--proxy-server='));
        const page = await openPage(await startChrome(engine, path, socks, lost));
        for (const host of ['127.0.0.1', 'localhost', 'canary.invalid']) {
          expect(await loads(page, `http://${host}:${server.port}/`)).toBe('net::ERR_NAME_NOT_RESOLVED');
        }
        expect([server.hits(), socks.asked]).toEqual([0, []]);
      },
    );
  },
);
