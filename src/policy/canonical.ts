import { domainToUnicode } from 'node:url';
import { type Address, parseAddress } from './address.ts';

/** A host in the one spelling that rules, decisions and logs use. `text` of an IPv6 address has no brackets. */
export type Host =
  | { readonly kind: 'name'; readonly text: string }
  | { readonly kind: 'address'; readonly text: string; readonly address: Address };

/** An http, https, ws or wss URL, taken apart. */
export interface Target {
  readonly scheme: NetworkScheme;
  readonly host: Host;
  /** Effective: the default of the scheme filled in. */
  readonly port: number;
  /** The path as the URL has it, percent-encoded, without query. */
  readonly path: string;
}

const defaultPorts = { http: 80, https: 443, ws: 80, wss: 443 } as const;

/** The schemes that lead to the network. */
export type NetworkScheme = keyof typeof defaultPorts;

/** Is this one of the schemes that lead to the network? */
export function isNetworkScheme(scheme: string): scheme is NetworkScheme {
  return Object.hasOwn(defaultPorts, scheme);
}

/** The port that a URL of this scheme means when it names none (WHATWG URL, "default port"). */
export function defaultPortOf(scheme: NetworkScheme): number {
  return defaultPorts[scheme];
}

/** Chrome's own limit for a URL (`url::kMaxURLChars`), in characters. */
const maxUrlLength = 2 * 1024 * 1024;

/** Parses as browsers do (WHATWG URL), leading and trailing white space included; `undefined` when there is no URL. */
export function parseUrl(raw: string): URL | undefined {
  return raw.length > maxUrlLength ? undefined : (URL.parse(raw) ?? undefined);
}

export type HostFault = 'invalid-host' | 'invalid-url';

/** Takes a parsed network URL apart; the reason when its host is nothing that DNS could hold. */
export function targetOf(url: URL, scheme: NetworkScheme): Target | HostFault {
  const host = hostOf(url.hostname);
  if (typeof host === 'string') return host;
  return {
    scheme,
    host,
    port: url.port === '' ? defaultPorts[scheme] : Number(url.port),
    path: url.pathname,
  };
}

/**
 * Reads a raw host, as SOCKS delivers it: printable ASCII, no brackets needed for IPv6. Loose IPv4 (`0x7f.1`,
 * `2130706433`) comes out as the address that a browser or getaddrinfo would make of it.
 */
export function canonicalHost(raw: string): Host | undefined {
  // 255 is what a SOCKS5 length octet can say. Chrome's TURN path has delivered "127.0.0.1%00.test" and zone ids.
  if (raw.length === 0 || raw.length > 255 || !/^[!-~]+$/.test(raw) || /[%/\\?#@<>^|]/.test(raw))
    return undefined;
  const inner = raw.startsWith('[') && raw.endsWith(']') ? raw.slice(1, -1) : raw;
  if (inner.includes(':')) {
    const address = parseAddress(inner);
    return address === undefined ? undefined : { kind: 'address', text: address.text, address };
  }
  if (inner !== raw || inner.includes('[')) return undefined;
  return hostOfText(raw);
}

/** Reads the host of a policy entry, where a person may have typed Unicode. */
export function canonicalEntryHost(raw: string): Host | undefined {
  if (/[\s%/\\?#@<>^|:[\]]/.test(raw)) return undefined;
  return hostOfText(raw);
}

function hostOfText(text: string): Host | undefined {
  const url = URL.parse(`http://${text}/`);
  const host = url === null ? undefined : hostOf(url.hostname);
  return typeof host === 'string' ? undefined : host;
}

/** `hostname` comes from a WHATWG parse: lower case, ASCII, IPv4 resolved to a dotted quad, IPv6 in brackets. */
function hostOf(hostname: string): Host | HostFault {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const address = parseAddress(bare);
  if (address !== undefined) return { kind: 'address', text: address.text, address };
  // The root dot: `example.com.` is the same name, and `example.com..` is none.
  const name = bare.endsWith('.') ? bare.slice(0, -1) : bare;
  if (!isDnsName(name)) return 'invalid-host';
  return name.includes('xn--') && !isValidIdn(name) ? 'invalid-url' : { kind: 'name', text: name };
}

/** Letters, digits, hyphens and underscores in labels of 1 to 63, at most 253 in all (RFC 1035, 2.3.4). */
function isDnsName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/.test(name);
}

/** Node leaves a Punycode label that does not decode as it is; Chrome and older Nodes refuse the URL. */
function isValidIdn(name: string): boolean {
  return !domainToUnicode(name)
    .split('.')
    .some((label) => label.startsWith('xn--'));
}
