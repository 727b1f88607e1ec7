import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const START_LIMIT_MS = 60_000;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  readonly body: any;
  readonly text: string;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** Without the bearer token. */
  readonly anonymous?: boolean;
  readonly signal?: AbortSignal;
}

/** A started service, driven over HTTP as its users do. Owns its own temp, state and runtime directories. */
export class TestService implements AsyncDisposable {
  readonly baseUrl: string;
  readonly token: string;
  readonly child: ChildProcess;
  /** Everything of this service is below here; also its TMPDIR. */
  readonly root: string;
  readonly #log: () => string;

  private constructor(init: {
    baseUrl: string;
    token: string;
    child: ChildProcess;
    root: string;
    log: () => string;
  }) {
    this.baseUrl = init.baseUrl;
    this.token = init.token;
    this.child = init.child;
    this.root = init.root;
    this.#log = init.log;
  }

  /**
   * @param options `root`: an existing directory of an earlier service, to start again on it; `env`: more variables for
   * the service's own environment; `under`: a program that ends by being the service, whose command line it is given
   */
  static async start(
    flags: readonly string[] = [],
    options: { root?: string; env?: Record<string, string | undefined>; under?: readonly string[] } = {},
  ): Promise<TestService> {
    const root = options.root ?? (await mkdtemp(join(tmpdir(), 'a-')));
    const [program = process.execPath, ...before] = [...(options.under ?? []), process.execPath];
    const child = spawn(
      program,
      [
        ...before,
        MAIN,
        '--port',
        '0',
        '--state-dir',
        join(root, 'state'),
        '--runtime-dir',
        join(root, 'r'),
        '--log-level',
        'warn',
        ...flags,
      ],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...process.env,
          TMPDIR: root,
          XDG_CONFIG_HOME: root,
          XDG_DATA_HOME: join(root, 'data'),
          ...options.env,
        },
      },
    );
    let out = '';
    let log = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    const ready = new Promise<string>((resolve, reject) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        out += chunk.toString();
        const match = /listens on (http:\/\/\S+)/.exec(out);
        if (match?.[1]) resolve(match[1]);
      });
      child.once('exit', (code) => reject(new Error(`the service ended with ${code}: ${log}`)));
    });
    const late = delay(START_LIMIT_MS, undefined, { ref: false }).then(() => {
      throw new Error(`the service did not start: ${out}${log}`);
    });
    const baseUrl = await Promise.race([ready, late]);
    const token = (await readFile(join(root, 'state', 'token'), 'utf8')).trim();
    return new TestService({ baseUrl, token, child, root, log: () => log });
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error('not started');
    return this.child.pid;
  }

  /** What the service wrote to its log. */
  get log(): string {
    return this.#log();
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: {
        ...(options.anonymous ? {} : { authorization: `Bearer ${this.token}` }),
        accept: 'application/json',
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      ...(options.signal ? { signal: options.signal } : {}),
    });
    const text = await response.text();
    const json = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      body: json ? JSON.parse(text) : undefined,
      text,
    };
  }

  get(path: string, options?: CallOptions): Promise<Answer> {
    return this.call('GET', path, options);
  }

  post(path: string, body: unknown = {}, options: CallOptions = {}): Promise<Answer> {
    return this.call('POST', path, { ...options, body });
  }

  delete(path: string, options?: CallOptions): Promise<Answer> {
    return this.call('DELETE', path, options);
  }

  /** Creates a session and gives its path, `/v1/sessions/{id}`. */
  async session(body: Record<string, unknown> = {}): Promise<string> {
    const answer = await this.post('/v1/sessions', body);
    if (answer.status !== 201) throw new Error(`no session: ${answer.text}`);
    return `/v1/sessions/${answer.body.id}`;
  }

  /** Sends a signal and waits for the end of the process. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const exited = once(this.child, 'exit');
    this.child.kill(signal);
    await exited;
    return this.child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const late = delay(30_000, undefined, { ref: false }).then(() => this.child.kill('SIGKILL'));
    await Promise.race([this.stop(), late]);
    await this.stop('SIGKILL');
    await rm(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}
