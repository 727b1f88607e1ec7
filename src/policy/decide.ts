import { type Address, parseAddress } from './address.ts';
import { canonicalHost, type Host, isNetworkScheme, parseUrl, type Target, targetOf } from './canonical.ts';
import { allow, type Decision, deny, type Reason } from './decision.ts';
import { addressFloor, type Basis, judgeAnswer, judgeHost, metadataFloor } from './judge.ts';
import { Memo } from './memo.ts';
import { selfAndCarried } from './metadata.ts';
import type { Policy } from './policy.ts';
import { isUsablePort } from './ports.ts';
import type { RuleQuery } from './rule.ts';
import { indexOf } from './rule-index.ts';
import { isLocalhost } from './special-names.ts';

/** Knows which ports of this machine are this service's own: its API, every floor, any debugging port. */
export interface SelfCheck {
  /** @param host canonical: a name, or an address without brackets */
  isSelf(host: string, port: number): boolean;
}

export interface DecideContext {
  readonly self: SelfCheck;
}

/** `navigation`: a top-level document. `subframe`: a document in a frame. `subresource`: the rest, WebSockets included. */
export type UrlUse = 'navigation' | 'subframe' | 'subresource';

export interface UrlContext extends DecideContext {
  readonly use: UrlUse;
  /** GET when absent. */
  readonly method?: string;
}

/** A verdict on a host before DNS is asked. */
export interface HostDecision extends Decision {
  /** The host is a name that must be resolved, and each answer judged with `decideAll`. */
  readonly needsResolution: boolean;
  /** Canonical; what the resolver is to be asked for. Empty when the host cannot be read. */
  readonly host: string;
  /** What to dial, canonical, when allowed without DNS: the literal, or both loopbacks for localhost. */
  readonly addresses: readonly string[];
}

/** An answer without the part that can change: which ports are this service's own. */
interface Standing {
  /** Canonical; empty when it could not be read. */
  readonly host: string;
  /** The host, or the address and what it carries: none of them may be this service. */
  readonly selves: readonly string[];
  readonly port: number;
  /** Stands whatever the ports are. */
  readonly before: Decision | undefined;
  readonly after: Decision;
}

const loopbackAnswers = Object.freeze(['127.0.0.1', '::1']);

/**
 * Judges a URL. Pure and total: no I/O, no clock, and anything that goes wrong inside is a deny. An allow of a name is
 * not yet an allow of what it resolves to.
 */
export function decideUrl(raw: string, policy: Policy, context: UrlContext): Decision {
  try {
    const { use, method = 'GET' } = context;
    // Reads outnumber the rest; only they are worth remembering.
    if (method !== 'GET') return settle(standingOfUrl(raw, policy, use, method.toUpperCase()), context.self);
    const memo = memoOf(policy, use);
    let standing = memo.get(raw);
    if (standing === undefined) {
      standing = standingOfUrl(raw, policy, use, method);
      memo.set(raw, standing);
    }
    return settle(standing, context.self);
  } catch {
    return deny('internal');
  }
}

/** Judges the host and port of a SOCKS request, the host as raw as it came, before any DNS query. Pure and total. */
export function decideHost(host: string, port: number, policy: Policy, context: DecideContext): HostDecision {
  try {
    const memo = memoOf(policy, 'host');
    const key = `${port} ${host}`;
    let standing = memo.get(key);
    if (standing === undefined) {
      standing = standingOfHost(host, port, policy);
      memo.set(key, standing);
    }
    const decision = settle(standing, context.self);
    return withAnswers(decision, standing.host);
  } catch {
    return withAnswers(deny('internal'), '');
  }
}

/**
 * Judges one address that a host resolved to; a literal host is judged again as itself. Pure and total. An address that
 * cannot be read is a `dns-failure`.
 */
export function decideAddress(
  host: string,
  address: string,
  port: number,
  policy: Policy,
  context: DecideContext,
): Decision {
  try {
    const memo = memoOf(policy, 'address');
    const key = `${port} ${address} ${host}`;
    let standing = memo.get(key);
    if (standing === undefined) {
      standing = standingOfAnswer(host, address, port, policy);
      memo.set(key, standing);
    }
    return settle(standing, context.self);
  } catch {
    return deny('internal');
  }
}

/**
 * Judges all the addresses that a host resolved to, together: one that is refused refuses all, because the name's owner
 * chose the mix. `dns-rebinding` when others were acceptable; no answer at all is a `dns-failure`. The order of the
 * answers does not change the verdict. Pure and total.
 */
export function decideAll(
  host: string,
  addresses: readonly string[],
  port: number,
  policy: Policy,
  context: DecideContext,
): Decision {
  try {
    const decisions = addresses.map((address) => decideAddress(host, address, port, policy, context));
    const denials = decisions.filter(({ verdict }) => verdict !== 'allow');
    const first = denials[0];
    if (first === undefined) return decisions[0] ?? deny('dns-failure');
    const of = (reason: Reason) => denials.find((denial) => denial.reason === reason);
    // Half an answer is a failure, whatever the other half says.
    const failure = of('dns-failure');
    if (failure !== undefined) return failure;
    const worst = of('metadata') ?? first;
    return denials.length === decisions.length ? worst : deny('dns-rebinding', worst);
  } catch {
    return deny('internal');
  }
}

function settle(standing: Standing, self: SelfCheck): Decision {
  if (standing.before !== undefined) return standing.before;
  if (standing.selves.some((host) => self.isSelf(host, standing.port))) {
    // The unspecified address is refused as what it is, unless a rule had opened it.
    return standing.after.reason === 'unspecified' ? standing.after : deny('self');
  }
  return standing.after;
}

function standingOfUrl(raw: string, policy: Policy, use: UrlUse, method: string): Standing {
  const url = parseUrl(raw);
  if (url === undefined) return final(deny('invalid-url'));
  const scheme = url.protocol.slice(0, -1);
  if (!isNetworkScheme(scheme)) return standingOfOther(url, policy, use);
  // A navigation to a WebSocket is none; a frame neither.
  if (use !== 'subresource' && (scheme === 'ws' || scheme === 'wss')) return final(deny('scheme'));
  if (url.username !== '' || url.password !== '') return final(deny('userinfo'));
  const target = targetOf(url, scheme);
  if (typeof target === 'string') return final(deny(target));
  return standingOf(target.host, policy, queryOf(target, method));
}

/** URLs that do not lead to the network by themselves. */
function standingOfOther(url: URL, policy: Policy, use: UrlUse): Standing {
  const { protocol, pathname } = url;
  if (protocol === 'about:') {
    const harmless =
      pathname === 'blank' ? use !== 'subresource' : pathname === 'srcdoc' && use === 'subframe';
    return final(harmless ? allow() : deny('scheme'));
  }
  if (protocol === 'data:') {
    return final(use !== 'navigation' || policy.schemes.includes('data') ? allow() : deny('scheme'));
  }
  return protocol === 'blob:' && use !== 'navigation'
    ? standingOfBlob(pathname, policy)
    : final(deny('scheme'));
}

/** A blob belongs to the origin that made it, and has no path: what its origin may not be, it may not either. */
function standingOfBlob(inner: string, policy: Policy): Standing {
  const url = parseUrl(inner);
  const scheme = url?.protocol.slice(0, -1);
  if (url === undefined || (scheme !== 'http' && scheme !== 'https')) return final(deny('scheme'));
  if (url.username !== '' || url.password !== '') return final(deny('userinfo'));
  const target = targetOf(url, scheme);
  return typeof target === 'string'
    ? final(deny(target))
    : standingOf(target.host, policy, { port: target.port });
}

function standingOfHost(raw: string, port: number, policy: Policy): Standing {
  const host = canonicalHost(raw);
  return host === undefined ? final(deny('invalid-host')) : standingOf(host, policy, { port });
}

/** Metadata floor, then self (by the caller), then ports, then the layers. */
function standingOf(host: Host, policy: Policy, query: RuleQuery): Standing {
  const floor = metadataFloor(host, policy.nat64);
  if (floor !== undefined) return final(floor);
  const { port } = query;
  const after = throughLayers(policy, port, (basis) => judgeHost(basis, host, query));
  const selves = host.kind === 'name' ? [host.text] : selvesOf(host.address, policy);
  return { host: host.text, selves, port, before: undefined, after };
}

function standingOfAnswer(raw: string, text: string, port: number, policy: Policy): Standing {
  const host = canonicalHost(raw);
  if (host === undefined) return final(deny('invalid-host'));
  const address = parseAddress(text);
  if (address === undefined) return final(deny('dns-failure'));
  if (host.kind === 'address') {
    // A literal stands for itself and nothing else.
    return host.text === address.text ? standingOf(host, policy, { port }) : final(deny('internal'));
  }
  const floor = metadataFloor(host, policy.nat64) ?? addressFloor(address, policy.nat64);
  if (floor !== undefined) return final(floor);
  const query = { port };
  const after = throughLayers(policy, port, (basis) => {
    const named = judgeHost(basis, host, query);
    return named.verdict === 'allow' ? judgeAnswer(basis, host.text, address, query) : named;
  });
  return { host: host.text, selves: selvesOf(address, policy), port, before: undefined, after };
}

/** The port must be one that browsers use, and every layer must allow; the first that does not, decides. */
function throughLayers(policy: Policy, port: number, judge: (basis: Basis) => Decision): Decision {
  if (!isUsablePort(port)) return deny('port');
  let last: Decision | undefined;
  for (const layer of policy.layers) {
    const decision = judge({ layer: indexOf(layer), nat64: policy.nat64 });
    if (decision.verdict !== 'allow') return decision;
    if (last?.rule === undefined) last = decision;
  }
  // A policy without layers said nothing, and nothing is not a yes.
  return last ?? deny('internal');
}

function selvesOf(address: Address, policy: Policy): readonly string[] {
  return selfAndCarried(address, policy.nat64).map(({ text }) => text);
}

function queryOf(target: Target, method: string): RuleQuery {
  return { port: target.port, url: { scheme: target.scheme, path: target.path, method } };
}

function final(decision: Decision): Standing {
  return { host: '', selves: [], port: 0, before: decision, after: decision };
}

function withAnswers(decision: Decision, host: string): HostDecision {
  if (decision.verdict !== 'allow') return { ...decision, host, needsResolution: false, addresses: [] };
  if (isLocalhost(host)) return { ...decision, host, needsResolution: false, addresses: loopbackAnswers };
  const literal = parseAddress(host) !== undefined;
  return { ...decision, host, needsResolution: !literal, addresses: literal ? [host] : [] };
}

type Kind = UrlUse | 'host' | 'address';

const memos = new WeakMap<Policy, Record<Kind, Memo<Standing>>>();

/**
 * Answers that a policy has given. They depend on policy and key only, so remembering them changes nothing. A page can
 * fill it: at most 2 × 512 keys of 512 characters of each kind.
 */
function memoOf(policy: Policy, kind: Kind): Memo<Standing> {
  let kinds = memos.get(policy);
  if (kinds === undefined) {
    const memo = () => new Memo<Standing>(512, 512);
    kinds = { navigation: memo(), subframe: memo(), subresource: memo(), host: memo(), address: memo() };
    memos.set(policy, kinds);
  }
  return kinds[kind];
}
