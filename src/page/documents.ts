import { EventEmitter } from 'node:events';
import type { CdpSession, Protocol } from './cdp.ts';
import { withoutUser } from './shown-url.ts';

export interface Redirect {
  readonly url: string;
  readonly status: number;
}

/** What is known of one main-frame document, by its loader id. */
export interface DocumentLoad {
  readonly loaderId: string;
  url: string;
  /** HTTP status of the final response; `undefined` until it came (a 401 or an empty 404 has one although it fails). */
  status: number | undefined;
  mimeType: string | undefined;
  redirects: Redirect[];
  timing: Protocol.Network.ResourceTiming | undefined;
  /** `net::ERR_…` when the load failed. */
  error: string | undefined;
  /** Chrome's lifecycle events so far: `commit`, `DOMContentLoaded`, `load`, `networkIdle`. */
  readonly reached: Map<string, number>;
}

interface DocumentsEvents {
  /** Something of this load changed. */
  progress: [DocumentLoad];
}

const KEPT = 30;

/** Follows the loads of a tab's main frame. A loader id is the request id of its document request (Chromium). */
export class Documents extends EventEmitter<DocumentsEvents> {
  readonly #loads = new Map<string, DocumentLoad>();

  readonly #isMain: (frameId: string) => boolean;
  #begun = 0;
  #loading = false;
  #latest: DocumentLoad | undefined;

  constructor(session: CdpSession, isMain: (frameId: string) => boolean) {
    super();
    this.setMaxListeners(0);
    this.#isMain = isMain;
    session.on('Network.requestWillBeSent', (event) => this.#request(event));
    session.on('Network.responseReceived', (event) => this.#response(event.requestId, event.response));
    session.on('Network.loadingFailed', (event) => this.#failed(event.requestId, event.errorText));
    session.on('Page.lifecycleEvent', (event) => this.#reached(event));
    session.on('Page.frameStartedLoading', (event) => this.#setLoading(event.frameId, true));
    session.on('Page.frameStoppedLoading', (event) => this.#setLoading(event.frameId, false));
  }

  get(loaderId: string): DocumentLoad | undefined {
    return this.#loads.get(loaderId);
  }

  /** The main frame is loading: a document or something of it is still to come. */
  get loading(): boolean {
    return this.#loading;
  }

  /** The load with this id and all that began after it, oldest first; empty when it is not known (any more). */
  from(loaderId: string): DocumentLoad[] {
    const all = [...this.#loads.values()];
    const at = all.findIndex((load) => load.loaderId === loaderId);
    return at < 0 ? [] : all.slice(at);
  }

  /** The newest load, committed or not. */
  get latest(): DocumentLoad | undefined {
    return this.#latest;
  }

  /** How many loads have begun so far; compare two readings to learn whether an action started one. */
  get begun(): number {
    return this.#begun;
  }

  #load(loaderId: string, url: string): DocumentLoad {
    const known = this.#loads.get(loaderId);
    if (known) return known;
    const load: DocumentLoad = {
      loaderId,
      url,
      status: undefined,
      mimeType: undefined,
      redirects: [],
      timing: undefined,
      error: undefined,
      reached: new Map(),
    };
    this.#begun += 1;
    this.#latest = load;
    this.#loads.set(loaderId, load);
    if (this.#loads.size > KEPT) {
      const oldest = this.#loads.keys().next().value;
      if (oldest !== undefined) this.#loads.delete(oldest);
    }
    return load;
  }

  #request(event: Protocol.Network.RequestWillBeSentEvent): void {
    if (event.type !== 'Document' || event.requestId !== event.loaderId) return;
    if (event.frameId === undefined || !this.#isMain(event.frameId)) return;
    const load = this.#load(event.loaderId, withoutUser(event.request.url));
    if (event.redirectResponse) {
      const { url, status } = event.redirectResponse;
      load.redirects.push({ url: withoutUser(url), status });
    }
    load.url = withoutUser(event.request.url);
    this.emit('progress', load);
  }

  #response(requestId: string, response: Protocol.Network.Response): void {
    const load = this.#loads.get(requestId);
    if (!load) return;
    load.url = withoutUser(response.url);
    load.status = response.status;
    load.mimeType = response.mimeType;
    load.timing = response.timing;
    this.emit('progress', load);
  }

  #failed(requestId: string, error: string): void {
    const load = this.#loads.get(requestId);
    if (!load) return;
    load.error = error;
    this.emit('progress', load);
  }

  #reached(event: Protocol.Page.LifecycleEventEvent): void {
    if (event.loaderId === '' || !this.#isMain(event.frameId)) return;
    // about:blank and the like have no request: their load begins with the first lifecycle event. A late event
    // of a document that is not known (any more) must not pass for a new load.
    const begins = event.name === 'init' || event.name === 'commit';
    const load = begins ? this.#load(event.loaderId, '') : this.#loads.get(event.loaderId);
    if (!load) return;
    load.reached.set(event.name, event.timestamp);
    this.emit('progress', load);
  }

  #setLoading(frameId: string, loading: boolean): void {
    if (!this.#isMain(frameId)) return;
    this.#loading = loading;
    if (this.#latest) this.emit('progress', this.#latest);
  }
}
