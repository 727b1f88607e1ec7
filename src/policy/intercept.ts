import type { BlockType, Policy } from './policy.ts';
import type { Rule } from './rule.ts';

/** A pattern of CDP `Fetch.enable`; `*` stands for any run of characters. */
export interface InterceptPattern {
  readonly urlPattern: string;
  /** A CDP `Network.ResourceType`; absent: every type. */
  readonly resourceType?: string;
}

const cdpTypes: Readonly<Record<BlockType, string>> = {
  image: 'Image',
  media: 'Media',
  font: 'Font',
  stylesheet: 'Stylesheet',
  script: 'Script',
  texttrack: 'TextTrack',
  xhr: 'XHR',
  fetch: 'Fetch',
  prefetch: 'Prefetch',
  eventsource: 'EventSource',
  manifest: 'Manifest',
  ping: 'Ping',
  cspviolationreport: 'CSPViolationReport',
  other: 'Other',
};

/** Past this many hosts, intercepting everything costs less than matching. */
const maxPatterns = 64;

/** Do the rules need sub-resources to be seen by URL? Only path rules, method rules and `block` do. */
export function requiresInterception(policy: Policy): boolean {
  return policy.block.length > 0 || urlRules(policy).length > 0;
}

/**
 * What to intercept beside documents, which the guard judges anyway. The patterns may match too much, never too little:
 * each request that is paused is judged by `decideUrl` and `isBlockedType`.
 */
export function interceptPatterns(policy: Policy): readonly InterceptPattern[] {
  const urls = new Set(urlRules(policy).map(urlPatternOf));
  if (urls.has('*') || urls.size > maxPatterns) return [{ urlPattern: '*' }];
  return [
    ...[...urls].map((urlPattern) => ({ urlPattern })),
    ...policy.block.map((type) => ({ urlPattern: '*', resourceType: cdpTypes[type] })),
  ];
}

/** Is this CDP `Network.ResourceType` blocked? */
export function isBlockedType(policy: Policy, resourceType: string): boolean {
  return policy.block.some((type) => cdpTypes[type] === resourceType);
}

function urlRules(policy: Policy): readonly Rule[] {
  return policy.layers
    .flatMap((layer) => [...(layer.allow ?? []), ...layer.deny])
    .filter((rule) => rule.path !== undefined || rule.methods !== undefined);
}

/** Canonical hosts are what Chrome's URLs contain; a block of addresses has no common text. */
function urlPatternOf({ host }: Rule): string {
  return host.kind === 'name' || host.kind === 'subdomains' ? `*${host.name}*` : '*';
}
