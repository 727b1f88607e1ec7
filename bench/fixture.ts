import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { check, JsonClient } from './json-client.ts';

const ORIGINS = 4;

/** The server that the pages come from. */
export class Fixture implements AsyncDisposable {
  /** Base URL of the first origin. */
  readonly url: string;
  /** `127.0.0.1:port` of all origins and of the TCP source: what a session must be allowed. */
  readonly hosts: readonly string[];
  /** A TCP port that sends bytes without end to whoever connects. */
  readonly sourcePort: number;
  readonly #worker: Worker;
  readonly #control: JsonClient;

  private constructor(worker: Worker, urls: readonly string[], sourcePort: number) {
    this.#worker = worker;
    this.url = urls[0] ?? '';
    this.sourcePort = sourcePort;
    this.hosts = [...urls.map((url) => new URL(url).host), `127.0.0.1:${sourcePort}`];
    this.#control = new JsonClient(this.url);
  }

  static async start(): Promise<Fixture> {
    const worker = new Worker(new URL('./fixture-worker.ts', import.meta.url), { workerData: ORIGINS });
    const [started]: unknown[] = await once(worker, 'message');
    check(isStarted(started), 'the fixture server did not start');
    return new Fixture(worker, started.urls, started.sourcePort);
  }

  /** How often each path was asked for since the last reset. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    return countsOf((await this.#control.get('/-/counts')).expect(200).body);
  }

  /**
   * Forgets the counts and closes idle connections.
   * @returns the counts until now
   */
  async reset(): Promise<ReadonlyMap<string, number>> {
    return countsOf((await this.#control.get('/-/reset')).expect(200).body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#control[Symbol.asyncDispose]();
    await this.#worker.terminate();
  }
}

function isStarted(message: unknown): message is { urls: string[]; sourcePort: number } {
  return typeof message === 'object' && message !== null && 'urls' in message && Array.isArray(message.urls);
}

function countsOf(body: unknown): ReadonlyMap<string, number> {
  check(typeof body === 'object' && body !== null, 'the fixture server gives no counts');
  return new Map(Object.entries(body).map(([path, count]) => [path, Number(count)]));
}
