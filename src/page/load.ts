import Type, { type Static } from 'typebox';
import { AirlockError } from '../errors.ts';
import type { DocumentLoad } from './documents.ts';
import { browserView } from './history-entry.ts';
import { loadError, refusal, standsForStatus } from './net-error.ts';
import type { Operation } from './operation.ts';
import { DialogSchema, DownloadSchema, UNTRUSTED } from './schema.ts';
import { timeBox } from './time-box.ts';
import { evaluateValue, isolatedWorld } from './world.ts';

export const WaitUntil = Type.Union(
  [
    Type.Literal('commit'),
    Type.Literal('domcontentloaded'),
    Type.Literal('load'),
    Type.Literal('networkidle'),
  ],
  { description: 'networkidle: no request for 500 ms, as Chrome reports it.' },
);
export type WaitUntil = Static<typeof WaitUntil>;

export const LoadResult = Type.Object({
  tab: Type.String(),
  url: Type.String({ ...UNTRUSTED, description: 'Where the main frame is.' }),
  status: Type.Union([Type.Integer(), Type.Null()], {
    description: 'HTTP status of the document; null for one without a request, such as about:blank.',
  }),
  title: Type.String(UNTRUSTED),
  redirects: Type.Array(
    Type.Object({
      url: Type.String(UNTRUSTED),
      status: Type.Integer(),
      by: Type.Union([Type.Literal('http'), Type.Literal('page')], {
        description: 'page: the document was loaded, and its script or a meta tag went on.',
      }),
    }),
    { description: 'Every address that led to the next one, oldest first.' },
  ),
  timings: Type.Object(
    {
      totalMs: Type.Number({ description: 'From the start of the operation.' }),
      dnsMs: Type.Optional(Type.Number()),
      connectMs: Type.Optional(Type.Number()),
      tlsMs: Type.Optional(Type.Number()),
      responseMs: Type.Optional(Type.Number({ description: 'Until the response headers.' })),
      domContentLoadedMs: Type.Optional(Type.Number()),
      loadMs: Type.Optional(Type.Number()),
    },
    { description: 'Milliseconds; those of the document count from the start of its last request.' },
  ),
  sameDocument: Type.Optional(
    Type.Boolean({ description: 'Only the fragment or the history entry changed; the document stayed.' }),
  ),
  restored: Type.Optional(
    Type.Boolean({ description: 'The document came back from the back/forward cache.' }),
  ),
  interrupted: Type.Optional(
    Type.Boolean({
      description: 'The document stopped before it was whole: it stopped itself, or went on to a download.',
    }),
  ),
  noContent: Type.Optional(
    Type.Boolean({ description: 'The server answered without a document (204, 205); the page stayed.' }),
  ),
  download: Type.Optional(Type.Boolean({ description: 'The address is a download; the page stayed.' })),
  downloads: Type.Optional(
    Type.Array(DownloadSchema, { description: 'What this has made the browser download, or deny to.' }),
  ),
  responseUrl: Type.Optional(
    Type.String({ ...UNTRUSTED, description: 'With noContent or download: the address that answered.' }),
  ),
  dialog: Type.Optional(DialogSchema),
});
export type LoadResult = Static<typeof LoadResult>;

/** Chrome's lifecycle event for each condition. `commit` has none: it holds when the frame has the document. */
const LIFECYCLE = { domcontentloaded: 'DOMContentLoaded', load: 'load', networkidle: 'networkIdle' } as const;

/** A page that goes on more often than this is answered where it is. `Documents` remembers more loads than that. */
const MAX_FOLLOWED = 20;

/** How long the title is waited for when the renderer is busy. */
const TITLE_MS = 500;

/** How long Chrome gets to show its error page, so that the next operation does not meet the old document. */
const SETTLE_MS = 1000;

/**
 * Waits until the newest load, from `loaderId` on, is as far as `until` says, and answers it. A page that goes on by
 * itself (script, meta refresh) is followed to where it leads.
 * @throws AirlockError `navigation_failed`, `policy_denied`; `timeout` and the like through the operation
 */
export async function awaitLoad(op: Operation, loaderId: string, until: WaitUntil): Promise<LoadResult> {
  for (;;) {
    const load = await reach(op, loaderId, until);
    if (load.error !== undefined && !(standsForStatus(load.error) && load.status !== undefined)) {
      throw loadError(op, load.error, addresses(op, loaderId));
    }
    const refused = refusal(op);
    if (refused) throw refused;
    const title = await readTitle(op);
    if (newest(op, loaderId) === load || isRestless(op, loaderId)) return result(op, loaderId, load, title);
  }
}

/** Resolves with the newest load when it holds; on a dialog after the commit, with that load as it is. */
async function reach(op: Operation, loaderId: string, until: WaitUntil): Promise<DocumentLoad> {
  const wait = whenever(op, () => {
    const load = newest(op, loaderId);
    if (load && holds(op, load, until)) return load;
    return isRestless(op, loaderId) ? op.tab.documents.get(op.tab.frames.main.loaderId) : undefined;
  });
  try {
    return await op.race(wait.promise);
  } catch (error) {
    const load = newest(op, loaderId);
    const opened = error instanceof AirlockError && error.code === 'dialog_open';
    if (opened && load && isCommitted(op, load)) return load;
    throw error;
  } finally {
    wait.stop();
  }
}

/** Asks `look` now and whenever something of the tab's documents changes, until it gives a value. */
export function whenever<T>(
  op: Operation,
  look: () => T | undefined,
): { promise: Promise<T>; stop: () => void } {
  const { documents, frames } = op.tab;
  const { promise, resolve } = Promise.withResolvers<T>();
  const check = () => {
    const value = look();
    if (value !== undefined) resolve(value);
  };
  documents.on('progress', check);
  frames.on('navigated', check);
  frames.on('navigatedWithin', check);
  check();
  const stop = () => {
    documents.off('progress', check);
    frames.off('navigated', check);
    frames.off('navigatedWithin', check);
  };
  return { promise, stop };
}

/** The page has gone on too often to wait for the end of it. */
function isRestless(op: Operation, loaderId: string): boolean {
  return op.tab.documents.from(loaderId).length > MAX_FOLLOWED;
}

function isCommitted(op: Operation, load: DocumentLoad): boolean {
  return op.tab.frames.main.loaderId === load.loaderId;
}

/** The newest load from `loaderId` on that has, or may still get, a document: an aborted one is out of the running. */
function newest(op: Operation, loaderId: string): DocumentLoad | undefined {
  return op.tab.documents
    .from(loaderId)
    .findLast((load) => load.error === undefined || isCommitted(op, load));
}

function holds(op: Operation, load: DocumentLoad, until: WaitUntil): boolean {
  if (!isCommitted(op, load)) return false;
  if (load.error !== undefined) return load.reached.has('load');
  return until === 'commit' || load.reached.has(LIFECYCLE[until]) || isInterrupted(op, load);
}

/** Nothing more will come: a page that stops itself, or goes on to a download, never gets its load event (measured). */
function isInterrupted(op: Operation, load: DocumentLoad): boolean {
  return !op.tab.documents.loading && load.reached.has('init') && !load.reached.has('load');
}

function addresses(op: Operation, loaderId: string): string[] {
  return op.tab.documents
    .from(loaderId)
    .flatMap((load) => [...load.redirects.map((redirect) => redirect.url), load.url]);
}

/** The title as the document has it; as the browser knows it where the renderer does not answer soon. */
async function readTitle(op: Operation): Promise<string> {
  const { main } = op.tab.frames;
  // The error page's title is Chrome's.
  if (main.unreachableUrl !== undefined) return '';
  if (op.tab.dialog) return (await browserView(op)).title;
  try {
    const title = await op.race(timeBox(titleOf(op), TITLE_MS));
    if (title !== undefined) {
      // Chrome tells of a target's title late, or not at all.
      op.tab.title = title;
      return title;
    }
  } catch (error) {
    // The document was replaced, or showed a dialog, while its title was read: any other end is the operation's.
    if (error instanceof AirlockError && error.code !== 'dialog_open') throw error;
  }
  return (await browserView(op)).title;
}

async function titleOf(op: Operation): Promise<string> {
  const world = await isolatedWorld(op, op.tab.frames.main);
  return String(await evaluateValue(op, world, 'document.title'));
}

function result(op: Operation, loaderId: string, load: DocumentLoad, title: string): LoadResult {
  const { dialog, frames } = op.tab;
  const earlier = op.tab.documents
    .from(loaderId)
    .filter((other) => other !== load && other.error === undefined && other.url !== '');
  const hops = [...earlier, load].flatMap((each) => [
    ...each.redirects.map((redirect) => ({ ...redirect, by: 'http' as const })),
    ...(each === load ? [] : [{ url: each.url, status: each.status ?? 0, by: 'page' as const }]),
  ]);
  return {
    tab: op.tab.id,
    url: frames.main.unreachableUrl ?? frames.main.url,
    status: load.status ?? null,
    title,
    redirects: hops,
    timings: timings(op, load),
    ...(isInterrupted(op, load) && { interrupted: true }),
    ...(dialog && { dialog }),
    ...downloadsOf(op),
  };
}

function timings(op: Operation, load: DocumentLoad): LoadResult['timings'] {
  const all: LoadResult['timings'] = { totalMs: Date.now() - op.startedAt };
  const { timing } = load;
  if (timing) {
    if (timing.dnsEnd >= 0) all.dnsMs = round(timing.dnsEnd - timing.dnsStart);
    if (timing.connectEnd >= 0) all.connectMs = round(timing.connectEnd - timing.connectStart);
    if (timing.sslEnd >= 0) all.tlsMs = round(timing.sslEnd - timing.sslStart);
    if (timing.receiveHeadersEnd >= 0) all.responseMs = round(timing.receiveHeadersEnd);
  }
  const origin = timing?.requestTime ?? load.reached.get('init');
  if (origin === undefined) return all;
  const contentLoaded = load.reached.get('DOMContentLoaded');
  const loaded = load.reached.get('load');
  if (contentLoaded !== undefined) all.domContentLoadedMs = round((contentLoaded - origin) * 1000);
  if (loaded !== undefined) all.loadMs = round((loaded - origin) * 1000);
  return all;
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** The answer for what left the page as it is: a new fragment, a 204, a download. */
export async function unchangedPage(op: Operation, extra: Partial<LoadResult>): Promise<LoadResult> {
  const load = op.tab.documents.get(op.tab.frames.main.loaderId);
  return {
    tab: op.tab.id,
    url: op.tab.frames.main.unreachableUrl ?? op.tab.url,
    status: load?.status ?? null,
    title: await readTitle(op),
    redirects: [],
    timings: { totalMs: Date.now() - op.startedAt },
    ...downloadsOf(op),
    ...extra,
  };
}

function downloadsOf(op: Operation): Pick<LoadResult, 'downloads'> {
  const downloads = op.env.downloadsSince(op.startedAt);
  if (downloads.length === 0) return {};
  return {
    downloads: downloads.map(({ id, url, suggestedName, state }) => ({ id, url, suggestedName, state })),
  };
}

/** Waits, for a moment, until the error page of a failed load is there. */
export async function settleErrorPage(op: Operation, loaderId: string): Promise<void> {
  const wait = whenever(op, () => {
    const load = op.tab.documents.get(loaderId);
    return load && isCommitted(op, load) && load.reached.has('load') ? true : undefined;
  });
  try {
    await op.race(timeBox(wait.promise, SETTLE_MS));
  } finally {
    wait.stop();
  }
}
