import { LRUCache } from 'lru-cache';
import type { Connection } from 'puppeteer-core/internal/cdp/Connection.js';
import { type CdpSession, isDetached, type Protocol } from '../page/cdp.ts';
import { withoutUser } from '../page/shown-url.ts';
import type { Tab } from '../page/tab.ts';
import type { Decision } from '../policy/decision.ts';
import { interceptPatterns } from '../policy/intercept.ts';
import type { Policy } from '../policy/policy.ts';
import { Interception, type Standstill } from './interception.ts';
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
  readonly standstill: Standstill;
  /** Commands for a page before it runs: emulation, init scripts. Must send before they yield. */
  readonly outfit: (session: CdpSession, kind: TargetKind) => Promise<unknown>;
  /** A fault in answering a paused request; the request was failed. */
  readonly onFault: (error: unknown) => void;
}

/** Chrome's own PDF viewer (a fixed id in Chromium's source) and the parts it is built of. */
const PDF_VIEWER = 'chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai/';
const PARTS = 'chrome://resources/';

/** Where a frame is before it is anywhere, and what Chrome shows when a load failed. */
const NOWHERE = /^(?:about:blank(?:$|[?#])|chrome-error:\/\/chromewebdata\/|$)/;

/** Frames whose approved document is remembered until it is shown. */
const APPROVED_KEPT = 1000;

/** What Chrome asks somebody else for, the network or a disk. It makes the rest itself, which is judged when it is shown. */
const ASKED_FOR = /^(?:https?|wss?|file|ftp):/i;

/**
 * The URL level of the network policy. Each hop of a navigation is judged by its full URL. Where the policy can tell URLs of
 * one host apart (`requiresInterception`), requests are held until they are judged; three kinds pass that unseen:
 * WebSockets, prefetches of speculation rules and uploads of the Reporting API. Elsewhere the hops are judged as Chrome
 * tells of them, beside the floor, which decides the same of each before it is sent. For all of them the floor is the
 * boundary.
 *
 * What Chrome shows without asking (about:, chrome:, a page that a service worker made) is judged when it is shown, and
 * left at once if it may not be.
 */
export class Guard implements TargetGuard {
  readonly #options: GuardOptions;
  readonly #interception: Interception;
  /** Loads of documents that were held, by loader id. */
  readonly #held = new LRUCache<string, true>({ max: APPROVED_KEPT });
  /** By frame: the document that was let through last. */
  readonly #approved = new LRUCache<string, string>({ max: APPROVED_KEPT });

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#interception = new Interception(options.connection, options.standstill);
    options.connection.on('Fetch.requestPaused', (event) => {
      this.#paused(event).catch((error: unknown) => this.#fault(error));
    });
  }

  /**
   * Intercepts what the policy of now needs; when it resolves, everything that runs is judged by it.
   * @param live the caller has used the session already
   * @returns how many connections were cut for it
   */
  async refresh(live: boolean): Promise<number> {
    // It was let through by other rules.
    this.#approved.clear();
    return this.#interception.set(interceptPatterns(this.#options.policy()), live);
  }

  guard(session: CdpSession, kind: TargetKind, tab: Tab | undefined): Promise<unknown> {
    this.#interception.add(
      session,
      kind !== 'worker' ? 'document' : tab === undefined ? 'lasting' : 'within',
      kind === 'page' && tab?.opener !== undefined ? tab.targetId : undefined,
    );
    if (kind !== 'worker' && tab) {
      session.on('Network.requestWillBeSent', (event) => {
        this.#asked(session, event, tab).catch((error: unknown) => this.#fault(error));
      });
      session.on('Page.frameNavigated', ({ frame }) => {
        this.#shown(session, frame, tab).catch((error: unknown) => this.#fault(error));
      });
    }
    return this.#options.outfit(session, kind);
  }

  running(session: CdpSession): Promise<void> {
    return this.#interception.running(session);
  }

  async #paused(event: Protocol.Fetch.RequestPausedEvent): Promise<void> {
    const { connection } = this.#options;
    const { requestId } = event;
    if (await this.#mayGo(event)) await connection.send('Fetch.continueRequest', { requestId });
    else await connection.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' });
  }

  async #mayGo({
    request,
    networkId,
    resourceType,
    frameId,
  }: Protocol.Fetch.RequestPausedEvent): Promise<boolean> {
    const { judge, tabOf, onFault } = this.#options;
    const document = resourceType === 'Document';
    if (document && networkId !== undefined) this.#held.set(networkId, true);
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

  /** A hop that is not held. The floor refuses what the rules do; what it cannot see is stopped here. */
  async #asked(
    session: CdpSession,
    { type, frameId, request: { url, method } }: Protocol.Network.RequestWillBeSentEvent,
    tab: Tab,
  ): Promise<void> {
    if (this.#interception.on || type !== 'Document' || frameId === undefined || !ASKED_FOR.test(url)) return;
    const use = tab.frames.main.id === frameId ? 'navigation' : 'subframe';
    const decision = this.#options.judge.witness({ url, method, use, tab: tab.id });
    if (decision.verdict === 'allow') this.#approved.set(frameId, url);
    if (decision.verdict === 'allow' || this.#options.judge.endsAtFloor(url)) return;
    if (use === 'navigation') refuse(tab, url, decision);
    await session.send('Page.stopLoading');
  }

  async #shown(session: CdpSession, frame: Protocol.Page.Frame, tab: Tab): Promise<void> {
    const held = !this.#interception.on || this.#held.has(frame.loaderId);
    await Promise.all([
      held ? undefined : this.#interception.renewLate(session),
      this.#judgeShown(session, frame, tab),
    ]);
  }

  async #judgeShown(session: CdpSession, frame: Protocol.Page.Frame, tab: Tab): Promise<void> {
    const inner = frame.parentId !== undefined;
    const { url } = frame;
    if (NOWHERE.test(url) || (inner && url.startsWith(PDF_VIEWER))) return;
    if (this.#approved.get(frame.id) === url) return;
    // A page may show what it made itself, anywhere: such a document is of the page's own origin.
    const use = inner || url.startsWith('blob:') ? 'subframe' : 'navigation';
    const decision = this.#options.judge.announce({ url, method: 'GET', use, tab: tab.id });
    if (decision.verdict === 'allow') return;
    if (!inner) refuse(tab, url, decision);
    await session.send('Page.navigate', { url: 'about:blank', frameId: frame.id });
  }

  #fault(error: unknown): void {
    // The request, or the target with it, was gone before it had its answer.
    const gone =
      error instanceof Error && /Invalid InterceptionId|connection to Chrome has ended/.test(error.message);
    if (!gone && !isDetached(error)) this.#options.onFault(error);
  }
}

function header(headers: Protocol.Network.Headers, name: string): string | undefined {
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  return found?.[1];
}

function refuse(tab: Tab, url: string, decision: Decision): void {
  tab.refusedLoad = { url, at: Date.now(), decision: { ...decision, target: withoutUser(url) } };
}
