import type { Address, Block } from './address.ts';
import { inBlock } from './address.ts';
import type { NetworkScheme } from './canonical.ts';
import { pathMatches } from './path-glob.ts';

export interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** Which hosts a rule is about. */
export type RuleHost =
  | { readonly kind: 'name'; readonly name: string }
  /** Everything below `name`, not `name` itself. */
  | { readonly kind: 'subdomains'; readonly name: string }
  /** Literals only: a name that resolves into the block is not meant. */
  | { readonly kind: 'block'; readonly block: Block }
  | { readonly kind: 'word'; readonly word: 'loopback' | 'private' };

/** One entry of `allow` or `deny`, parsed. */
export interface Rule {
  /** As it is printed, in decisions and by `policyToJson`. */
  readonly text: string;
  /** The part of `text` that names scheme, host and one port range: the string form of an entry. */
  readonly hostText: string;
  readonly host: RuleHost;
  readonly scheme?: NetworkScheme;
  /** Absent: any port. */
  readonly ports?: readonly PortRange[];
  readonly path?: string;
  readonly methods?: readonly string[];
  /** Addresses beside the public ones that the name may resolve to. */
  readonly resolvesTo?: readonly Block[];
  /** `resolvesTo` as it was written. */
  readonly resolvesToText?: readonly string[];
}

/** What is known about a request. The floor knows the port only; scheme, path and method are known for URLs. */
export interface RuleQuery {
  readonly port: number;
  readonly url?: { readonly scheme: NetworkScheme; readonly path: string; readonly method: string };
}

/**
 * Does an allow rule admit the request, its host being a match? Where no URL is known, path and method are left to the
 * guard: the floor can only open the host for the sake of the paths that are allowed.
 */
export function admits(rule: Rule, query: RuleQuery): boolean {
  if (!portMatches(rule, query.port)) return false;
  const { url } = query;
  if (url === undefined) return true;
  if (!schemeMatches(rule, url.scheme) || rule.methods?.includes(url.method) === false) return false;
  // Every reading of the path must be one that is allowed.
  return rule.path === undefined || pathMatches(rule.path, url.path).every;
}

/** Does a deny rule refuse the request, its host being a match? Path and method rules refuse URLs only. */
export function refuses(rule: Rule, query: RuleQuery): boolean {
  if (!portMatches(rule, query.port)) return false;
  const { url } = query;
  if (url === undefined) return rule.path === undefined && rule.methods === undefined;
  if (!schemeMatches(rule, url.scheme) || rule.methods?.includes(url.method) === false) return false;
  return rule.path === undefined || pathMatches(rule.path, url.path).some;
}

/** Does the rule let its name resolve to this address? */
export function mayResolveTo(rule: Rule, address: Address): boolean {
  return rule.resolvesTo?.some((block) => inBlock(address, block)) === true;
}

function portMatches(rule: Rule, port: number): boolean {
  return rule.ports === undefined || rule.ports.some(({ from, to }) => port >= from && port <= to);
}

/** http and ws are one handshake, https and wss another; a proxy cannot tell them apart, so a rule does not either. */
function schemeMatches(rule: Rule, scheme: NetworkScheme): boolean {
  return rule.scheme === undefined || isSecure(rule.scheme) === isSecure(scheme);
}

function isSecure(scheme: NetworkScheme): boolean {
  return scheme === 'https' || scheme === 'wss';
}
