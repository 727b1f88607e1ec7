import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Bench } from '../bench.ts';
import { check, JsonClient } from '../json-client.ts';
import { PeerHome } from './home.ts';

const SERVER = fileURLToPath(new URL('bare-http-server.ts', import.meta.url));

/**
 * The least that any service of this kind can take: Node's own HTTP server, in a process of its own, that hands each
 * request to CDP and does nothing else. No check of the caller, of the input, of the page or of the time.
 */
export class BareHttp extends JsonClient {
  readonly #server: ChildProcess;
  readonly #home: PeerHome;

  private constructor(url: string, server: ChildProcess, home: PeerHome) {
    super(url);
    this.#server = server;
    this.#home = home;
  }

  /** @param url the page that it has open */
  static async start(bench: Bench, url: string): Promise<BareHttp> {
    const home = await PeerHome.make(bench);
    const server = fork(SERVER);
    server.send({ path: bench.chrome.path, args: home.directFlags, env: home.env, url });
    const [base]: unknown[] = await once(server, 'message');
    check(typeof base === 'string', 'the bare server did not start');
    return new BareHttp(base, server, home);
  }

  async value(expression: string): Promise<unknown> {
    return (await this.post('/', { expression })).expect(200).at('value');
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    const ended = once(this.#server, 'exit');
    this.#server.disconnect();
    await ended;
    await this.#home[Symbol.asyncDispose]();
  }
}
