import { KeptConnection } from './kept-connection.ts';

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

/** JSON over HTTP with kept connections: how the service and chromedriver are both called. */
export class JsonClient implements AsyncDisposable {
  readonly #base: URL;
  /** The lines of the head that every request has. */
  readonly #common: string;
  readonly #connections = new Set<KeptConnection>();
  readonly #free: KeptConnection[] = [];

  constructor(baseUrl: string, headers: Readonly<Record<string, string>> = {}) {
    this.#base = new URL(baseUrl);
    const all = Object.entries({ host: this.#base.host, accept: 'application/json', ...headers });
    this.#common = all.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  }

  async call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answer> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const about =
      body === undefined
        ? ''
        : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n`;
    const connection = this.#kept() ?? (await this.#open());
    const answer = await connection.ask(`${method} ${path} HTTP/1.1\r\n${this.#common}${about}\r\n${text}`);
    this.#free.push(connection);
    const json = answer.contentType.includes('json');
    return new Answer(`${method} ${path}`, answer.status, json ? JSON.parse(answer.body) : answer.body);
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
    for (const connection of this.#connections) connection.close();
  }

  #kept(): KeptConnection | undefined {
    for (let last = this.#free.pop(); last !== undefined; last = this.#free.pop()) {
      if (last.usable) return last;
      this.#connections.delete(last);
    }
    return undefined;
  }

  async #open(): Promise<KeptConnection> {
    const connection = await KeptConnection.open(this.#base.hostname, Number(this.#base.port));
    this.#connections.add(connection);
    return connection;
  }
}
