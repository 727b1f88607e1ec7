import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Connection } from 'puppeteer-core/internal/cdp/Connection.js';
import { messageOf } from '../errors.ts';
import { toFileName } from '../page/file-name.ts';
import type { DownloadView } from '../page/operation.ts';
import type { Tab } from '../page/tab.ts';
import { overQuota, type SessionFiles } from './files.ts';

export interface Download extends DownloadView {
  readonly startedAt: number;
  readonly receivedBytes: number;
  /** 0 while it is not known. */
  readonly totalBytes: number;
  /** Under which it is one of the session's files; once it is whole. */
  readonly name?: string;
  /** Why it came to nothing, where the page is not the reason. */
  readonly error?: string;
}

export type DownloadMode = 'deny' | 'allow';

export interface DownloadsOptions {
  readonly connection: Connection;
  /** Where Chrome writes, each under an id of its own. */
  readonly incoming: string;
  readonly files: SessionFiles;
  /** Bytes that the session may still store. */
  readonly room: () => Promise<number>;
  readonly onFault: (error: unknown) => void;
}

/** What a session may remember of its downloads. */
const KEPT = 200;

/** Of a URL or a name: a `data:` URL is the file itself. */
const TEXT_LIMIT = 2048;

function shortened(text: string): string {
  return text.length > TEXT_LIMIT ? `${text.slice(0, TEXT_LIMIT)}…` : text;
}

/**
 * Follows the downloads of one Chrome. Unless they are allowed, nothing that a page offers is written to disk. Told so,
 * both engines behave alike (by themselves full Chrome saves into `$HOME/Downloads` and headless-shell does not).
 */
export class Downloads {
  readonly #options: DownloadsOptions;
  readonly #downloads = new Map<string, Download>();
  /** By id: what the session may still store, as it was when the download began. */
  readonly #rooms = new Map<string, number>();
  /** By URL: the media type that a tab was answered with last. */
  readonly #mimes = new LRUCache<string, string>({ max: KEPT });
  readonly #listeners = new Set<(download: Download) => void>();
  #mode: DownloadMode = 'deny';

  constructor(options: DownloadsOptions) {
    this.#options = options;
    const { connection } = options;
    connection.on('Browser.downloadWillBegin', (event) => {
      this.#put({
        id: event.guid,
        url: shortened(event.url),
        suggestedName: shortened(event.suggestedFilename),
        state: 'inProgress',
        startedAt: Date.now(),
        receivedBytes: 0,
        totalBytes: 0,
      });
      const oldest = this.#downloads.keys().next().value;
      if (this.#downloads.size > KEPT && oldest !== undefined) this.#downloads.delete(oldest);
      if (this.#mode === 'allow') this.#measure(event.guid).catch(options.onFault);
    });
    connection.on('Browser.downloadProgress', (event) => {
      const known = this.#downloads.get(event.guid);
      // Ended by us a moment too late: nobody is told of it as a file.
      if (known?.state !== 'inProgress' && event.state === 'completed') void this.#discard(event.guid);
      if (known?.state !== 'inProgress') return;
      const { receivedBytes, totalBytes } = event;
      const download = { ...known, receivedBytes, totalBytes };
      switch (event.state) {
        case 'inProgress':
          this.#put(download);
          this.#limit(download);
          return;
        case 'canceled':
          this.#put({ ...download, state: this.#mode === 'deny' ? 'denied' : 'canceled' });
          return;
        case 'completed':
          void this.#keep(download);
      }
    });
  }

  /** Calls `listener` for each download that begins or changes its state. */
  onChange(listener: (download: Download) => void): void {
    this.#listeners.add(listener);
  }

  /** Notes what the documents of a tab are answered with: Chrome tells no media type of a download. */
  watch(tab: Tab): void {
    tab.session.on('Network.responseReceived', ({ response, type }) => {
      if (type === 'Document' && response.mimeType !== '') this.#mimes.set(response.url, response.mimeType);
    });
  }

  /** The media type of a download, where its answer was seen. */
  mimeOf({ url }: Download): string | undefined {
    return /^data:([\w.+-]+\/[\w.+-]+)/.exec(url)?.[1] ?? this.#mimes.get(url);
  }

  /** All that are remembered, oldest first. */
  list(): Download[] {
    return [...this.#downloads.values()];
  }

  /** Downloads that began at or after `time` (`Date.now()` milliseconds), oldest first. */
  since(time: number): Download[] {
    return this.list().filter((download) => download.startedAt >= time);
  }

  /** From now on downloads are denied, or kept. */
  async setMode(mode: DownloadMode): Promise<void> {
    this.#mode = mode;
    await this.#options.connection.send('Browser.setDownloadBehavior', {
      // Under a name of its own each: what a page suggests never meets a path of Chrome's making.
      behavior: mode === 'allow' ? 'allowAndName' : 'deny',
      downloadPath: this.#options.incoming,
      eventsEnabled: true,
    });
  }

  #put(download: Download): void {
    const before = this.#downloads.get(download.id);
    this.#downloads.set(download.id, download);
    if (before?.state === download.state) return;
    for (const listener of this.#listeners) listener(download);
  }

  async #measure(id: string): Promise<void> {
    this.#rooms.set(id, await this.#options.room());
    const download = this.#downloads.get(id);
    if (download?.state === 'inProgress') this.#limit(download);
  }

  /** Ends a download that would not fit, before the session has to end for it. */
  #limit(download: Download): void {
    const room = this.#rooms.get(download.id);
    if (room === undefined || Math.max(download.receivedBytes, download.totalBytes) <= room) return;
    this.#put({ ...download, state: 'canceled', error: overQuota(room).message });
    this.#options.connection
      .send('Browser.cancelDownload', { guid: download.id })
      .catch(() => this.#discard(download.id)); // it has ended already
  }

  /** Makes a whole download one of the session's files; only then is it told as whole. */
  async #keep(download: Download): Promise<void> {
    const { incoming, files, room } = this.#options;
    try {
      // A small one is whole before anybody could have measured. It lies there already, and has to fit all the same.
      const left = await room();
      if (left < 0) throw overQuota(left);
      const { name } = await files.adopt(join(incoming, download.id), toFileName(download.suggestedName));
      this.#put({ ...download, state: 'completed', name });
    } catch (error) {
      await this.#discard(download.id);
      this.#put({ ...download, state: 'canceled', error: messageOf(error) });
    } finally {
      this.#rooms.delete(download.id);
    }
  }

  async #discard(id: string): Promise<void> {
    await unlink(join(this.#options.incoming, id)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') this.#options.onFault(error);
    });
  }
}
