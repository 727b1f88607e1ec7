import type { BlockType, Policy } from './policy.ts';
import type { Rule } from './rule.ts';

/** A pattern of CDP `Fetch.enable`; `*` stands for any run of characters. */
export interface InterceptPattern {
  readonly urlPattern: string;
  /** A CDP `Network.ResourceType`; absent: every type. */
  readonly resourceType?: string;
}

/**
 * What each kind is called when a request is paused. Chromium 156 pauses `fetch()`, `XMLHttpRequest` and `EventSource`
 * alike as `XHR`: a policy that blocks `xhr` or `fetch` blocks all three, and `eventsource` those that ask for an event
 * stream. What it cannot tell from other traffic at all (text tracks, manifests, prefetches) is no kind that can be blocked.
 */
const cdpTypes: Readonly<Record<BlockType, string>> = {
  image: 'Image',
  media: 'Media',
  font: 'Font',
  stylesheet: 'Stylesheet',
  script: 'Script',
  xhr: 'XHR',
  fetch: 'XHR',
  eventsource: 'XHR',
  ping: 'Ping',
  cspviolationreport: 'CSPViolationReport',
  other: 'Other',
};

/** Past this many hosts, intercepting everything costs less than matching. */
const maxPatterns = 64;

/** What is intercepted wherever anything is: documents, so that none passes unjudged, and what never reaches the floor. */
const always: readonly InterceptPattern[] = [
  { urlPattern: '*', resourceType: 'Document' },
  { urlPattern: 'file:*' },
  { urlPattern: 'ftp:*' },
];

/**
 * Can the policy tell two URLs of one host and port apart? Rules with a scheme, a path or methods can, `block` can, and so
 * can a guard, which is told the URL. All else the floor decides alike, for it sees the host and the port.
 */
export function requiresInterception(policy: Policy): boolean {
  return policy.guards.length > 0 || policy.block.length > 0 || rulesOf(policy).some(seesMoreThanHost);
}

/**
 * What Chrome is told to hold until it is judged; nothing where the floor decides alike, because Chrome leads every request of a
 * page through the DevTools agent as soon as one is intercepted (measured on 156: a page of 100 parts takes a quarter
 * longer). The patterns may match too much, never too little: each request that is paused is judged by `decideUrl` and
 * `blockedAs`.
 */
export function interceptPatterns(policy: Policy): readonly InterceptPattern[] {
  if (!requiresInterception(policy)) return [];
  const urls = new Set(rulesOf(policy).filter(seesParts).map(urlPatternOf));
  if (urls.has('*') || urls.size > maxPatterns) return [{ urlPattern: '*' }];
  return [
    ...always,
    ...[...urls].map((urlPattern) => ({ urlPattern })),
    ...[...new Set(policy.block.map((type) => cdpTypes[type]))].map((resourceType) => ({
      urlPattern: '*',
      resourceType,
    })),
  ];
}

/** A paused request, as far as its kind shows. */
export interface PausedKind {
  /** CDP `Network.ResourceType`. */
  readonly resourceType: string;
  /** Its `Accept` header, which no page can change for an `EventSource`. */
  readonly accept?: string | undefined;
}

/** The kind by which the policy blocks this request; `undefined` when it does not. */
export function blockedAs(policy: Policy, request: PausedKind): BlockType | undefined {
  return policy.block.find(
    (type) =>
      cdpTypes[type] === request.resourceType &&
      (type !== 'eventsource' || request.accept === 'text/event-stream'),
  );
}

function rulesOf(policy: Policy): readonly Rule[] {
  return policy.layers.flatMap((layer) => [...(layer.allow ?? []), ...layer.deny]);
}

/** Is the rule about more of a sub-resource than where it comes from? */
function seesParts(rule: Rule): boolean {
  return rule.path !== undefined || rule.methods !== undefined;
}

function seesMoreThanHost(rule: Rule): boolean {
  return rule.scheme !== undefined || seesParts(rule);
}

/** Canonical hosts are what Chrome's URLs contain; a block of addresses has no common text. */
function urlPatternOf({ host }: Rule): string {
  return host.kind === 'name' || host.kind === 'subdomains' ? `*${host.name}*` : '*';
}
