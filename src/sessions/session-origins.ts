import { getDomain } from 'tldts';
import type { Frame } from '../page/frames.ts';
import type { Origins, VisitOrigin } from '../page/operation.ts';
import { originOf } from '../page/origin.ts';
import type { Tab } from '../page/tab.ts';
import type { Profile } from '../residual/profile.ts';
import type { OriginPages } from './origin-pages.ts';

/** Of more than these the oldest are forgotten: a page can go through any number of names. */
const MAX_ORIGINS = 1000;

/** The origins whose own storage a session may have filled. Chrome tells nobody which ones it has. */
export class SessionOrigins implements Origins {
  readonly #pages: OriginPages;
  readonly #seen = new Set<string>();
  readonly #profile: Profile | undefined;
  readonly #onFault: (error: unknown) => void;

  /** @param profile keeps the list for later sessions */
  constructor(pages: OriginPages, profile: Profile | undefined, onFault: (error: unknown) => void) {
    this.#pages = pages;
    this.#profile = profile;
    this.#onFault = onFault;
    for (const origin of profile?.origins.slice(-MAX_ORIGINS) ?? []) this.#seen.add(origin);
  }

  seen(): readonly string[] {
    return [...this.#seen];
  }

  add(origin: string): void {
    if (!this.#seen.delete(origin)) this.#profile?.noteOrigin(origin).catch(this.#onFault);
    this.#seen.add(origin);
    const [oldest] = this.#seen;
    if (this.#seen.size > MAX_ORIGINS && oldest !== undefined) this.#seen.delete(oldest);
  }

  use<T>(signal: AbortSignal, work: (visit: VisitOrigin) => Promise<T>): Promise<T> {
    return this.#pages.use(signal, work);
  }

  /** Follows the documents of a tab. */
  watch(tab: Tab): void {
    tab.frames.on('navigated', (frame) => this.#shown(frame, tab));
  }

  /** A frame of another site stores apart, under the page around it: it leaves nothing in the storage of its origin. */
  #shown(frame: Frame, tab: Tab): void {
    const origin = originOf(frame.url);
    if (origin === undefined) return;
    if (frame.parentId === undefined || siteOf(frame.url) === siteOf(tab.url)) this.add(origin);
  }
}

function siteOf(url: string): string | undefined {
  const host = URL.parse(url)?.hostname;
  if (host === undefined) return undefined;
  return getDomain(host, { allowPrivateDomains: true }) ?? host;
}
