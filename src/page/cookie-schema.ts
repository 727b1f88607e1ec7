import Type, { type Static } from 'typebox';
import { UNTRUSTED } from './schema.ts';

const PartitionKey = Type.Object(
  {
    topLevelSite: Type.String({ description: 'Scheme and site of the top-level page: https://shop.example' }),
    hasCrossSiteAncestor: Type.Boolean(),
  },
  { additionalProperties: false },
);

const SameSite = Type.Union([Type.Literal('Strict'), Type.Literal('Lax'), Type.Literal('None')]);
const Priority = Type.Union([Type.Literal('Low'), Type.Literal('Medium'), Type.Literal('High')]);
const SourceScheme = Type.Union([Type.Literal('Unset'), Type.Literal('NonSecure'), Type.Literal('Secure')]);

export const Cookie = Type.Object({
  name: Type.String(UNTRUSTED),
  value: Type.String(UNTRUSTED),
  domain: Type.String({
    description: 'With a leading dot for a domain cookie, without for a host-only one.',
  }),
  path: Type.String(UNTRUSTED),
  expires: Type.Number({ description: 'Seconds since 1970; -1 for a session cookie.' }),
  size: Type.Integer({ description: 'Bytes of name and value.' }),
  httpOnly: Type.Boolean(),
  secure: Type.Boolean(),
  session: Type.Boolean(),
  sameSite: Type.Optional(SameSite),
  priority: Priority,
  sourceScheme: SourceScheme,
  sourcePort: Type.Integer(),
  partitionKey: Type.Optional(PartitionKey),
});
export type Cookie = Static<typeof Cookie>;

export const GetCookiesInput = Type.Object(
  {
    name: Type.Optional(Type.String()),
    domain: Type.Optional(Type.String({ description: 'Exact; a leading dot makes no difference.' })),
    path: Type.Optional(Type.String()),
    partitionKey: Type.Optional(PartitionKey),
    urls: Type.Optional(
      Type.Array(Type.String(), { description: 'Only cookies that a request to one of these would carry.' }),
    ),
  },
  { additionalProperties: false },
);
export type GetCookiesInput = Static<typeof GetCookiesInput>;
export const CookiesResult = Type.Object({ cookies: Type.Array(Cookie) });
export type CookiesResult = Static<typeof CookiesResult>;

/** What was read can be set as it is: `size` and `session` are taken and not used. */
export const CookieToSet = Type.Object(
  {
    name: Type.String(),
    value: Type.String(),
    url: Type.Optional(
      Type.String({
        description: 'Fills in domain, path and secure. Default: the page of the tab, without domain.',
      }),
    ),
    domain: Type.Optional(Type.String()),
    path: Type.Optional(Type.String()),
    expires: Type.Optional(Type.Number()),
    size: Type.Optional(Type.Integer()),
    httpOnly: Type.Optional(Type.Boolean()),
    secure: Type.Optional(Type.Boolean()),
    session: Type.Optional(Type.Boolean()),
    sameSite: Type.Optional(SameSite),
    priority: Type.Optional(Priority),
    sourceScheme: Type.Optional(SourceScheme),
    sourcePort: Type.Optional(Type.Integer({ minimum: -1, maximum: 65_535 })),
    partitionKey: Type.Optional(PartitionKey),
  },
  { additionalProperties: false },
);
export type CookieToSet = Static<typeof CookieToSet>;

export const SetCookiesInput = Type.Object(
  { cookies: Type.Array(CookieToSet, { minItems: 1, maxItems: 1000 }) },
  { additionalProperties: false },
);
export type SetCookiesInput = Static<typeof SetCookiesInput>;

export const DeleteCookieInput = Type.Object(
  {
    name: Type.String(),
    domain: Type.Optional(Type.String({ description: 'Exact; a leading dot makes no difference.' })),
    path: Type.Optional(Type.String()),
    partitionKey: Type.Optional(PartitionKey),
  },
  { additionalProperties: false },
);
export type DeleteCookieInput = Static<typeof DeleteCookieInput>;
export const DeleteCookieResult = Type.Object({ deleted: Type.Array(Cookie) });
export type DeleteCookieResult = Static<typeof DeleteCookieResult>;

export const ClearCookiesResult = Type.Object({
  cleared: Type.Integer({ description: 'How many there were, partitioned ones included.' }),
});
export type ClearCookiesResult = Static<typeof ClearCookiesResult>;
