/**
 * The operator's own judge: an HTTP endpoint that is asked about what the rules would allow. It can only narrow: this
 * file never makes an allow, it hands on the one that it was given. No answer in time, an answer other than 200, or a
 * body that does not say `{"allow": true}` is a deny.
 */

import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { Agent, buildConnector, request } from 'undici';
import { type Decision, deny } from './decision.ts';

/** What the endpoint is told, as JSON. Absent members are left out. */
export interface GuardQuestion {
  readonly host: string;
  readonly port: number;
  /** Where the whole URL is known: navigations and intercepted requests. Without its fragment and user information. */
  readonly url?: string | undefined;
  readonly method?: string | undefined;
}

export interface GuardHookOptions {
  readonly url: string;
  /** From question to answer, waiting for a connection included. */
  readonly timeoutMs?: number | undefined;
  /** Sent with every question: the session's id, for example. */
  readonly context?: Readonly<Record<string, string>> | undefined;
  /** How to reach the endpoint; by default as any program does. */
  readonly open?: OpenSocket | undefined;
}

export type OpenSocket = (host: string, port: number, signal: AbortSignal) => Promise<Socket>;

interface GuardAnswer {
  readonly allow: boolean;
  /** For people; shown as the decision's rule. */
  readonly reason: string | undefined;
  readonly ttlMs: number;
}

/** One page asks for some hundred different URLs. */
const cacheEntries = 2000;
/** The longest that an answer is used again, whatever `ttlMs` says. */
const maxTtlMs = 3_600_000;
const maxAnswerBytes = 16 * 1024;
const maxReasonLength = 200;
/** Connections to the endpoint; more questions wait, inside their time. */
const maxConnections = 16;

export class GuardHook {
  readonly #url: string;
  readonly #timeoutMs: number;
  readonly #context: Readonly<Record<string, string>>;
  readonly #agent: Agent;
  readonly #answers = new LRUCache<string, GuardAnswer>({ max: cacheEntries });
  readonly #flights = new Map<string, Promise<GuardAnswer>>();

  constructor(options: GuardHookOptions) {
    this.#url = options.url;
    this.#timeoutMs = options.timeoutMs ?? 2000;
    this.#context = options.context ?? {};
    const connect =
      options.open === undefined ? {} : { connect: connectorFor(options.open, this.#timeoutMs) };
    this.#agent = new Agent({ connections: maxConnections, pipelining: 1, ...connect });
  }

  /** `decision` itself when it is a deny or the endpoint agrees with it; else a deny. Never rejects. */
  async narrow(decision: Decision, question: GuardQuestion): Promise<Decision> {
    if (decision.verdict !== 'allow') return decision;
    const answer = await this.#ask(question);
    if (answer.allow) return decision;
    return deny('guard', { rule: answer.reason, address: decision.address });
  }

  /** Ends its connections; questions under way are denials. */
  async close(): Promise<void> {
    this.#answers.clear();
    await this.#agent.destroy();
  }

  #ask(question: GuardQuestion): Promise<GuardAnswer> {
    const { host, port, url, method } = question;
    const key = JSON.stringify([host, port, url, method]);
    const known = this.#answers.get(key);
    if (known !== undefined) return Promise.resolve(known);
    let flight = this.#flights.get(key);
    if (flight === undefined) {
      flight = this.#fly(key, { ...this.#context, host, port, url, method });
      this.#flights.set(key, flight);
    }
    return flight;
  }

  async #fly(key: string, body: object): Promise<GuardAnswer> {
    try {
      const answer = await this.#fetch(JSON.stringify(body));
      if (answer.ttlMs > 0) this.#answers.set(key, answer, { ttl: answer.ttlMs });
      return answer;
    } catch {
      // Down, slow or not to be understood: the same to us. It is asked again the next time.
      return { allow: false, reason: 'the guard gave no valid answer', ttlMs: 0 };
    } finally {
      this.#flights.delete(key);
    }
  }

  async #fetch(body: string): Promise<GuardAnswer> {
    const response = await request(this.#url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body,
      dispatcher: this.#agent,
      signal: AbortSignal.timeout(this.#timeoutMs),
    });
    const text = await readLimited(response.body);
    if (response.statusCode !== 200) throw new Error(`the guard answered ${response.statusCode}`);
    return parseAnswer(JSON.parse(text));
  }
}

/** undici takes a connected socket and, for https, puts TLS on it. */
function connectorFor(open: OpenSocket, timeoutMs: number): buildConnector.connector {
  const secure = buildConnector({ timeout: timeoutMs });
  return (options, callback) => {
    const { protocol, hostname } = options;
    const port = Number(options.port) || (protocol === 'https:' ? 443 : 80);
    open(hostname.replace(/^\[|\]$/g, ''), port, AbortSignal.timeout(timeoutMs)).then(
      (socket) => {
        socket.resume();
        if (protocol === 'https:') secure({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}

async function readLimited(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxAnswerBytes) throw new Error('the answer of the guard is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `{allow: boolean, reason?: string, ttlMs?: integer}`; other members are ignored. */
function parseAnswer(value: unknown): GuardAnswer {
  if (
    typeof value !== 'object' ||
    value === null ||
    !('allow' in value) ||
    typeof value.allow !== 'boolean'
  ) {
    throw new Error('the answer of the guard has no "allow"');
  }
  const reason = 'reason' in value ? value.reason : undefined;
  const ttlMs = 'ttlMs' in value ? value.ttlMs : 0;
  if (reason !== undefined && typeof reason !== 'string') throw new Error('"reason" is not text');
  if (typeof ttlMs !== 'number' || !Number.isFinite(ttlMs) || ttlMs < 0)
    throw new Error('"ttlMs" is not a time');
  return {
    allow: value.allow,
    reason: reason?.slice(0, maxReasonLength),
    ttlMs: Math.min(Math.floor(ttlMs), maxTtlMs),
  };
}
