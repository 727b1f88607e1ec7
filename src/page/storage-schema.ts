import Type, { type Static } from 'typebox';
import { CookieToSet } from './cookie-schema.ts';
import { UNTRUSTED } from './schema.ts';

const strict = { additionalProperties: false };

export const StorageItem = Type.Object(
  { name: Type.String(UNTRUSTED), value: Type.String(UNTRUSTED) },
  strict,
);
export type StorageItem = Static<typeof StorageItem>;

const Items = Type.Array(StorageItem, { maxItems: 100_000 });
const Origin = Type.Optional(
  Type.String({ maxLength: 300, description: '`https://shop.example`; default: the origin of the page' }),
);

export const Area = Type.Enum(['local', 'session']);
export type Area = Static<typeof Area>;

export const StorageInput = Type.Object({ area: Area, origin: Origin }, strict);
export type StorageInput = Static<typeof StorageInput>;

export const SetStorageInput = Type.Object({ area: Area, origin: Origin, items: Items }, strict);
export type SetStorageInput = Static<typeof SetStorageInput>;

export const StorageResult = Type.Object({ origin: Type.String(), items: Items });
export type StorageResult = Static<typeof StorageResult>;

export const ClearStorageResult = Type.Object({
  origin: Type.String(),
  cleared: Type.Integer({ description: 'How many items there were.' }),
});
export type ClearStorageResult = Static<typeof ClearStorageResult>;

/** As Playwright writes it: a partition is named by its site alone, and the ancestor bit stands beside it. */
const StateCookie = Type.Object(
  {
    name: CookieToSet.properties.name,
    value: CookieToSet.properties.value,
    domain: Type.String({ minLength: 1, description: 'with a leading dot for a domain cookie' }),
    path: Type.String(),
    expires: Type.Optional(Type.Number({ description: 'seconds since 1970; -1 for a session cookie' })),
    httpOnly: Type.Optional(Type.Boolean()),
    secure: Type.Optional(Type.Boolean()),
    sameSite: CookieToSet.properties.sameSite,
    partitionKey: Type.Optional(Type.String({ description: 'the top-level site' })),
    _crHasCrossSiteAncestor: Type.Optional(Type.Boolean()),
  },
  strict,
);
export type StateCookie = Static<typeof StateCookie>;

/** Playwright's `storageState`. */
export const StorageState = Type.Object(
  {
    cookies: Type.Optional(Type.Array(StateCookie, { maxItems: 10_000 })),
    origins: Type.Optional(
      Type.Array(Type.Object({ origin: Type.String({ maxLength: 300 }), localStorage: Items }, strict), {
        maxItems: 1000,
      }),
    ),
  },
  { ...strict, description: 'the storageState JSON of Playwright: cookies, and localStorage by origin' },
);
export type StorageState = Static<typeof StorageState>;

export const StateResult = Type.Object({
  cookies: Type.Array(StateCookie),
  origins: Type.Array(Type.Object({ origin: Type.String(), localStorage: Items })),
});
export type StateResult = Static<typeof StateResult>;

export const SetStateResult = Type.Object({
  cookies: Type.Integer({ description: 'How many are stored now.' }),
  origins: Type.Array(Type.Object({ origin: Type.String(), items: Type.Integer() })),
});
export type SetStateResult = Static<typeof SetStateResult>;
