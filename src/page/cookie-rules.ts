import type { CookieToSet } from './cookie-schema.ts';

export interface BrokenRule {
  /** Stable name of the rule. */
  readonly rule: string;
  /** The rule, for a person. */
  readonly detail: string;
}

interface Rule extends BrokenRule {
  broken(cookie: CookieToSet): boolean;
}

/** Chromium `net/cookies/parsed_cookie.h`: name and value together, and each attribute. */
const MAX_PAIR_BYTES = 4096;
const MAX_ATTRIBUTE_BYTES = 1024;

/** Control characters and what ends a name or a value in a header (RFC 6265bis section 5.6). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what the rule is about
const FORBIDDEN_IN_VALUE = /[\x00-\x08\x0a-\x1f\x7f;]/;

const bytes = (text: string) => Buffer.byteLength(text);
const isHttp = (cookie: CookieToSet) => cookie.url?.startsWith('http:') === true;
const isSecure = (cookie: CookieToSet) =>
  cookie.secure === true || (cookie.secure === undefined && cookie.url?.startsWith('https:') === true);
const prefixed = (cookie: CookieToSet, prefix: string) => cookie.name.toLowerCase().startsWith(prefix);

/** In the order in which they are worth telling; RFC 6265bis and CHIPS. */
const RULES: readonly Rule[] = [
  {
    rule: 'empty',
    detail: 'A cookie needs a name or a value.',
    broken: (cookie) => cookie.name === '' && cookie.value === '',
  },
  {
    rule: 'characters',
    detail: 'Name and value take no control character and no ";", the name no "=".',
    broken: ({ name, value }) =>
      FORBIDDEN_IN_VALUE.test(name) || FORBIDDEN_IN_VALUE.test(value) || name.includes('='),
  },
  {
    rule: 'white_space',
    detail: 'Name and value have no white space at their ends.',
    broken: ({ name, value }) => name !== name.trim() || value !== value.trim(),
  },
  {
    rule: 'size',
    detail: `Name and value together are at most ${MAX_PAIR_BYTES} bytes, domain and path ${MAX_ATTRIBUTE_BYTES} each.`,
    broken: ({ name, value, domain, path }) =>
      bytes(name) + bytes(value) > MAX_PAIR_BYTES ||
      bytes(domain ?? '') > MAX_ATTRIBUTE_BYTES ||
      bytes(path ?? '') > MAX_ATTRIBUTE_BYTES,
  },
  {
    rule: 'path',
    detail: 'A path begins with "/".',
    broken: ({ path }) => path !== undefined && path !== '' && !path.startsWith('/'),
  },
  {
    rule: 'expired',
    detail: 'The expiry is in the past.',
    broken: ({ expires }) => expires !== undefined && expires !== -1 && expires <= Date.now() / 1000,
  },
  {
    rule: 'samesite_none_needs_secure',
    detail: 'SameSite=None needs Secure.',
    broken: (cookie) => cookie.sameSite === 'None' && !isSecure(cookie),
  },
  {
    rule: 'partitioned_needs_secure',
    detail: 'A partitioned cookie needs Secure.',
    broken: (cookie) => cookie.partitionKey !== undefined && !isSecure(cookie),
  },
  {
    rule: 'host_prefix',
    detail: 'The prefix __Host- needs Secure, the path "/" and no domain.',
    broken: (cookie) =>
      (prefixed(cookie, '__host-') || prefixed(cookie, '__host-http-')) &&
      (!isSecure(cookie) || (cookie.path ?? '/') !== '/' || cookie.domain?.startsWith('.') === true),
  },
  {
    rule: 'secure_prefix',
    detail: 'The prefix __Secure- needs Secure.',
    broken: (cookie) => prefixed(cookie, '__secure-') && !isSecure(cookie),
  },
  {
    rule: 'http_prefix',
    detail: 'The prefixes __Http- and __Host-Http- need Secure and HttpOnly.',
    broken: (cookie) =>
      (prefixed(cookie, '__http-') || prefixed(cookie, '__host-http-')) &&
      (!isSecure(cookie) || cookie.httpOnly !== true),
  },
  {
    rule: 'secure_source',
    detail: 'A cookie with Secure cannot come from an insecure source scheme.',
    broken: (cookie) => cookie.secure === true && cookie.sourceScheme === 'NonSecure',
  },
  {
    rule: 'secure_from_http',
    detail: 'A cookie with Secure cannot be set for an http URL of this host.',
    broken: (cookie) => cookie.secure === true && isHttp(cookie),
  },
  {
    rule: 'domain_invalid',
    detail: 'The domain is not a host name.',
    broken: ({ domain }) => Boolean(domain) && hostOf(domain ?? '') === undefined,
  },
  {
    rule: 'domain_mismatch',
    detail: 'The domain is neither the host of the url nor one that it belongs to.',
    broken: isForeign,
  },
  {
    rule: 'public_suffix',
    detail:
      'This domain is a public suffix or an address: it takes a cookie for the host alone, without the dot.',
    broken: ({ domain }) => domain?.startsWith('.') === true,
  },
];

/**
 * Domains that no server could set, but that Chrome takes from us as they are (measured: `bad domain` is stored as
 * `bad%20domain`, and any domain goes with any url).
 */
export function brokenDomain(cookie: CookieToSet): boolean {
  return RULES.some((rule) => rule.rule.startsWith('domain_') && rule.broken(cookie));
}

/** In ASCII and lower case, without a leading dot; `undefined` where it is no host name. */
function hostOf(domain: string): string | undefined {
  const name = domain.replace(/^\./, '');
  if (/[\s/?#@%\\]|:\d*$|\.\./.test(name.replace(/^\[.*\]$/, '')) || name === '') return undefined;
  return URL.parse(`http://${name}/`)?.hostname;
}

function isForeign({ url, domain }: CookieToSet): boolean {
  const host = url === undefined ? undefined : URL.parse(url)?.hostname;
  const wanted = domain ? hostOf(domain) : undefined;
  if (host === undefined || wanted === undefined || host === wanted) return false;
  return !domain?.startsWith('.') || !host.endsWith(`.${wanted}`);
}

/** Why Chrome did not store a cookie as it was given. `refusal` is what Chrome said, which seldom names the rule. */
export function brokenRule(cookie: CookieToSet, refusal: string | undefined): BrokenRule {
  const rule = RULES.find((candidate) => candidate.broken(cookie));
  if (rule) return { rule: rule.rule, detail: rule.detail };
  return {
    rule: 'unknown',
    detail: refusal ? `Chrome says: ${refusal}` : 'Chrome dropped it without a word.',
  };
}
