import { isIPv6 } from 'node:net';
import { parse as parsePublicSuffix } from 'tldts';
import { AirlockError } from '../errors.ts';
import { type Block, bitsOf, blockAround, blockText, classOf, parseAddress, parseBlock } from './address.ts';
import { canonicalEntryHost, defaultPortOf, isNetworkScheme, type NetworkScheme } from './canonical.ts';
import { encodedPattern } from './path-glob.ts';
import type { PortRange, Rule, RuleHost } from './rule.ts';
import { hasSpecialSuffix } from './special-names.ts';
import { wordBlocks } from './words.ts';

/** The object form of an entry, for what a string cannot say. */
export interface RuleInput {
  /** As the string form: host, `*.host`, IP, CIDR, `loopback` or `private`, with an optional scheme and port. */
  readonly host: string;
  /** Ports and ranges: `443`, `"8000-8010"`. */
  readonly ports?: readonly (number | string)[];
  /** Begins with `/`; `*` stands for any run of characters. The query is not part of it. */
  readonly path?: string;
  /** HTTP methods, any case. */
  readonly methods?: readonly string[];
  /** IPs, CIDRs, `loopback` or `private` that the name may resolve to, beside public addresses. Allow rules only. */
  readonly resolvesTo?: readonly string[];
}

export type EntryInput = string | RuleInput;

export type EntryList = 'allow' | 'deny';

/** Says which entry cannot be used, why, and where it stands. Always throws `invalid_policy`. */
export function refuse(value: unknown, pointer: string, why: string): never {
  const entry = printable(value);
  throw new AirlockError('invalid_policy', `${pointer || '/'} ${entry}: ${why}`, {
    extra: { entry, pointer },
  });
}

/** Reads one entry of `allow` or `deny`. Throws `invalid_policy` with `{entry, pointer}`. */
export function parseEntry(value: unknown, pointer: string, list: EntryList): Rule {
  if (typeof value === 'string') return finish(parseHostText(value, value, pointer, list), {});
  if (!isRecord(value)) return refuse(value, pointer, 'an entry is a string or an object with host');
  for (const key of Object.keys(value)) {
    if (!ruleKeys.has(key)) refuse(value, pointer, `"${printable(key)}" is no member of an entry`);
  }
  const { host } = value;
  if (typeof host !== 'string') return refuse(value, pointer, 'an entry object needs "host", a string');
  const base = parseHostText(host, value, pointer, list);
  const ports = value['ports'] === undefined ? undefined : parsePorts(value['ports'], value, pointer);
  if (ports !== undefined && base.portsGiven)
    refuse(value, pointer, 'the port is given in host and in ports');
  return finish(base, {
    ...(ports === undefined ? {} : { ports }),
    ...(value['path'] === undefined ? {} : { path: parsePath(value['path'], value, pointer) }),
    ...(value['methods'] === undefined ? {} : { methods: parseMethods(value['methods'], value, pointer) }),
    ...(value['resolvesTo'] === undefined
      ? {}
      : parseResolvesTo(value['resolvesTo'], base, value, pointer, list)),
  });
}

const ruleKeys: ReadonlySet<string> = new Set(['host', 'ports', 'path', 'methods', 'resolvesTo']);

interface HostPart {
  readonly host: RuleHost;
  readonly scheme?: NetworkScheme;
  readonly ports?: readonly PortRange[];
  /** The ports were written, not taken from the scheme. */
  readonly portsGiven: boolean;
}

type RuleExtras = Pick<Rule, 'ports' | 'path' | 'methods' | 'resolvesTo' | 'resolvesToText'>;

function finish(base: HostPart, extras: RuleExtras): Rule {
  const ports = extras.ports ?? base.ports;
  const hostText = hostTextOf(base, ports?.length === 1 ? ports[0] : undefined);
  const many = ports !== undefined && ports.length > 1 ? `:${ports.map(portText).join(',')}` : '';
  const methods = extras.methods === undefined ? '' : ` ${extras.methods.join(',')}`;
  const resolves =
    extras.resolvesToText === undefined ? '' : ` resolvesTo ${extras.resolvesToText.join(',')}`;
  return Object.freeze({
    text: `${hostText}${many}${extras.path ?? ''}${methods}${resolves}`,
    hostText,
    host: Object.freeze(base.host),
    ...(base.scheme === undefined ? {} : { scheme: base.scheme }),
    ...extras,
    ...(ports === undefined ? {} : { ports: Object.freeze(ports) }),
  });
}

function hostTextOf({ host, scheme }: HostPart, port: PortRange | undefined): string {
  const name = hostName(host);
  const tail = port === undefined ? '' : `:${portText(port)}`;
  if (scheme === undefined && tail === '') return name;
  // Brackets go round the address, not round the prefix length.
  const bracketed = name.includes(':') ? name.replace(/^[^/]+/, '[$&]') : name;
  return `${scheme === undefined ? '' : `${scheme}://`}${bracketed}${tail}`;
}

/** Reads `[scheme://]host[:port]`, where host may be a pattern, an address, a block or a word. */
function parseHostText(text: string, entry: unknown, pointer: string, list: EntryList): HostPart {
  const no = (why: string): never => refuse(entry, pointer, why);
  if (text === '') return no('it is empty');
  if (text.length > 1024) return no('it is too long');
  if (/\s/.test(text) || hasControl(text)) return no('it has white space or control characters');
  if (text.includes('@')) return no('credentials have no place in a policy');
  if (/[?#\\]/.test(text)) return no('a query, a fragment or a backslash cannot be matched');
  const split = /^([^:/[\]]*):\/\/(.*)$/.exec(text);
  const scheme = split?.[1]?.toLowerCase();
  if (scheme !== undefined && !isNetworkScheme(scheme))
    return no('the scheme must be http, https, ws or wss');
  // A copied origin often ends in a slash.
  const rest = split?.[2] === undefined ? text : split[2].replace(/\/$/, '');
  const { host, portPart } = splitPort(rest, no);
  const ports = portPart === undefined ? undefined : [parsePortRange(portPart, no)];
  return {
    host: parseRuleHost(host, no, list),
    portsGiven: ports !== undefined,
    ...(scheme === undefined ? {} : { scheme }),
    ...portsOr(ports, scheme),
  };
}

function portsOr(ports: PortRange[] | undefined, scheme: NetworkScheme | undefined): Pick<HostPart, 'ports'> {
  if (ports !== undefined) return { ports };
  if (scheme === undefined) return {};
  const port = defaultPortOf(scheme);
  return { ports: [Object.freeze({ from: port, to: port })] };
}

type No = (why: string) => never;

function splitPort(rest: string, no: No): { host: string; portPart?: string } {
  const bracketed = /^\[([^[\]]*)\](\/\d+)?(?::(.*))?$/.exec(rest);
  if (bracketed !== null) {
    const host = `${bracketed[1]}${bracketed[2] ?? ''}`;
    if (!host.includes(':')) return no('only an IPv6 address goes in brackets');
    return bracketed[3] === undefined ? { host } : { host, portPart: bracketed[3] };
  }
  if (/[[\]]/.test(rest)) return no('the brackets do not enclose an IPv6 address');
  const slash = rest.indexOf('/');
  if (slash === -1 && isIPv6(rest)) {
    const address = parseAddress(rest);
    // "::1:3000" is an address, but nobody means it.
    if (address !== undefined && classOf(address) === 'v4-compatible')
      return no('put the IPv6 address in brackets');
    return { host: rest };
  }
  const colon = rest.indexOf(':', Math.max(slash, 0));
  if (colon === -1) return { host: rest };
  const host = rest.slice(0, colon);
  if (slash === -1 && rest.includes(':', colon + 1)) return no('it is neither host:port nor an IPv6 address');
  return { host, portPart: rest.slice(colon + 1) };
}

function parsePortRange(text: string, no: No): PortRange {
  const parts = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text);
  const from = Number(parts?.[1]);
  const to = Number(parts?.[2] ?? parts?.[1]);
  if (parts === null || from < 1 || to > 65_535) return no('a port is 1 to 65535, a range is from-to');
  return from > to ? no('the port range is upside down') : Object.freeze({ from, to });
}

function parseRuleHost(text: string, no: No, list: EntryList): RuleHost {
  if (text === '') return no('it names no host');
  if (text.includes('%')) return no('escapes and zone ids have no place in a host');
  if (text === 'loopback' || text === 'private') return { kind: 'word', word: text };
  if (text.includes('/')) {
    const block = parseBlock(text);
    return block === undefined ? no(badBlock(text)) : { kind: 'block', block };
  }
  const address = parseAddress(text);
  if (address !== undefined) return { kind: 'block', block: blockAround(address, bitsOf(address.family)) };
  const wild = text.startsWith('*.');
  const bare = wild ? text.slice(2) : text;
  if (bare.includes('*')) return no('a wildcard stands for whole labels at the front: *.example.com');
  const host = canonicalEntryHost(bare);
  if (host === undefined) return no('it is not a host name, an IP address or a CIDR block');
  if (host.kind === 'address') {
    if (wild) return no('an address has no sub-domains');
    return { kind: 'block', block: blockAround(host.address, bitsOf(host.address.family)) };
  }
  refusePublicSuffix(host.text, wild, no, list);
  return { kind: wild ? 'subdomains' : 'name', name: host.text };
}

function badBlock(text: string): string {
  const [base = '', length = ''] = text.split('/');
  const address = parseAddress(base);
  if (address === undefined)
    return 'a path goes in the object form: {"host": …, "path": …}; a CIDR block is 10.0.0.0/8';
  const prefix = /^\d{1,3}$/.test(length) ? Number(length) : -1;
  if (prefix < 0 || prefix > bitsOf(address.family))
    return `the prefix length must be 0 to ${bitsOf(address.family)}`;
  return `it has bits behind the prefix; did you mean ${blockText(blockAround(address, prefix))}?`;
}

/**
 * `com` is no host, and `*.co.uk` allows everybody. Denying a whole top-level domain is sound, so that is let through; so is
 * the exact name of a private suffix (`s3.amazonaws.com` is a host).
 */
function refusePublicSuffix(name: string, wild: boolean, no: No, list: EntryList): void {
  const { publicSuffix, isIcann, isPrivate } = parsePublicSuffix(name, {
    allowPrivateDomains: true,
    validateHostname: false,
  });
  if (publicSuffix !== name) return;
  // `*.home.arpa` is one household's, for all that the list says.
  if (hasSpecialSuffix(name)) return;
  const listed = isIcann === true || (wild && isPrivate === true);
  if (listed && !(wild && list === 'deny')) no('it is a public suffix: name a host below it');
}

function parsePorts(value: unknown, entry: unknown, pointer: string): readonly PortRange[] {
  return Array.from(listOf(value, entry, `${pointer}/ports`, 'ports'), (port, i) => {
    const no = (why: string): never => refuse(entry, `${pointer}/ports/${i}`, why);
    return typeof port === 'number' || typeof port === 'string'
      ? parsePortRange(String(port), no)
      : no('a port is a number or a "from-to" string');
  });
}

function parsePath(value: unknown, entry: unknown, pointer: string): string {
  const no = (why: string): never => refuse(entry, `${pointer}/path`, why);
  if (typeof value !== 'string' || !value.startsWith('/')) return no('a path begins with /');
  if (value.length > 2048) return no('the path is too long');
  if (/[\s?#\\]/.test(value) || hasControl(value)) {
    return no('a path has no white space, query, fragment or backslash');
  }
  return value.isWellFormed() ? encodedPattern(value) : no('the path is not well-formed Unicode');
}

function parseMethods(value: unknown, entry: unknown, pointer: string): readonly string[] {
  const methods = listOf(value, entry, `${pointer}/methods`, 'methods').map((method, i) =>
    typeof method === 'string' && /^[A-Za-z][A-Za-z-]{0,31}$/.test(method)
      ? method.toUpperCase()
      : refuse(entry, `${pointer}/methods/${i}`, 'a method is a word such as GET'),
  );
  return Object.freeze(methods);
}

function parseResolvesTo(
  value: unknown,
  base: HostPart,
  entry: unknown,
  pointer: string,
  list: EntryList,
): Pick<Rule, 'resolvesTo' | 'resolvesToText'> {
  const at = `${pointer}/resolvesTo`;
  if (list === 'deny') refuse(entry, at, 'resolvesTo belongs to allow rules; deny the address itself');
  if (base.host.kind !== 'name' && base.host.kind !== 'subdomains') refuse(entry, at, 'only a name resolves');
  const items = listOf(value, entry, at, 'resolvesTo').map((item, i) =>
    parseAnswerBlock(item, entry, `${at}/${i}`),
  );
  return {
    resolvesTo: Object.freeze(items.flatMap(({ blocks }) => blocks)),
    resolvesToText: Object.freeze(items.map(({ text }) => text)),
  };
}

function parseAnswerBlock(
  item: unknown,
  entry: unknown,
  pointer: string,
): { blocks: readonly Block[]; text: string } {
  if (item === 'loopback' || item === 'private') return { blocks: wordBlocks(item), text: item };
  const address = typeof item === 'string' ? parseAddress(item) : undefined;
  const block = address === undefined ? undefined : blockAround(address, bitsOf(address.family));
  const found = block ?? (typeof item === 'string' ? parseBlock(item) : undefined);
  if (found === undefined)
    return refuse(entry, pointer, 'resolvesTo lists IPs, CIDR blocks, loopback or private');
  return { blocks: [found], text: blockText(found) };
}

function listOf(value: unknown, entry: unknown, pointer: string, name: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0)
    return refuse(entry, pointer, `${name} is a list that is not empty`);
  return value.length > 1000 ? refuse(entry, pointer, `${name} has more than 1000 items`) : value;
}

/** JSON's idea of an object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hostName(host: RuleHost): string {
  if (host.kind === 'block') return blockText(host.block);
  if (host.kind === 'word') return host.word;
  return host.kind === 'name' ? host.name : `*.${host.name}`;
}

function portText({ from, to }: PortRange): string {
  return from === to ? String(from) : `${from}-${to}`;
}

function hasControl(text: string): boolean {
  return [...text].some((char) => char < ' ' || char === '\u007f');
}

/** At most 200 characters of JSON, for an error; whatever the value is. */
function printable(value: unknown): string {
  const text = typeof value === 'string' ? value : jsonOf(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    // A circle, a BigInt: nothing that JSON could have delivered.
    return typeof value;
  }
}
