import type { Connection } from 'puppeteer-core/internal/cdp/Connection.js';
import { type CdpSession, isDetached, type Protocol } from '../page/cdp.ts';
import { timeBox } from '../page/time-box.ts';
import type { InterceptPattern } from '../policy/intercept.ts';

/** Matches no request: what is wanted of it is only that Chrome makes the loaders of a page anew. */
const NOTHING = { patterns: [{ urlPattern: 'none:' }] };

/** Workers that outlive their pages, whose loaders nothing renews. */
const LASTING_WORKERS = [{ type: 'shared_worker' }, { type: 'service_worker' }];

/** How long workers may take to end, in milliseconds: one that is being started may never say that it has. */
const WORKERS_MS = 1000;

/** How often the loaders of a live session are renewed; between two, every page has answered and its traffic has failed. */
const PASSES = 3;
/** For a page that never stops making documents: each of them is dealt with by itself too. */
const MAX_PASSES = 10;

/** How long pages that are being opened are waited for, in milliseconds; each is dealt with again when it runs. */
const PREPARED_MS = 5000;

interface Preparing extends PromiseWithResolvers<void> {
  /** The target, where a page opened it. */
  readonly popup: string | undefined;
  /** It opened in the moment of the change. */
  doomed: boolean;
}

/** What a change of a live session stands still for. */
export interface Standstill {
  /** Cuts off all traffic of the session, and says how many connections that were. */
  begin(): number;
  /** Resolves when what was under way has failed, and every page has answered. */
  settled(): Promise<unknown>;
  end(): void;
}

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
  readonly #standstill: Standstill;
  /** The pages and out-of-process frames of now. */
  readonly #documents = new Set<CdpSession>();
  /** Those whose loaders may be older than the interception. */
  readonly #stale = new Set<CdpSession>();
  /** The shared and service workers that run; each promise resolves when its worker does not any more. */
  readonly #lasting = new Map<CdpSession, PromiseWithResolvers<void>>();
  readonly #known = new WeakSet<CdpSession>();
  /** Pages and frames that are not let run yet: Chrome renews nothing of a document that was never shown. */
  readonly #preparing = new Map<CdpSession, Preparing>();
  #on = false;
  /** It was switched on under documents of the caller's: one that is shown without having been held may be older. */
  #late = false;
  #switching: Promise<number> | undefined;

  constructor(connection: Connection, standstill: Standstill) {
    this.#connection = connection;
    this.#standstill = standstill;
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
  add(session: CdpSession, kind: 'document' | 'within' | 'lasting', popup?: string): void {
    if (kind === 'document') {
      this.#documents.add(session);
      const doomed = this.#switching !== undefined;
      this.#preparing.set(session, { ...Promise.withResolvers<void>(), popup, doomed });
    }
    if (kind === 'lasting') this.#lasting.set(session, Promise.withResolvers());
    if (!this.#known.has(session)) {
      this.#known.add(session);
      session.on('Target.detachedFromTarget', ({ sessionId }) => this.#forget(sessionId));
      // So Chrome tells that a service worker was stopped: the session stays for when it starts again.
      session.on('Inspector.targetCrashed', () => this.#ended(session));
    }
  }

  /** A page or frame has been let run. A popup begins with the loaders of the page that opened it. */
  async running(session: CdpSession): Promise<void> {
    const { popup, doomed } = this.#preparing.get(session) ?? {};
    // Not before it has been let run: the pause of a popup is one of its opener's too, and would never end.
    if (doomed && popup !== undefined) this.#close(popup);
    this.#prepared(session);
    await this.renewLate(session);
  }

  /** A document has come that was not held: where others were there before the interception, it may be of before too. */
  async renewLate(session: CdpSession): Promise<void> {
    if (!this.#late) return;
    if (this.#switching) this.#stale.add(session);
    await renewLoaders(session);
  }

  /**
   * Intercepts what matches from now on; when this resolves, nothing that runs passes it by. Should it reject, all traffic
   * of a live session stays cut off until another call has done it.
   * @param live the caller has used the session already
   * @returns how many connections were cut for it
   */
  async set(patterns: readonly InterceptPattern[], live: boolean): Promise<number> {
    if (patterns.length === 0 && !this.#on) return 0;
    if (this.#on && this.#switching === undefined) {
      await this.#enable(patterns);
      return 0;
    }
    // Two at once: the later has the patterns that count, and both wait for the switch.
    const before = this.#switching?.catch(() => undefined);
    const switching = (before ?? Promise.resolve()).then(() => this.#switch(patterns, live));
    this.#switching = switching;
    const cut = await switching;
    if (this.#switching === switching) this.#switching = undefined;
    return cut;
  }

  async #switch(patterns: readonly InterceptPattern[], live: boolean): Promise<number> {
    const cut = live ? this.#standstill.begin() : 0;
    this.#late ||= live;
    await this.#enable(patterns);
    this.#on = true;
    for (const one of this.#preparing.values()) one.doomed = true;
    await this.#endLastingWorkers();
    // More than once: of a document that is just being made Chrome renews nothing, and says nothing about it.
    const passes = live ? PASSES : 1;
    for (let pass = 1; pass <= passes || (this.#stale.size > 0 && pass <= MAX_PASSES); pass++) {
      await timeBox(Promise.all([...this.#preparing.values()].map(({ promise }) => promise)), PREPARED_MS);
      this.#stale.clear();
      await Promise.all([...this.#documents].map(renewLoaders));
      if (live) await this.#standstill.settled();
    }
    if (live) this.#standstill.end();
    return cut;
  }

  async #enable(patterns: readonly InterceptPattern[]): Promise<void> {
    await this.#connection.send('Fetch.enable', { patterns: patterns.map(toPattern) });
  }

  /** Twice where one does not say that it has ended: it may have been about to start. */
  async #endLastingWorkers(): Promise<void> {
    for (let pass = 1; pass <= 2; pass++) {
      const ended = Promise.all([...this.#lasting.values()].map(({ promise }) => promise));
      const { targetInfos } = await this.#connection.send('Target.getTargets', { filter: LASTING_WORKERS });
      await Promise.all(
        targetInfos.map(({ targetId }) =>
          this.#connection.send('Target.closeTarget', { targetId }).catch(unlessGone),
        ),
      );
      if ((await timeBox(ended, WORKERS_MS)) !== undefined) return;
    }
  }

  #forget(sessionId: string): void {
    for (const session of this.#documents) {
      if (session.id() !== sessionId) continue;
      this.#prepared(session);
      this.#documents.delete(session);
      this.#stale.delete(session);
    }
    for (const session of this.#lasting.keys()) if (session.id() === sessionId) this.#ended(session);
  }

  /**
   * A popup has the loaders that its opener has in its own process, which may be the old ones still, and nothing renews those
   * of a document that is only just being made: one that opens in the moment of the change is closed.
   */
  #close(targetId: string): void {
    this.#connection.send('Target.closeTarget', { targetId }).catch(() => undefined);
  }

  #prepared(session: CdpSession): void {
    this.#preparing.get(session)?.resolve();
    this.#preparing.delete(session);
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
  const gone =
    isDetached(error) || (error instanceof Error && /No target (?:with given id|found)/.test(error.message));
  if (!gone) throw error;
}

function toPattern({ urlPattern, resourceType }: InterceptPattern): Protocol.Fetch.RequestPattern {
  const type =
    resourceType === undefined ? {} : { resourceType: resourceType as Protocol.Network.ResourceType };
  return { urlPattern, requestStage: 'Request', ...type };
}
