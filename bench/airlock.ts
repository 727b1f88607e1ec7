import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestService } from '../test/support/service.ts';
import { type Answer, check, JsonClient } from './json-client.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** For the environment of a service whose garbage is to be collected when the bench says so. */
export const COLLECTED_ON_DEMAND = {
  NODE_OPTIONS: "--expose-gc --import=data:text/javascript,process.on('SIGWINCH',()=>globalThis.gc())",
};

/** A started service and a client with kept connections. */
export class Airlock extends JsonClient {
  readonly process: TestService;

  constructor(process: TestService) {
    super(process.baseUrl, { authorization: `Bearer ${process.token}` });
    this.process = process;
  }

  /** Whether this version of the service has a flag. */
  static async knows(flag: string): Promise<boolean> {
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--help']);
    return stdout.includes(`  ${flag} `);
  }

  get pid(): number {
    return this.process.pid;
  }

  /** Collects the garbage of a service that was started with {@link COLLECTED_ON_DEMAND}. */
  async collect(): Promise<void> {
    process.kill(this.pid, 'SIGWINCH');
    // The signal has been heard when the second is answered.
    for (let n = 0; n < 2; n++) (await this.get('/livez')).expect(200);
  }

  /** Creates a session and gives its path, `/v1/sessions/{id}`. */
  async session(body: Record<string, unknown> = {}): Promise<string> {
    const created = (await this.post('/v1/sessions', body)).expect(201);
    return `/v1/sessions/${created.text('id')}`;
  }

  /** Loads a page and checks that it came. */
  async navigate(session: string, url: string): Promise<Answer> {
    return (await this.post(`${session}/navigate`, { url })).expect(200).is('status', 200);
  }

  /** The value of an expression in the page. */
  async value(session: string, expression: string, timeoutMs = 10_000): Promise<unknown> {
    return (await this.post(`${session}/eval`, { expression, timeoutMs })).expect(200).at('value');
  }

  /** Closes a session and checks that nothing of it is left, by its receipt. */
  async close(session: string): Promise<Answer> {
    const receipt = (await this.delete(session)).expect(200);
    check(receipt.at('zero') === true, `a close left something: ${JSON.stringify(receipt.body)}`);
    return receipt;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.process[Symbol.asyncDispose]();
  }
}
