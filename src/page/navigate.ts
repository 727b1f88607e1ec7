import Type, { type Static } from 'typebox';
import { AirlockError } from '../errors.ts';
import type { Protocol } from './cdp.ts';
import { awaitLoad, LoadResult, settleErrorPage, unchangedPage, WaitUntil, whenever } from './load.ts';
import { loadError, policyDenied, standsForStatus } from './net-error.ts';
import type { Operation, PageEnvironment } from './operation.ts';
import { withoutUser } from './shown-url.ts';
import { orTakenBack } from './take-back.ts';
import { timeBox } from './time-box.ts';

export const NavigateInput = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 65_536,
      description: 'Absolute; http, https or about:blank.',
    }),
    waitUntil: Type.Optional(WaitUntil),
    referrer: Type.Optional(Type.String({ minLength: 1, maxLength: 65_536 })),
  },
  { additionalProperties: false },
);
export type NavigateInput = Static<typeof NavigateInput>;
export const NavigateResult = LoadResult;
export type NavigateResult = LoadResult;

/**
 * What may ever reach `Page.navigate`, whatever the policy says: `javascript:` would run in the page, `file:` and
 * `chrome:` would open (measured on Chromium 156). `data:` only where the policy opens it.
 */
const SCHEMES = new Set(['http:', 'https:', 'about:', 'data:']);

/** How long the browser may take to tell of a download, and then whether it is denied. Milliseconds. */
const DOWNLOAD_MS = 500;
const VERDICT_MS = 100;
const POLL_MS = 10;

/** How long the event of a navigation within the document may take after Chrome's answer. */
const WITHIN_MS = 500;

/**
 * Opens an address in the tab. A 4xx or 5xx page is a success with that status; so are a 204 and a download, which
 * leave the page as it is and say so; of a download, whether it was denied. A dialog that opens on the new page is answered with it, as `dialog`.
 * @throws AirlockError `invalid_request` (no absolute URL), `policy_denied`, `navigation_failed` with `netError` and
 * `url`, `dialog_open` (the old page asks before it is left), `timeout` (the page is kept), `page_crashed`
 */
export async function navigate(op: Operation, input: NavigateInput): Promise<NavigateResult> {
  const url = judged(op.env, input.url, op.tab.id);
  const referrer = input.referrer === undefined ? undefined : absolute('referrer', input.referrer);
  const waitUntil = input.waitUntil ?? 'load';
  op.revive();
  return orTakenBack(op, async () => {
    const answer = await op.main('Page.navigate', { url, ...(referrer !== undefined && { referrer }) });
    const { loaderId, errorText } = answer;
    if (errorText) return failed(op, url, waitUntil, answer, errorText);
    if (loaderId === undefined) return withinDocument(op, url);
    return awaitLoad(op, loaderId, waitUntil);
  });
}

/**
 * The canonical form of an address that the policy allows.
 * @throws AirlockError `invalid_request`, `policy_denied`
 */
export function judged(env: Pick<PageEnvironment, 'judgeNavigation'>, raw: string, tab?: string): string {
  const href = absolute('url', raw);
  const decision = env.judgeNavigation(href, tab);
  if (decision.verdict !== 'allow') throw policyDenied(href, decision);
  const { protocol } = new URL(href);
  if (!SCHEMES.has(protocol)) {
    throw policyDenied(href, { verdict: 'deny', reason: 'scheme', target: href });
  }
  return href;
}

function absolute(field: string, raw: string): string {
  const parsed = URL.parse(raw);
  if (parsed) return parsed.href;
  throw new AirlockError(
    'invalid_request',
    `/${field} is not an absolute URL: ${JSON.stringify(raw.slice(0, 200))}`,
    {
      extra: { pointer: `/${field}` },
    },
  );
}

/** Chrome answered the navigation with an error: of the network, or for a response that makes no document. */
async function failed(
  op: Operation,
  url: string,
  until: WaitUntil,
  answer: Protocol.Page.NavigateResponse,
  errorText: string,
): Promise<NavigateResult> {
  const { loaderId } = answer;
  const load = loaderId === undefined ? undefined : op.tab.documents.get(loaderId);
  const responseUrl = load?.url || withoutUser(url);
  const status = load?.status ?? null;
  if (answer.isDownload) {
    await downloadSeen(op);
    return unchangedPage(op, { download: true, status, responseUrl });
  }
  if (status === 204 || status === 205) return unchangedPage(op, { noContent: true, status, responseUrl });
  const aborted = errorText === 'net::ERR_ABORTED';
  if (loaderId !== undefined && load) {
    const superseded = aborted && op.tab.documents.latest !== load;
    if (superseded || standsForStatus(errorText)) return awaitLoad(op, loaderId, until);
    if (!aborted) await settleErrorPage(op, loaderId);
  }
  const hops = load?.redirects.map((redirect) => redirect.url) ?? [];
  throw loadError(op, errorText, [...hops, responseUrl]);
}

/** The browser tells of a download on its own way, and whether it is denied right after. */
async function downloadSeen(op: Operation): Promise<void> {
  const until = Date.now() + Math.min(DOWNLOAD_MS, op.remainingMs / 2);
  let verdict = until;
  while (Date.now() < Math.min(until, verdict)) {
    const downloads = op.env.downloadsSince(op.startedAt);
    if (downloads.some(({ state }) => state !== 'inProgress')) return;
    if (downloads.length > 0) verdict = Math.min(verdict, Date.now() + VERDICT_MS);
    await op.pause(POLL_MS);
  }
}

/** Chrome's answer comes just before the event that carries the new address. */
async function withinDocument(op: Operation, url: string): Promise<NavigateResult> {
  const target = withoutUser(url);
  const wait = whenever(op, () => (op.tab.url === target ? true : undefined));
  try {
    await op.race(timeBox(wait.promise, WITHIN_MS));
  } finally {
    wait.stop();
  }
  return unchangedPage(op, { sameDocument: true });
}
