import type { Connection } from 'puppeteer-core/internal/cdp/Connection.js';
import type { DownloadView } from '../page/operation.ts';

export interface Download extends DownloadView {
  readonly startedAt: number;
  readonly receivedBytes: number;
  readonly totalBytes: number;
}

/** What a session may remember of its downloads. */
const KEPT = 200;

/**
 * Follows the downloads of one Chrome. They are denied: nothing that a page offers is written to disk. Told so, both
 * engines behave alike (by themselves full Chrome saves into `$HOME/Downloads` and headless-shell does not).
 */
export class Downloads {
  readonly #connection: Connection;
  readonly #directory: string;
  readonly #downloads = new Map<string, Download>();
  readonly #listeners = new Set<(download: Download) => void>();

  constructor(connection: Connection, directory: string) {
    this.#connection = connection;
    this.#directory = directory;
    connection.on('Browser.downloadWillBegin', (event) => {
      this.#put({
        id: event.guid,
        url: event.url,
        suggestedName: event.suggestedFilename,
        state: 'inProgress',
        startedAt: Date.now(),
        receivedBytes: 0,
        totalBytes: 0,
      });
      const oldest = this.#downloads.keys().next().value;
      if (this.#downloads.size > KEPT && oldest !== undefined) this.#downloads.delete(oldest);
    });
    connection.on('Browser.downloadProgress', (event) => {
      const download = this.#downloads.get(event.guid);
      if (!download) return;
      const state = event.state === 'canceled' ? 'denied' : event.state;
      this.#put({
        ...download,
        state,
        receivedBytes: event.receivedBytes,
        totalBytes: event.totalBytes,
      });
    });
  }

  /** Calls `listener` for each download that begins or changes its state. */
  onChange(listener: (download: Download) => void): void {
    this.#listeners.add(listener);
  }

  #put(download: Download): void {
    const before = this.#downloads.get(download.id);
    this.#downloads.set(download.id, download);
    if (before?.state === download.state) return;
    for (const listener of this.#listeners) listener(download);
  }

  async start(): Promise<void> {
    await this.#connection.send('Browser.setDownloadBehavior', {
      behavior: 'deny',
      downloadPath: this.#directory,
      eventsEnabled: true,
    });
  }

  /** Downloads that began at or after `time` (`Date.now()` milliseconds), oldest first. */
  since(time: number): Download[] {
    return [...this.#downloads.values()].filter((download) => download.startedAt >= time);
  }
}
