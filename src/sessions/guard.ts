import { LRUCache } from 'lru-cache';
import type { Connection } from 'puppeteer-core/internal/cdp/Connection.js';
import { type CdpSession, isDetached, type Protocol } from '../page/cdp.ts';
import type { Tab } from '../page/tab.ts';
import { interceptPatterns } from '../policy/intercept.ts';
import type { Policy } from '../policy/policy.ts';
import type { TargetGuard, TargetKind } from './targets.ts';
import type { UrlJudge } from './url-judge.ts';

export interface GuardOptions {
  /** The browser's own session: what is intercepted there is intercepted in every target. */
  readonly connection: Connection;
  readonly judge: UrlJudge;
  /** The policy in force. */
  readonly policy: () => Policy;
  /** The tab that shows a frame. */
  readonly tabOf: (frameId: string) => Tab | undefined;
  /** Commands for a page before it runs: emulation, init scripts. Must send before they yield. */
  readonly outfit: (session: CdpSession, kind: TargetKind) => Promise<unknown>;
  /** Requests of pages of our own: their answer, or null to fail them; undefined for all others. */
  readonly answer: (
    event: Protocol.Fetch.RequestPausedEvent,
  ) => Omit<Protocol.Fetch.FulfillRequestRequest, 'requestId'> | null | undefined;
  /** A fault in answering a paused request; the request was failed. */
  readonly onFault: (error: unknown) => void;
}

/**
 * What is seen at URL level whatever the rules are: documents, so that every hop of a navigation is judged by its full
 * URL, and schemes that never reach the floor. All the rest only where a rule needs it (`interceptPatterns`).
 */
const ALWAYS: readonly Protocol.Fetch.RequestPattern[] = [
  { urlPattern: '*', resourceType: 'Document', requestStage: 'Request' },
  { urlPattern: 'file:*', requestStage: 'Request' },
  { urlPattern: 'ftp:*', requestStage: 'Request' },
];

/** Chrome's own PDF viewer (a fixed id in Chromium's source) and the parts it is built of. */
const PDF_VIEWER = 'chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai/';
const PARTS = 'chrome://resources/';

/** Where a frame is before it is anywhere, and what Chrome shows when a load failed. */
const NOWHERE = /^(?:about:blank(?:$|[?#])|chrome-error:\/\/chromewebdata\/|$)/;

/** Frames whose approved document is remembered until it is shown. */
const APPROVED_KEPT = 1000;

/**
 * The URL level of the network policy. Requests are intercepted at the browser's own session, and so for pages, frames
 * and workers of every kind at once; measured on Chromium 156, it sees more there than on each target (the script of a
 * worker that a worker starts). Three kinds pass it unseen: WebSockets, prefetches of speculation rules and uploads of
 * the Reporting API. For them, as for everything, the floor is the boundary.
 *
 * What Chrome shows without asking (about:, chrome:, a page from its history, one that a service worker made) is judged
 * when it is shown, and left at once if it may not be.
 */
export class Guard implements TargetGuard {
  readonly #options: GuardOptions;
  /** By frame: the document that was let through last. */
  readonly #approved = new LRUCache<string, string>({ max: APPROVED_KEPT });

  constructor(options: GuardOptions) {
    this.#options = options;
    options.connection.on('Fetch.requestPaused', (event) => {
      this.#paused(event).catch((error: unknown) => this.#fault(error));
    });
  }

  /**
   * Switches interception on, or to what the policy of now needs. What is sent to Chrome afterwards is judged by it. Call
   * it before Chrome is told to attach to its pages.
   */
  async refresh(): Promise<void> {
    const patterns = [...ALWAYS, ...interceptPatterns(this.#options.policy()).map(toPattern)];
    await this.#options.connection.send('Fetch.enable', { patterns });
  }

  guard(session: CdpSession, kind: TargetKind, tab: Tab | undefined): Promise<unknown> {
    if (kind !== 'worker' && tab) {
      session.on('Page.frameNavigated', ({ frame }) => {
        this.#shown(session, frame, tab).catch((error: unknown) => this.#fault(error));
      });
    }
    return this.#options.outfit(session, kind);
  }

  async #paused(event: Protocol.Fetch.RequestPausedEvent): Promise<void> {
    const { connection } = this.#options;
    const { requestId } = event;
    const answer = this.#options.answer(event);
    if (answer) await connection.send('Fetch.fulfillRequest', { requestId, ...answer });
    else if (answer !== null && (await this.#mayGo(event)))
      await connection.send('Fetch.continueRequest', { requestId });
    else await connection.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' });
  }

  async #mayGo({ request, resourceType, frameId }: Protocol.Fetch.RequestPausedEvent): Promise<boolean> {
    const { judge, tabOf, onFault } = this.#options;
    const document = resourceType === 'Document';
    if (!document && (request.url.startsWith(PDF_VIEWER) || request.url.startsWith(PARTS))) return true;
    try {
      const tab = tabOf(frameId);
      // A document of a frame that is not known yet is judged as a page: the stricter of the two.
      const inner = tab !== undefined && tab.frames.main.id !== frameId;
      const { verdict } = await judge.judge(
        {
          url: request.url,
          method: request.method,
          use: document ? (inner ? 'subframe' : 'navigation') : 'subresource',
          tab: tab?.id,
        },
        { resourceType, accept: header(request.headers, 'accept') },
      );
      if (document && verdict === 'allow') this.#approved.set(frameId, request.url);
      return verdict === 'allow';
    } catch (error) {
      onFault(error);
      return false;
    }
  }

  async #shown(session: CdpSession, frame: Protocol.Page.Frame, tab: Tab): Promise<void> {
    const inner = frame.parentId !== undefined;
    const { url } = frame;
    if (NOWHERE.test(url) || (inner && url.startsWith(PDF_VIEWER))) return;
    if (this.#approved.get(frame.id) === url) return;
    // A page may show what it made itself, anywhere: such a document is of the page's own origin.
    const use = inner || url.startsWith('blob:') ? 'subframe' : 'navigation';
    const decision = this.#options.judge.announce({ url, method: 'GET', use, tab: tab.id });
    if (decision.verdict === 'deny')
      await session.send('Page.navigate', { url: 'about:blank', frameId: frame.id });
  }

  #fault(error: unknown): void {
    // The request, or the target with it, was gone before it had its answer.
    const gone = error instanceof Error && /Invalid InterceptionId/.test(error.message);
    if (!gone && !isDetached(error)) this.#options.onFault(error);
  }
}

function toPattern(pattern: { urlPattern: string; resourceType?: string }): Protocol.Fetch.RequestPattern {
  const { urlPattern, resourceType } = pattern;
  const type =
    resourceType === undefined ? {} : { resourceType: resourceType as Protocol.Network.ResourceType };
  return { urlPattern, requestStage: 'Request', ...type };
}

function header(headers: Protocol.Network.Headers, name: string): string | undefined {
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  return found?.[1];
}
