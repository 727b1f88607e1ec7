import { AirlockError } from '../errors.ts';
import type { Protocol } from './cdp.ts';
import { brokenDomain, brokenRule } from './cookie-rules.ts';
import type {
  ClearCookiesResult,
  Cookie,
  CookiesResult,
  CookieToSet,
  DeleteCookieInput,
  DeleteCookieResult,
  GetCookiesInput,
  SetCookiesInput,
} from './cookie-schema.ts';
import type { Operation } from './operation.ts';
import { originOf } from './origin.ts';
import { evaluateValue, readInFrame } from './world.ts';

/** The cookies of the whole session, partitioned ones included, in Chrome's order. All filters given must hold. */
export async function getCookies(op: Operation, input: GetCookiesInput): Promise<CookiesResult> {
  const urls = input.urls?.map((raw) => httpUrl(raw));
  await settle(op);
  const all = await readAll(op);
  return {
    cookies: all.filter(
      (cookie) => isNamed(cookie, input) && (urls === undefined || urls.some((url) => isSentTo(cookie, url))),
    ),
  };
}

/**
 * Sets cookies and reads them back. Answers them as stored: Chrome limits `expires` to 400 days.
 * @throws AirlockError `cookie_rejected` when one was not stored as given; `rejected` names each with its rule,
 * `stored` what was stored all the same; `invalid_request`
 */
export async function setCookies(op: Operation, input: SetCookiesInput): Promise<CookiesResult> {
  const wanted = input.cookies.map((cookie) => withHome(op, cookie));
  const before = await readAll(op);
  const answers = await Promise.all(wanted.map((cookie) => setOne(op, cookie)));
  const after = await readAll(op);
  const stored: Cookie[] = [];
  const rejected: { index: number; name: string; rule: string; detail: string }[] = [];
  for (const [index, cookie] of wanted.entries()) {
    const found = after.find((other) => isStoredForm(other, cookie));
    if (found) stored.push(found);
    else rejected.push({ index, name: cookie.name, ...brokenRule(cookie, answers[index]) });
  }
  if (rejected.length === 0) return { cookies: stored };
  await takeBack(op, { before, after, stored });
  const [first] = rejected;
  throw new AirlockError(
    'cookie_rejected',
    `${rejected.length} of ${wanted.length} not stored; ${JSON.stringify(first?.name)}: ${first?.detail}`,
    { extra: { rejected, stored } },
  );
}

/** Chrome stored some in another form than was asked for (`.com` as `com`): those must not stay. */
async function takeBack(
  op: Operation,
  { before, after, stored }: Record<'before' | 'after' | 'stored', readonly Cookie[]>,
): Promise<void> {
  const strays = after.filter(
    (cookie) => !before.some((old) => sameCookie(old, cookie)) && !stored.includes(cookie),
  );
  await Promise.all(strays.map((cookie) => deleteOne(op, cookie)));
}

/**
 * Deletes every cookie with this name that the other members do not rule out. Without `partitionKey` only unpartitioned
 * cookies are meant; with it only those of that partition: one call never takes both.
 * @throws AirlockError `cookie_not_found` when there is none; `partitioned` lists those of the name in partitions
 */
export async function deleteCookie(op: Operation, input: DeleteCookieInput): Promise<DeleteCookieResult> {
  const ofName = (await readAll(op)).filter((cookie) => cookie.name === input.name);
  const meant = ofName.filter(
    (cookie) => isNamed(cookie, input) && samePartition(cookie.partitionKey, input.partitionKey),
  );
  if (meant.length === 0) {
    const partitioned = ofName.filter((cookie) => cookie.partitionKey).map(({ value: _, ...rest }) => rest);
    throw new AirlockError('cookie_not_found', `No cookie ${JSON.stringify(input.name)} matches`, {
      extra: { partitioned },
    });
  }
  await Promise.all(meant.map((cookie) => deleteOne(op, cookie)));
  const left = await readAll(op);
  if (left.some((cookie) => meant.some((gone) => sameCookie(cookie, gone) && cookie.value === gone.value))) {
    throw new AirlockError('not_verified', `The cookie ${JSON.stringify(input.name)} is still there`, {
      extra: { expected: [], actual: left.filter((cookie) => cookie.name === input.name) },
    });
  }
  return { deleted: meant };
}

/** Deletes all cookies of the session, partitioned ones included, and looks that none is left. */
export async function clearCookies(op: Operation): Promise<ClearCookiesResult> {
  const before = await readAll(op);
  await op.main('Storage.clearCookies', {});
  const after = await readAll(op);
  const left = after.filter((cookie) => before.some((old) => sameCookie(old, cookie)));
  await Promise.all(left.map((cookie) => deleteOne(op, cookie)));
  return { cleared: before.length };
}

/** How long a busy page may keep back what its scripts have set, in milliseconds. */
const SETTLE_MS = 500;

/**
 * A script's `document.cookie = …` returns before Chrome's network process has heard of it. A read on the same way waits
 * for what was set before it.
 */
async function settle(op: Operation): Promise<void> {
  const { main } = op.tab.frames;
  if (originOf(main.url) === undefined || !main.session) return;
  const read = readInFrame(op, main, (world) =>
    evaluateValue(op, world, 'try { document.cookie.length } catch { 0 }'),
  );
  // A page that navigates meanwhile has sent what it set.
  await Promise.race([read.catch(rethrowOurs), op.pause(SETTLE_MS)]);
}

function rethrowOurs(error: unknown): void {
  if (error instanceof AirlockError && error.code !== 'frame_not_found') throw error;
}

async function readAll(op: Operation): Promise<Cookie[]> {
  const { cookies } = await op.main('Storage.getCookies', {});
  return cookies.map(toCookie);
}

/** Only the members of our own form: Chrome adds some from version to version. */
function toCookie(cookie: Protocol.Network.Cookie): Cookie {
  return {
    name: cookie.name,
    value: cookie.value,
    domain: cookie.domain,
    path: cookie.path,
    expires: cookie.expires,
    size: cookie.size,
    httpOnly: cookie.httpOnly,
    secure: cookie.secure,
    session: cookie.session,
    ...(cookie.sameSite && { sameSite: cookie.sameSite }),
    priority: cookie.priority,
    sourceScheme: cookie.sourceScheme,
    sourcePort: cookie.sourcePort,
    ...(cookie.partitionKey && { partitionKey: cookie.partitionKey }),
  };
}

/** @returns why Chrome refused it; `undefined` says nothing: Chrome answers success for some that it drops */
async function setOne(op: Operation, cookie: CookieToSet): Promise<string | undefined> {
  if (brokenDomain(cookie)) return 'refused';
  const { size: _size, session: _session, expires, ...rest } = cookie;
  // -1 stands for a session cookie in what Chrome answers; as a time it would be one long past.
  const lasting = expires === undefined || expires === -1 ? {} : { expires };
  try {
    const { success } = await op.main('Network.setCookie', { ...rest, ...lasting });
    return success ? undefined : 'refused';
  } catch (error) {
    if (error instanceof AirlockError) throw error;
    return error instanceof Error ? error.message.replace(/^.*Network\.setCookie\): /, '') : String(error);
  }
}

function deleteOne(op: Operation, cookie: Cookie): Promise<void> {
  return op.main('Network.deleteCookies', {
    name: cookie.name,
    domain: cookie.domain,
    path: cookie.path,
    ...(cookie.partitionKey && { partitionKey: cookie.partitionKey }),
  });
}

function withHome(op: Operation, cookie: CookieToSet): CookieToSet {
  if (cookie.url !== undefined) return { ...cookie, url: httpUrl(cookie.url).href };
  if (cookie.domain !== undefined && cookie.domain !== '') return { ...cookie, path: cookie.path ?? '/' };
  const page = URL.parse(op.tab.url);
  if (page?.protocol === 'http:' || page?.protocol === 'https:') return { ...cookie, url: page.href };
  throw new AirlockError(
    'invalid_request',
    `The cookie ${JSON.stringify(cookie.name)} needs a url or a domain`,
    {
      extra: { pointer: '/cookies' },
    },
  );
}

function httpUrl(raw: string): URL {
  const url = URL.parse(raw);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new AirlockError('invalid_request', `Not an http or https URL: ${JSON.stringify(raw.slice(0, 200))}`);
}

function isNamed(cookie: Cookie, filter: Omit<GetCookiesInput, 'urls'>): boolean {
  return (
    (filter.name === undefined || cookie.name === filter.name) &&
    (filter.domain === undefined || bare(cookie.domain) === bare(filter.domain)) &&
    (filter.path === undefined || cookie.path === filter.path) &&
    (filter.partitionKey === undefined || samePartition(cookie.partitionKey, filter.partitionKey))
  );
}

/** Lower case, in ASCII, without the leading dot. */
function bare(domain: string): string {
  const host = domain.replace(/^\./, '');
  return URL.parse(`http://${host}/`)?.hostname ?? host.toLowerCase();
}

/** RFC 6265 section 5.4, without SameSite, which depends on who asks. */
function isSentTo(cookie: Cookie, url: URL): boolean {
  const domain = bare(cookie.domain);
  const inDomain = cookie.domain.startsWith('.') && url.hostname.endsWith(`.${domain}`);
  if (url.hostname !== domain && !inDomain) return false;
  const local = url.hostname === 'localhost' || url.hostname.startsWith('127.') || url.hostname === '[::1]';
  if (cookie.secure && url.protocol !== 'https:' && !local) return false;
  if (url.pathname === cookie.path) return true;
  const prefix = cookie.path.endsWith('/') ? cookie.path : `${cookie.path}/`;
  return url.pathname.startsWith(prefix);
}

function samePartition(a: Cookie['partitionKey'], b: Cookie['partitionKey']): boolean {
  return a?.topLevelSite === b?.topLevelSite && a?.hasCrossSiteAncestor === b?.hasCrossSiteAncestor;
}

/** A cookie is one by name, domain, path and partition (RFC 6265 section 5.3, and CHIPS). */
function sameCookie(a: Cookie, b: Cookie): boolean {
  return (
    a.name === b.name &&
    a.domain === b.domain &&
    a.path === b.path &&
    samePartition(a.partitionKey, b.partitionKey)
  );
}

/** True when `stored` is what `wanted` asked for; members that were not given may be anything. */
function isStoredForm(stored: Cookie, wanted: CookieToSet): boolean {
  const url = wanted.url === undefined ? undefined : new URL(wanted.url);
  const domain = wanted.domain || url?.hostname || '';
  const dotted = domain.startsWith('.');
  return (
    stored.name === wanted.name &&
    stored.value === wanted.value &&
    bare(stored.domain) === bare(domain) &&
    stored.domain.startsWith('.') === dotted &&
    (wanted.path === undefined || stored.path === wanted.path) &&
    samePartition(stored.partitionKey, wanted.partitionKey) &&
    (wanted.httpOnly === undefined || stored.httpOnly === wanted.httpOnly) &&
    (wanted.secure === undefined || stored.secure === wanted.secure) &&
    (wanted.sameSite === undefined || stored.sameSite === wanted.sameSite) &&
    isStoredExpiry(stored.expires, wanted.expires)
  );
}

/** A time that is kept to the microsecond by Chrome, and cut to 400 days from now. */
function isStoredExpiry(stored: number, wanted: number | undefined): boolean {
  if (wanted === undefined || wanted === -1) return stored === -1;
  return Math.abs(stored - wanted) < 1 || (stored > 0 && stored < wanted);
}
