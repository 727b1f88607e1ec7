import type { Connection } from 'puppeteer-core/internal/cdp/Connection.js';
import { type CdpSession, isDetached, type Protocol } from '../page/cdp.ts';
import type { InterceptPattern } from '../policy/intercept.ts';

/** Matches no request: what is wanted of it is only that Chrome makes the loaders of a page anew. */
const NOTHING = { patterns: [{ urlPattern: 'none:' }] };

/** Workers that outlive their pages, whose loaders nothing renews. */
const LASTING_WORKERS = [{ type: 'shared_worker' }, { type: 'service_worker' }];

/**
 * Interception of requests at the browser's own session, and so for pages, frames and workers of every kind at once;
 * measured on Chromium 156, it sees more there than on each target (the script of a worker that a worker starts).
 *
 * Chrome makes the loaders of a document with the document, and puts into them what intercepts requests at that moment:
 * those of documents that are older pass it by. Intercepting at a page makes Chrome renew the loaders of the page and its
 * dedicated workers, and the new ones have the browser's interception too. Shared and service workers are ended instead:
 * a page that still wants one starts it again.
 */
export class Interception {
  readonly #connection: Connection;
  /** The pages and out-of-process frames of now. */
  readonly #documents = new Set<CdpSession>();
  /** The shared and service workers that run; each promise resolves when its worker does not any more. */
  readonly #lasting = new Map<CdpSession, PromiseWithResolvers<void>>();
  readonly #known = new WeakSet<CdpSession>();
  #on = false;

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.on('Target.detachedFromTarget', ({ sessionId }) => this.#forget(sessionId));
  }

  /** Whether requests are intercepted. Once they are they stay so: a policy is narrowed, never widened. */
  get on(): boolean {
    return this.#on;
  }

  /**
   * Takes note of what runs, before it is let run. Workers `within` a tab have their loaders from its documents. Again
   * for a service worker that starts again.
   */
  add(session: CdpSession, kind: 'document' | 'within' | 'lasting'): void {
    if (kind === 'document') this.#documents.add(session);
    if (kind === 'lasting') this.#lasting.set(session, Promise.withResolvers());
    if (this.#known.has(session)) return;
    this.#known.add(session);
    session.on('Target.detachedFromTarget', ({ sessionId }) => this.#forget(sessionId));
    // So Chrome tells that a service worker was stopped: the session stays for when it starts again.
    session.on('Inspector.targetCrashed', () => this.#ended(session));
  }

  /** Intercepts what matches from now on; when this resolves, nothing that runs passes it by. */
  async set(patterns: readonly InterceptPattern[]): Promise<void> {
    if (patterns.length === 0 && !this.#on) return;
    await this.#connection.send('Fetch.enable', { patterns: patterns.map(toPattern) });
    if (this.#on) return;
    this.#on = true;
    // What Chrome attached to before its answer is known by now; what comes later has new loaders.
    await Promise.all([this.#endLastingWorkers(), ...[...this.#documents].map(renewLoaders)]);
  }

  async #endLastingWorkers(): Promise<void> {
    const ended = [...this.#lasting.values()].map(({ promise }) => promise);
    const { targetInfos } = await this.#connection.send('Target.getTargets', { filter: LASTING_WORKERS });
    const closed = targetInfos.map(({ targetId }) =>
      this.#connection.send('Target.closeTarget', { targetId }).catch(unlessGone),
    );
    await Promise.all([...closed, ...ended]);
  }

  #forget(sessionId: string): void {
    for (const session of this.#documents) if (session.id() === sessionId) this.#documents.delete(session);
    for (const session of this.#lasting.keys()) if (session.id() === sessionId) this.#ended(session);
  }

  #ended(session: CdpSession): void {
    this.#lasting.get(session)?.resolve();
    this.#lasting.delete(session);
  }
}

async function renewLoaders(session: CdpSession): Promise<void> {
  try {
    await session.send('Fetch.enable', NOTHING);
    await session.send('Fetch.disable');
  } catch (error) {
    // What is gone has no loaders.
    if (!isDetached(error)) throw error;
  }
}

function unlessGone(error: unknown): void {
  const gone = isDetached(error) || (error instanceof Error && /No target with given id/.test(error.message));
  if (!gone) throw error;
}

function toPattern({ urlPattern, resourceType }: InterceptPattern): Protocol.Fetch.RequestPattern {
  const type =
    resourceType === undefined ? {} : { resourceType: resourceType as Protocol.Network.ResourceType };
  return { urlPattern, requestStage: 'Request', ...type };
}
