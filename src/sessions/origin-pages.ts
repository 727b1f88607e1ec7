import { randomBytes } from 'node:crypto';
import type { Connection } from 'puppeteer-core/internal/cdp/Connection.js';
import { AirlockError } from '../errors.ts';
import { type CdpSession, isDetached, type Protocol } from '../page/cdp.ts';
import type { VisitOrigin } from '../page/operation.ts';

/** Nothing loads, runs or is asked for: the icon too is told to be none. */
const DOCUMENT = Buffer.from('<!doctype html><link rel="icon" href="data:,"><title></title>-').toString(
  'base64',
);

/** Status 404 keeps a visit out of the history of a profile; the document is of its origin all the same. */
const ANSWER = {
  responseCode: 404,
  responseHeaders: [
    { name: 'Content-Type', value: 'text/html' },
    { name: 'Content-Security-Policy', value: "default-src 'none'; img-src data:" },
    { name: 'Cache-Control', value: 'no-store' },
  ],
  body: DOCUMENT,
};

interface OriginPage {
  readonly targetId: string;
  readonly session: CdpSession;
}

/**
 * Pages of our own that show an empty document of any origin, for what the origin has stored. Their one request is
 * answered here, where it is intercepted: no byte goes to the network, so the network policy has nothing to say. They are
 * no tabs, and nobody sees them.
 */
export class OriginPages {
  readonly #connection: Connection;
  /** The answer of Chrome that names the page which is being made. */
  #making: Promise<{ targetId: string }> | undefined;
  readonly #sessions = new Map<string, PromiseWithResolvers<CdpSession>>();
  /** By frame: the only URL that is answered in it. */
  readonly #urls = new Map<string, string>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Whether a new target is such a page; takes it over if so. Held by Chrome meanwhile, like every new target. */
  takes(info: Protocol.Target.TargetInfo, session: CdpSession): Promise<boolean> | false {
    if (this.#making === undefined || info.openerId !== undefined) return false;
    // Chrome attaches to a new page before it says which one it has made.
    return this.#making.then(
      ({ targetId }) => {
        if (targetId !== info.targetId) return false;
        this.#sessionOf(targetId).resolve(session);
        return true;
      },
      () => false,
    );
  }

  /** Runs `work`; the page is made at its first visit, and gone when this settles. One at a time. */
  use<T>(signal: AbortSignal, work: (visit: VisitOrigin) => Promise<T>): Promise<T> {
    const turn = this.#turn.then(() => this.#use(signal, work));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #use<T>(signal: AbortSignal, work: (visit: VisitOrigin) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const ended = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    ended.catch(() => undefined); // it may reject while nothing waits on it
    let page: Promise<OriginPage> | undefined;
    const visit: VisitOrigin = async (origin) => {
      page ??= this.#open();
      const { targetId, session } = await page;
      await this.#show(targetId, session, origin);
      return session;
    };
    try {
      return await Promise.race([work(visit), ended]);
    } finally {
      if (page) await Promise.race([this.#close(page), ended.catch(() => undefined)]);
    }
  }

  async #open(): Promise<OriginPage> {
    this.#making = this.#connection.send('Target.createTarget', {
      url: 'about:blank',
      background: true,
      hidden: true, // full Chrome puts it in no window
    });
    try {
      const { targetId } = await this.#making;
      const session = await this.#sessionOf(targetId).promise;
      this.#urls.set(targetId, '');
      session.on('Fetch.requestPaused', (event) => this.#paused(session, event));
      // In the order of the pipe. A service worker would answer in our place, with code of its own.
      await Promise.all([
        session.send('Page.enable'),
        session.send('Network.enable'),
        session.send('Network.setBypassServiceWorker', { bypass: true }),
        session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] }),
        session.send('Runtime.runIfWaitingForDebugger'),
      ]);
      return { targetId, session };
    } finally {
      this.#making = undefined;
    }
  }

  /** Answers the one request that the page has reason to make; this is before the browser's own interception. */
  #paused(session: CdpSession, { requestId, frameId, request }: Protocol.Fetch.RequestPausedEvent): void {
    const own = this.#urls.get(frameId) === request.url && request.method === 'GET';
    const answered = own
      ? session.send('Fetch.fulfillRequest', { requestId, ...ANSWER })
      : session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' });
    // Gone with the page, which its user sees by itself.
    answered.catch(() => undefined);
  }

  async #show(targetId: string, session: CdpSession, origin: string): Promise<void> {
    const url = `${origin}/${randomBytes(12).toString('hex')}`;
    this.#urls.set(targetId, url);
    const { errorText } = await session.send('Page.navigate', { url });
    if (errorText === undefined) return;
    throw new AirlockError('storage_rejected', `Chrome shows no document of ${origin}: ${errorText}`, {
      extra: { origin },
    });
  }

  /** Resolves when the page is gone, or Chrome is. */
  async #close(opening: Promise<OriginPage>): Promise<void> {
    const connection = this.#connection;
    let onDetached: ((event: Protocol.Target.DetachedFromTargetEvent) => void) | undefined;
    try {
      const { targetId, session } = await opening;
      const gone = new Promise<void>((resolve) => {
        onDetached = ({ sessionId }) => {
          if (sessionId === session.id()) resolve();
        };
        connection.on('Target.detachedFromTarget', onDetached);
      });
      await connection.send('Target.closeTarget', { targetId });
      await gone;
      this.#urls.delete(targetId);
      this.#sessions.delete(targetId);
    } catch (error) {
      if (!isDetached(error)) throw error;
    } finally {
      if (onDetached) connection.off('Target.detachedFromTarget', onDetached);
    }
  }

  #sessionOf(targetId: string): PromiseWithResolvers<CdpSession> {
    let found = this.#sessions.get(targetId);
    if (!found) {
      found = Promise.withResolvers<CdpSession>();
      this.#sessions.set(targetId, found);
    }
    return found;
  }
}
