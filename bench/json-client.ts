import { Agent, type IncomingMessage, request } from 'node:http';

/** A result that is not what it must be: the bench fails. */
export class WrongResult extends Error {
  override readonly name = 'WrongResult';
}

/** @throws WrongResult when `holds` is false */
export function check(holds: boolean, message: string): asserts holds {
  if (!holds) throw new WrongResult(message);
}

/** The status and the body of an answer, whose members are looked at before they are believed. */
export class Answer {
  readonly status: number;
  readonly body: unknown;
  readonly #call: string;

  constructor(call: string, status: number, body: unknown) {
    this.#call = call;
    this.status = status;
    this.body = body;
  }

  /** @throws WrongResult any other status */
  expect(status: number): this {
    if (this.status !== status) {
      throw new WrongResult(`${this.#call}: ${this.status} ${JSON.stringify(this.body).slice(0, 600)}`);
    }
    return this;
  }

  /** The member at a path of names: `processes.survivors`. */
  at(path: string): unknown {
    return path.split('.').reduce<unknown>((value, name) => {
      return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
    }, this.body);
  }

  /** @throws WrongResult the member is no text */
  text(path: string): string {
    const value = this.at(path);
    check(typeof value === 'string', `${this.#call}: ${path} is ${JSON.stringify(value)}`);
    return value;
  }

  /** @throws WrongResult the member is no number */
  number(path: string): number {
    const value = this.at(path);
    check(typeof value === 'number', `${this.#call}: ${path} is ${JSON.stringify(value)}`);
    return value;
  }

  /** @throws WrongResult the member is another value */
  is(path: string, expected: unknown): this {
    const value = this.at(path);
    check(value === expected, `${this.#call}: ${path} is ${JSON.stringify(value)}, not ${String(expected)}`);
    return this;
  }
}

/**
 * JSON over HTTP with kept connections: how the service and chromedriver are both called. Node's own client, since what the
 * client takes is in every figure.
 */
export class JsonClient implements AsyncDisposable {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #base: URL;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(baseUrl: string, headers: Readonly<Record<string, string>> = {}) {
    this.#base = new URL(baseUrl);
    this.#headers = { accept: 'application/json', ...headers };
  }

  async call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      ...this.#headers,
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      }),
    };
    const { hostname, port } = this.#base;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    request({ hostname, port, method, path, headers, agent: this.#agent }, resolve)
      .on('error', reject)
      .end(text);
    const response = await promise;
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    const answer = Buffer.concat(chunks).toString();
    const json = String(response.headers['content-type'] ?? '').includes('json');
    return new Answer(`${method} ${path}`, response.statusCode ?? 0, json ? JSON.parse(answer) : answer);
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path);
  }

  post(path: string, body: unknown = {}): Promise<Answer> {
    return this.call('POST', path, body);
  }

  delete(path: string): Promise<Answer> {
    return this.call('DELETE', path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
  }
}
