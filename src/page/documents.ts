import { EventEmitter } from 'node:events';
import type { CdpSession, Protocol } from './cdp.ts';

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
  #latest: DocumentLoad | undefined;

  constructor(session: CdpSession, isMain: (frameId: string) => boolean) {
    super();
    this.setMaxListeners(0);
    this.#isMain = isMain;
    session.on('Network.requestWillBeSent', (event) => this.#request(event));
    session.on('Network.responseReceived', (event) => this.#response(event.requestId, event.response));
    session.on('Network.loadingFailed', (event) => this.#failed(event.requestId, event.errorText));
    session.on('Page.lifecycleEvent', (event) => this.#reached(event));
  }

  get(loaderId: string): DocumentLoad | undefined {
    return this.#loads.get(loaderId);
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
    const load = this.#load(event.loaderId, event.request.url);
    if (event.redirectResponse) {
      load.redirects.push({ url: event.redirectResponse.url, status: event.redirectResponse.status });
    }
    load.url = event.request.url;
    this.emit('progress', load);
  }

  #response(requestId: string, response: Protocol.Network.Response): void {
    const load = this.#loads.get(requestId);
    if (!load) return;
    load.url = response.url;
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
    // about:blank and the like have no request: their load begins with the first lifecycle event.
    const load = this.#load(event.loaderId, '');
    load.reached.set(event.name, event.timestamp);
    this.emit('progress', load);
  }
}
