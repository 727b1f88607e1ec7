import { CDPSessionEvent } from 'puppeteer-core/internal/api/CDPSession.js';
import type { CdpSession } from './cdp.ts';

/** A response that a tab has received. */
export interface SeenResponse {
  readonly url: string;
  readonly status: number;
  /** `Date.now()` at its headers. */
  readonly at: number;
}

/** Responses that a tab remembers, to answer whether one came. */
const REMEMBERED = 200;

/** Requests that last by design and say nothing of whether a page is still loading. */
const STREAMS = new Set(['WebSocket', 'EventSource', 'Ping', 'Preflight']);

/** A request without an end for this long, in milliseconds, is taken for a stream (a long poll). */
const STREAM_AGE = 15_000;

interface Request {
  readonly since: number;
  readonly sessionId: string;
  /** The document that asked for it. */
  readonly loaderId: string;
}

/** What a tab asks of the network, over all its sessions: the last responses, and how long it has been quiet. */
export class Traffic {
  readonly #responses: SeenResponse[] = [];
  /** By request id: a document that moves to another process ends in another session than it began in. */
  readonly #inFlight = new Map<string, Request>();
  #changedAt = Date.now();

  watch(session: CdpSession): void {
    const ended = ({ requestId }: { requestId: string }) => {
      if (this.#inFlight.delete(requestId)) this.#changedAt = Date.now();
    };
    session.on('Network.requestWillBeSent', ({ requestId, loaderId, type }) => {
      if (STREAMS.has(type ?? '')) return;
      this.#changedAt = Date.now();
      this.#inFlight.set(requestId, { since: this.#changedAt, sessionId: session.id(), loaderId });
    });
    session.on('Network.responseReceived', ({ response }) => {
      this.#responses.push({ url: response.url, status: response.status, at: Date.now() });
      if (this.#responses.length > REMEMBERED) this.#responses.shift();
    });
    session.on('Network.loadingFinished', ended);
    session.on('Network.loadingFailed', ended);
    // The ends of what a dead session asked for are never told.
    session.once(CDPSessionEvent.Disconnected, () => {
      for (const [id, { sessionId }] of this.#inFlight)
        if (sessionId === session.id()) this.#inFlight.delete(id);
    });
  }

  /** The main frame has a new document: what the one before it asked for is over. */
  leave(loaderId: string): void {
    for (const [id, request] of this.#inFlight) if (request.loaderId !== loaderId) this.#inFlight.delete(id);
  }

  responsesSince(time: number): SeenResponse[] {
    return this.#responses.filter(({ at }) => at >= time);
  }

  /** Requests without an end, streams left out. */
  get pending(): number {
    const old = Date.now() - STREAM_AGE;
    return [...this.#inFlight.values()].filter(({ since }) => since > old).length;
  }

  /** Milliseconds since a request began or ended; 0 while one is under way. */
  get quietMs(): number {
    return this.pending > 0 ? 0 : Date.now() - this.#changedAt;
  }
}
