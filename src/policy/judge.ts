import { type Address, type AddressClass, classOf, embeddedIn } from './address.ts';
import type { Host } from './canonical.ts';
import { allow, type Decision, deny, type Reason } from './decision.ts';
import { isClosedAddress, isMetadataAddress, isMetadataName } from './metadata.ts';
import type { Layer } from './policy.ts';
import { admits, mayResolveTo, type Rule, type RuleQuery, refuses } from './rule.ts';
import { RuleIndex } from './rule-index.ts';
import { classOfName, isBrowserService, isLoopbackAlias } from './special-names.ts';

/** The rules of one layer, indexed once. */
export interface LayerIndex {
  readonly mode: Layer['mode'];
  readonly allow: RuleIndex | undefined;
  readonly deny: RuleIndex;
}

const indexes = new WeakMap<Layer, LayerIndex>();

/** The index of a layer; layers are frozen, so it is made once. */
export function indexOf(layer: Layer): LayerIndex {
  let index = indexes.get(layer);
  if (index === undefined) {
    index = {
      mode: layer.mode,
      allow: layer.allow === undefined ? undefined : new RuleIndex(layer.allow),
      deny: new RuleIndex(layer.deny),
    };
    indexes.set(layer, index);
  }
  return index;
}

/** What no rule can lift: metadata services, by name or address, and the blocks they move about in. */
export function metadataFloor(host: Host): Decision | undefined {
  if (host.kind === 'name') return isMetadataName(host.text) ? deny('metadata') : undefined;
  return addressFloor(host.address);
}

/** `metadataFloor` for an address that a name resolved to. */
export function addressFloor(address: Address): Decision | undefined {
  if (isMetadataAddress(address)) return deny('metadata', { address: address.text });
  if (!isClosedAddress(address)) return undefined;
  return deny(refusalOf(address, classOf(address)), { address: address.text });
}

/** The verdict of one layer on a host. An allow of a name says only that it may be looked up. */
export function judgeHost(layer: LayerIndex, host: Host, query: RuleQuery): Decision {
  return host.kind === 'address'
    ? judgeLiteral(layer, host.address, query)
    : judgeName(layer, host.text, query);
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

function judgeLiteral(layer: LayerIndex, address: Address, query: RuleQuery): Decision {
  const at = address.text;
  const denied = denyingRule(layer, address, query);
  if (denied !== undefined) return deny('rule', { rule: denied.text, address: at });
  const allowing = layer.allow;
  if (allowing === undefined) return allow({ address: at });
  const ruleFor = (one: Address) => allowing.forAddress(one).find((rule) => admits(rule, query));
  const rule = ruleFor(address);
  const cls = classOf(address);
  if (cls === 'ok' && rule === undefined && layer.mode === 'allowlist')
    return deny('not-allowlisted', { address: at });
  return withCarried(address, cls, (one) => ruleFor(one) !== undefined, rule);
}

/** The verdict of one layer on an address that a name resolved to. The layer has let the name itself through. */
export function judgeAnswer(layer: LayerIndex, name: string, address: Address, query: RuleQuery): Decision {
  const at = address.text;
  const denied = denyingRule(layer, address, query);
  if (denied !== undefined) return deny('rule', { rule: denied.text, address: at });
  if (layer.allow === undefined) return allow({ address: at });
  const rules = layer.allow.forName(name).filter((rule) => admits(rule, query));
  const loopbackNamed = rules.length > 0 && isLoopbackAlias(name);
  const lifts = (one: Address) =>
    rules.some((rule) => mayResolveTo(rule, one)) || (loopbackNamed && classOf(one) === 'loopback');
  return withCarried(address, classOf(address), lifts, rules[0]);
}

/**
 * An address outside plain public space passes only if it was lifted, and so must every IPv4 that it carries, unless that
 * one is public.
 */
function withCarried(
  address: Address,
  cls: AddressClass,
  lifted: (one: Address) => boolean,
  rule: Rule | undefined,
): Decision {
  const detail = { rule: rule?.text, address: address.text };
  if (cls !== 'ok' && !lifted(address)) return deny(cls, { address: address.text });
  for (const inner of embeddedIn(address)) {
    const carried = classOf(inner.address);
    if (inner.guess || carried === 'ok' || lifted(inner.address)) continue;
    return deny(refusalOf(address, carried), { address: address.text });
  }
  return allow(detail);
}

/** The class of the address if it has one, else that of what it carries (ISATAP under a public prefix). */
function refusalOf(address: Address, carried: AddressClass): Exclude<Reason, 'ok'> {
  const own = classOf(address);
  if (own !== 'ok') return own;
  return carried === 'ok' ? 'reserved' : carried;
}

function denyingRule(layer: LayerIndex, address: Address, query: RuleQuery): Rule | undefined {
  const about = (one: Address) => layer.deny.forAddress(one).find((rule) => refuses(rule, query));
  const own = about(address);
  if (own !== undefined) return own;
  for (const inner of embeddedIn(address)) {
    const carried = about(inner.address);
    if (carried !== undefined) return carried;
  }
  return undefined;
}
