import { type CdpSession, isDetached, type Protocol } from '../page/cdp.ts';
import type { Tab } from '../page/tab.ts';
import type { Decision } from '../policy/decision.ts';
import type { TargetGuard, TargetKind } from './targets.ts';

export interface UrlRequest {
  readonly url: string;
  readonly method: string;
  readonly use: 'navigation' | 'subframe' | 'subresource';
  readonly tab: string | undefined;
}

export interface GuardOptions {
  /** Judges one request by its full URL, and records the verdict. */
  readonly judge: (request: UrlRequest) => Promise<Decision>;
  /** Commands for a page before it runs: emulation, init scripts. Must send before they yield. */
  readonly outfit: (session: CdpSession, kind: TargetKind) => Promise<unknown>;
  /** A fault in answering a paused request; the request was failed. */
  readonly onFault: (error: unknown) => void;
}

/**
 * What is seen at URL level: documents, so that every hop of a navigation is judged by its full URL, and schemes that
 * never reach the floor. Not for all traffic: interception costs a round trip per request, does not see WebSockets,
 * and the floor judges every connection anyway.
 */
const PATTERNS: Protocol.Fetch.RequestPattern[] = [
  { urlPattern: '*', resourceType: 'Document', requestStage: 'Request' },
  { urlPattern: 'file:*', requestStage: 'Request' },
  { urlPattern: 'ftp:*', requestStage: 'Request' },
];

/**
 * Where a main frame may be. Everything else (chrome:, devtools:, view-source:, file:, data:, …) is refused before the
 * navigation where Chrome lets us, and left at once where a document was committed without asking (Chromium does not
 * show chrome:, about: and data: to `Fetch`).
 */
const MAY_BE_SHOWN = /^(?:https?:|about:blank(?:$|[?#])|chrome-error:\/\/chromewebdata\/|$)/;

/** The URL level of the network policy: put on each target before it runs. */
export class Guard implements TargetGuard {
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  async guard(session: CdpSession, kind: TargetKind, tab: Tab | undefined): Promise<unknown> {
    session.on('Fetch.requestPaused', (event) => {
      this.#paused(session, event, tab).catch((error: unknown) => {
        if (!isDetached(error)) this.#options.onFault(error);
      });
    });
    if (kind === 'page' && tab) this.#watchCommitted(session, tab);
    if (kind === 'worker') return this.#options.outfit(session, kind);
    return Promise.all([
      session.send('Fetch.enable', { patterns: PATTERNS }),
      this.#options.outfit(session, kind),
    ]);
  }

  async #paused(
    session: CdpSession,
    event: Protocol.Fetch.RequestPausedEvent,
    tab: Tab | undefined,
  ): Promise<void> {
    const document = event.resourceType === 'Document';
    const main = document && event.frameId === tab?.frames.main.id;
    let allowed = false;
    try {
      const decision = await this.#options.judge({
        url: event.request.url + (event.request.urlFragment ?? ''),
        method: event.request.method,
        use: main ? 'navigation' : document ? 'subframe' : 'subresource',
        tab: tab?.id,
      });
      allowed = decision.verdict === 'allow';
    } catch (error) {
      this.#options.onFault(error);
    }
    const { requestId } = event;
    if (allowed) await session.send('Fetch.continueRequest', { requestId });
    else await session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' });
  }

  #watchCommitted(session: CdpSession, tab: Tab): void {
    session.on('Page.frameNavigated', ({ frame }) => {
      if (frame.parentId !== undefined || MAY_BE_SHOWN.test(frame.url)) return;
      const left = this.#options
        .judge({ url: frame.url, method: 'GET', use: 'navigation', tab: tab.id })
        .then(() => session.send('Page.navigate', { url: 'about:blank' }));
      left.catch((error: unknown) => {
        if (!isDetached(error)) this.#options.onFault(error);
      });
    });
  }
}
