import { type Static, Type } from 'typebox';
import { StorageState } from '../page/storage-schema.ts';
import { PROFILE_NAME } from '../residual/profile.ts';

const strict = { additionalProperties: false };

export const Viewport = Type.Object(
  {
    width: Type.Integer({ minimum: 1, maximum: 10_000, description: 'CSS pixels' }),
    height: Type.Integer({ minimum: 1, maximum: 10_000, description: 'CSS pixels' }),
    deviceScaleFactor: Type.Optional(Type.Number({ minimum: 0.1, maximum: 10, default: 1 })),
    mobile: Type.Optional(Type.Boolean({ default: false })),
    touch: Type.Optional(Type.Boolean({ default: false })),
  },
  strict,
);

export const Labels = Type.Record(Type.String(), Type.String({ maxLength: 256 }), {
  maxProperties: 32,
  propertyNames: { maxLength: 64 },
  description: 'your own notes on the session',
});

const Seconds = (description: string) => Type.Integer({ minimum: 1, maximum: 7 * 24 * 3600, description });

/** The body of POST /v1/sessions. */
export const SessionSpec = Type.Object(
  {
    engine: Type.Optional(
      Type.Enum(['headless-shell', 'chrome'], { description: 'which browser; the service has a default' }),
    ),
    headless: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'false opens a window: full Chrome only, on a display of the service',
      }),
    ),
    profile: Type.Optional(
      Type.String({
        pattern: PROFILE_NAME.source,
        description: 'name of a profile that stays, for one session at a time',
      }),
    ),
    onBusy: Type.Optional(
      Type.Enum(['fail', 'ephemeral'], {
        description: 'when the profile is in use: 409 (default), or a session without it',
      }),
    ),
    viewport: Type.Optional(Viewport),
    locale: Type.Optional(
      Type.String({ pattern: '^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$', description: 'BCP 47' }),
    ),
    timezone: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'IANA name, such as America/Sao_Paulo' }),
    ),
    userAgent: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, pattern: '^[\\x20-\\x7e]+$' })),
    geolocation: Type.Optional(
      Type.Object(
        {
          latitude: Type.Number({ minimum: -90, maximum: 90 }),
          longitude: Type.Number({ minimum: -180, maximum: 180 }),
          accuracy: Type.Optional(Type.Number({ minimum: 0, description: 'metres' })),
        },
        strict,
      ),
    ),
    colorScheme: Type.Optional(Type.Enum(['light', 'dark'])),
    extraHeaders: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 4096 }), {
        maxProperties: 64,
        description: 'sent with every request of the pages',
      }),
    ),
    policy: Type.Optional(
      Type.Unknown({ description: 'narrows the policy of the service; docs/network-policy.md has the form' }),
    ),
    egress: Type.Optional(
      Type.String({
        maxLength: 2048,
        description: 'a proxy to go out through: socks5:// or http://, [user:password@]host[:port]',
      }),
    ),
    ttlSec: Type.Optional(Seconds('the longest life of the session')),
    idleSec: Type.Optional(Seconds('close after this long without a request')),
    downloads: Type.Optional(
      Type.Enum(['deny', 'allow'], {
        description: 'deny (default): nothing is saved; allow: into the files of the session',
      }),
    ),
    dialogs: Type.Optional(
      Type.Enum(['report', 'accept', 'dismiss'], {
        description: 'report (default): a dialog stays open until POST dialog answers it',
      }),
    ),
    initScripts: Type.Optional(
      Type.Array(Type.String({ maxLength: 200_000 }), {
        maxItems: 20,
        description: 'run in every document before its own scripts',
      }),
    ),
    storageState: Type.Optional(StorageState),
    labels: Type.Optional(Labels),
  },
  strict,
);

export type SessionSpec = Static<typeof SessionSpec>;
