import { type Address, type AddressClass, type Block, classOf, embeddedIn, inBlock } from './address.ts';
import type { Host } from './canonical.ts';
import { allow, type Decision, deny, type Reason } from './decision.ts';
import { isClosedAddress, isMetadataAddress, isMetadataName, selfAndCarried } from './metadata.ts';
import { admits, mayResolveTo, type Rule, type RuleQuery, refuses } from './rule.ts';
import type { LayerIndex } from './rule-index.ts';
import { classOfName, isBrowserService, isLoopbackAlias } from './special-names.ts';

/** What a request is judged by: one layer of rules, and the network's own NAT64 prefixes. */
export interface Basis {
  readonly layer: LayerIndex;
  readonly nat64: readonly Block[];
}

/** What no rule can lift: metadata services, by name or address, and the blocks they move about in. */
export function metadataFloor(host: Host, nat64: readonly Block[]): Decision | undefined {
  if (host.kind === 'name') return isMetadataName(host.text) ? deny('metadata') : undefined;
  return addressFloor(host.address, nat64);
}

/** `metadataFloor` for an address that a name resolved to. */
export function addressFloor(address: Address, nat64: readonly Block[]): Decision | undefined {
  const detail = { address: address.text };
  if (isMetadataAddress(address, nat64)) return deny('metadata', detail);
  return isClosedAddress(address, nat64) ? deny(refusalOf(address, 'link-local'), detail) : undefined;
}

/** The verdict of one layer on a host. An allow of a name says only that it may be looked up. */
export function judgeHost(basis: Basis, host: Host, query: RuleQuery): Decision {
  return host.kind === 'address'
    ? judgeLiteral(basis, host.address, query)
    : judgeName(basis.layer, host.text, query);
}

function judgeName(layer: LayerIndex, name: string, query: RuleQuery): Decision {
  const denied = layer.deny.forName(name).find((rule) => refuses(rule, query));
  if (denied !== undefined) return deny('rule', { rule: denied.text });
  if (layer.allow === undefined) return allow();
  const rule = layer.allow.forName(name).find((one) => admits(one, query));
  if (rule !== undefined) return allow({ rule: rule.text });
  const cls = classOfName(name);
  if (cls !== 'ok') return deny(cls);
  if (layer.mode === 'allowlist') return deny('not-allowlisted');
  return isBrowserService(name) ? deny('rule', { rule: 'built in: services of the browser' }) : allow();
}

function judgeLiteral(basis: Basis, address: Address, query: RuleQuery): Decision {
  const { layer } = basis;
  const at = address.text;
  const denied = denyingRule(basis, address, query);
  if (denied !== undefined) return deny('rule', { rule: denied.text, address: at });
  const allowing = layer.allow;
  if (allowing === undefined) return allow({ address: at });
  const ruleFor = (one: Address) => allowing.forAddress(one).find((rule) => admits(rule, query));
  const rule = ruleFor(address);
  const judged = judgeAddress(basis, address, rule, (one) => ruleFor(one) !== undefined);
  const unlisted = judged.verdict === 'allow' && rule === undefined && layer.mode === 'allowlist';
  return unlisted ? deny('not-allowlisted', { address: at }) : judged;
}

/** The verdict of one layer on an address that a name resolved to. The layer has let the name itself through. */
export function judgeAnswer(basis: Basis, name: string, address: Address, query: RuleQuery): Decision {
  const { layer } = basis;
  const denied = denyingRule(basis, address, query);
  if (denied !== undefined) return deny('rule', { rule: denied.text, address: address.text });
  if (layer.allow === undefined) return allow({ address: address.text });
  const rules = layer.allow.forName(name).filter((rule) => admits(rule, query));
  const loopbackNamed = rules.length > 0 && isLoopbackAlias(name);
  return judgeAddress(
    basis,
    address,
    rules[0],
    (one) => rules.some((rule) => mayResolveTo(rule, one)) || (loopbackNamed && classOf(one) === 'loopback'),
  );
}

/**
 * An address outside plain public space passes only if it was lifted; and so must every IPv4 that it carries, unless that one
 * is public.
 */
function judgeAddress(
  { nat64 }: Basis,
  address: Address,
  rule: Rule | undefined,
  lifted: (one: Address) => boolean,
): Decision {
  const at = address.text;
  // Behind a declared NAT64 prefix lies the IPv4 Internet: what counts is the address that is carried.
  const cls: AddressClass = nat64.some((block) => inBlock(address, block)) ? 'ok' : classOf(address);
  if (cls !== 'ok' && !lifted(address)) return deny(cls, { address: at });
  for (const inner of embeddedIn(address, nat64)) {
    const carried = classOf(inner.address);
    if (inner.guess || carried === 'ok' || lifted(inner.address)) continue;
    return deny(refusalOf(address, carried), { address: at });
  }
  return allow({ rule: rule?.text, address: at });
}

/** The class of the address if it has one, else that of what it carries (ISATAP or NAT64 in public space). */
function refusalOf(address: Address, carried: Exclude<AddressClass, 'ok'>): Exclude<Reason, 'ok'> {
  const own = classOf(address);
  return own === 'ok' ? carried : own;
}

function denyingRule({ layer, nat64 }: Basis, address: Address, query: RuleQuery): Rule | undefined {
  for (const one of selfAndCarried(address, nat64)) {
    const found = layer.deny.forAddress(one).find((rule) => refuses(rule, query));
    if (found !== undefined) return found;
  }
  return undefined;
}
