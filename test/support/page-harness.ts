import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PipeTransport } from 'puppeteer-core/internal/node/PipeTransport.js';
import { AirlockError } from '../../src/errors.ts';
import { Operation, type PageEnvironment } from '../../src/page/operation.ts';
import { ReadingStore } from '../../src/page/reading/store.ts';
import { RefTable } from '../../src/page/refs.ts';
import { SnapshotStore } from '../../src/page/snapshot/store.ts';
import type { Tab } from '../../src/page/tab.ts';
import { Tabs } from '../../src/page/tabs.ts';
import { ChromeConnection } from '../../src/sessions/chrome-connection.ts';
import { Targets } from '../../src/sessions/targets.ts';

const noLog = () => undefined;
const BINARIES = {
  'headless-shell': '/usr/lib/chromium/chromium-headless-shell',
  chrome: '/usr/lib/chromium/chromium',
} as const;
export type Engine = keyof typeof BINARIES;

/** The engines that this machine has: behaviour that differs between them is tested with each. */
export const engines = (Object.keys(BINARIES) as Engine[]).filter((engine) => existsSync(BINARIES[engine]));

export interface HarnessOptions extends Partial<PageEnvironment> {
  readonly engine?: Engine | undefined;
}

/** A real Chrome with one tab, without a service around it: for tests of the page room. Closes with `await using`. */
export class PageHarness implements AsyncDisposable {
  readonly tabs = new Tabs();
  readonly env: PageEnvironment;
  /** How often the operations asked for a pause of the pipe. */
  holds = 0;
  readonly #child: ChildProcess;
  readonly #dir: string;

  private constructor(child: ChildProcess, dir: string, env: Partial<PageEnvironment>) {
    this.#child = child;
    this.#dir = dir;
    this.env = {
      tabs: this.tabs,
      refs: new RefTable(),
      snapshots: new SnapshotStore(),
      readings: new ReadingStore(),
      dialogs: 'report',
      judgeNavigation: (url) => ({ verdict: 'allow', reason: 'ok', target: url }),
      denialsSince: () => [],
      downloadsSince: () => [],
      filesDir: dir,
      origins: {
        seen: () => [],
        add: () => undefined,
        use: (_signal, work) =>
          work(() => Promise.reject(new Error('there is no guard to answer for an origin'))),
      },
      holdInput: () => {
        const input = child.stdio[4];
        if (!input || !('pause' in input)) throw new Error('no pipe');
        input.pause();
        this.holds += 1;
        return () => input.resume();
      },
      ...env,
    };
  }

  /** @param options an engine, and what the operations find around the page in place of the usual */
  static async open({ engine = engines[0], ...env }: HarnessOptions = {}): Promise<PageHarness> {
    if (engine === undefined) throw new Error('no Chrome: run scripts/setup.sh');
    const binary = BINARIES[engine];
    const dir = await mkdtemp(join(tmpdir(), 'page-harness-'));
    const child = spawn(
      binary,
      [
        engine === 'chrome' ? '--headless=new' : '--headless',
        '--no-sandbox',
        '--site-per-process',
        '--disable-gpu',
        '--remote-debugging-pipe',
        `--user-data-dir=${dir}/p`,
        'about:blank',
      ],
      {
        stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
        env: { ...process.env, TMPDIR: dir, HOME: dir },
      },
    );
    const harness = new PageHarness(child, dir, env);
    const [, , , write, read] = child.stdio;
    if (!write || !read || !('write' in write)) throw new Error('no pipe');
    const transport = new PipeTransport(write as NodeJS.WritableStream, read as NodeJS.ReadableStream, noLog);
    const connection = new ChromeConnection(transport, (error) => {
      throw error;
    });
    const targets = new Targets({
      connection,
      tabs: harness.tabs,
      guard: { guard: async () => undefined, running: async () => undefined },
      maxTabs: 20,
      onRefusedTab: () => undefined,
      onFault: (error) => {
        throw error;
      },
    });
    await targets.start();
    return harness;
  }

  get tab(): Tab {
    return this.tabs.get(undefined);
  }

  /** Runs `work` as one operation, with a deadline as the lane gives it. */
  async run<T>(
    work: (op: Operation) => Promise<T>,
    options: { timeoutMs?: number; tab?: string } = {},
  ): Promise<T> {
    const timeoutMs = options.timeoutMs ?? 10_000;
    const controller = new AbortController();
    const timer = setTimeout(
      () => controller.abort(new AirlockError('timeout', `Not finished within ${timeoutMs} ms`)),
      timeoutMs,
    );
    using op = new Operation({
      tab: this.tabs.get(options.tab),
      env: this.env,
      signal: controller.signal,
      timeoutMs,
    });
    try {
      return await work(op);
    } finally {
      clearTimeout(timer);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = this.#child.exitCode === null ? once(this.#child, 'exit') : undefined;
    this.#child.kill('SIGKILL');
    await exited;
    await rm(this.#dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** An HTTP server on loopback; `pages` maps a path to HTML or to a handler. */
export class PageServer implements AsyncDisposable {
  readonly #server: Server;
  /** Method and path of every request so far. */
  readonly requests: string[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(
    pages: Record<string, string | ((request: IncomingMessage, response: ServerResponse) => void)>,
  ): Promise<PageServer> {
    const server = createServer();
    const self = new PageServer(server);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      self.requests.push(`${request.method} ${request.url}`);
      const page = pages[(request.url ?? '/').replace(/\?.*/, '')];
      if (page === undefined) {
        response.writeHead(404).end('not here');
      } else if (typeof page === 'string') {
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(`<!doctype html>${page}`);
      } else {
        page(request, response);
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return self;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    return address.port;
  }

  url(path: string, host = '127.0.0.1'): string {
    return `http://${host}:${this.port}${path}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
