import type { Cookie, CookieToSet } from './cookie-schema.ts';
import { clearCookies, getCookies, setCookies } from './cookies.ts';
import type { Operation } from './operation.ts';
import { readOrigin } from './origin.ts';
import { withStorages } from './storage.ts';
import type { SetStateResult, StateCookie, StateResult, StorageState } from './storage-schema.ts';

/** Cookies, and the localStorage of every origin that the session has shown or was given; origins without any are left out. */
export async function getState(op: Operation): Promise<StateResult> {
  const { cookies } = await getCookies(op, {});
  const origins = await withStorages(op, async (storages) => {
    const found: StateResult['origins'] = [];
    for (const origin of op.env.origins.seen()) {
      const localStorage = await storages.read('local', origin);
      if (localStorage.length > 0) found.push({ origin, localStorage });
    }
    return found;
  });
  return { cookies: cookies.map(toStateCookie), origins };
}

/**
 * Makes `state` the state of the session: what else there is of cookies and of localStorage goes.
 * @throws AirlockError `cookie_rejected`, `storage_rejected`: Chrome stored one not as given; `invalid_request`
 */
export async function setState(op: Operation, state: StorageState): Promise<SetStateResult> {
  const wanted = new Map(
    (state.origins ?? []).map(({ origin, localStorage }, at) => [
      readOrigin(origin, `/origins/${at}/origin`),
      localStorage,
    ]),
  );
  await clearCookies(op);
  const cookies = (state.cookies ?? []).map(toCookie);
  if (cookies.length > 0) await setCookies(op, { cookies });
  await withStorages(op, async (storages) => {
    for (const origin of new Set([...op.env.origins.seen(), ...wanted.keys()])) {
      await storages.replace('local', origin, wanted.get(origin) ?? []);
      op.env.origins.add(origin);
    }
  });
  return {
    cookies: cookies.length,
    origins: [...wanted].map(([origin, items]) => ({ origin, items: items.length })),
  };
}

function toStateCookie(cookie: Cookie): StateCookie {
  const { name, value, domain, path, expires, httpOnly, secure, sameSite, partitionKey } = cookie;
  return {
    name,
    value,
    domain,
    path,
    expires,
    httpOnly,
    secure,
    ...(sameSite && { sameSite }),
    ...(partitionKey && {
      partitionKey: partitionKey.topLevelSite,
      _crHasCrossSiteAncestor: partitionKey.hasCrossSiteAncestor,
    }),
  };
}

function toCookie({ partitionKey, _crHasCrossSiteAncestor, ...cookie }: StateCookie): CookieToSet {
  if (partitionKey === undefined) return cookie;
  return {
    ...cookie,
    // As Playwright takes a file that does not say.
    partitionKey: { topLevelSite: partitionKey, hasCrossSiteAncestor: _crHasCrossSiteAncestor ?? true },
  };
}
