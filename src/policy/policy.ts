import { AirlockError, messageOf } from '../errors.ts';
import { type Block, blockText, nat64Lengths, parseBlock } from './address.ts';
import { targetOf } from './canonical.ts';
import { type EntryInput, type EntryList, isRecord, parseEntry, refuse } from './entry.ts';
import type { Rule } from './rule.ts';

/** `public`: every public address. `allowlist`: only what `allow` names. */
export type Mode = 'public' | 'allowlist';

/** Kinds of sub-resource that can be blocked: those that interception can tell apart (`intercept.ts`). */
export const blockTypes = [
  'image',
  'media',
  'font',
  'stylesheet',
  'script',
  'xhr',
  'fetch',
  'eventsource',
  'ping',
  'cspviolationreport',
  'other',
] as const;

export type BlockType = (typeof blockTypes)[number];

/** A policy as JSON. Every member is optional; a session that omits one keeps what the service's policy has. */
export interface PolicyInput {
  readonly mode?: Mode;
  /** Opens what the mode or the address class would refuse. In mode `allowlist`, all that is open. */
  readonly allow?: readonly EntryInput[];
  /** Refused, whatever `allow` says. */
  readonly deny?: readonly EntryInput[];
  readonly block?: readonly BlockType[];
  readonly guard?: GuardInput;
  /** Schemes a top-level navigation may use beside http and https. */
  readonly schemes?: readonly 'data'[];
  /**
   * NAT64 prefixes of this network (RFC 6052; `64:ff9b::/96` where the well-known one is in use). An address behind one is
   * judged by the IPv4 address that it carries. The service's policy only.
   */
  readonly nat64?: readonly string[];
}

/** An HTTP endpoint that is asked about what the rules allow. */
export interface GuardInput {
  readonly url: string;
  /** Milliseconds, 1 to 30 000; 2 000 when absent. No answer in time is a deny. */
  readonly timeoutMs?: number;
}

export interface Guard {
  readonly url: string;
  readonly timeoutMs: number;
  /** Who named it. A session's guard is a destination like any other: the service's policy must allow it. */
  readonly from: 'service' | 'session';
}

/** One set of rules. A request must pass every layer of a policy. */
export interface Layer {
  readonly mode: Mode;
  /** Absent: this layer only denies. */
  readonly allow?: readonly Rule[];
  readonly deny: readonly Rule[];
}

/** A parsed policy; frozen, plain data. */
export interface Policy {
  /** The stricter of its layers. */
  readonly mode: Mode;
  readonly layers: readonly Layer[];
  readonly block: readonly BlockType[];
  readonly schemes: readonly 'data'[];
  readonly nat64: readonly Block[];
  /** All of them must allow. */
  readonly guards: readonly Guard[];
  /** What was given and what was left out, for `narrowPolicy`. */
  readonly given: { readonly mode: boolean; readonly allow: boolean; readonly schemes: boolean };
}

/** A policy for people to read. A policy of one layer is valid input again. */
export interface PolicyJson {
  readonly mode: Mode;
  readonly allow?: readonly EntryInput[];
  readonly deny?: readonly EntryInput[];
  /** When the policy was narrowed: a request must pass each of these, the service's first. */
  readonly layers?: readonly LayerJson[];
  readonly block: readonly BlockType[];
  readonly schemes: readonly 'data'[];
  readonly nat64?: readonly string[];
  readonly guard?: GuardInput;
  readonly guards?: readonly GuardInput[];
}

export interface LayerJson {
  readonly mode: Mode;
  /** Absent: this layer only denies. */
  readonly allow?: readonly EntryInput[];
  readonly deny: readonly EntryInput[];
}

const maxEntries = 50_000;
/** Of all path patterns of a list together, in characters: the work that one decision can be made to do. */
const maxPathText = 256 * 1024;
/** Narrowing again and again must end somewhere; a session narrows once or twice. */
const maxLayers = 32;

/** Public addresses, nothing special, no rules. */
export function defaultPolicy(): Policy {
  return parsePolicy({});
}

/**
 * Checks and freezes a policy. Throws `invalid_policy` with `{entry, pointer}`: the entry as it was given and its JSON
 * Pointer (RFC 6901).
 */
export function parsePolicy(input: unknown): Policy {
  try {
    return parse(input);
  } catch (error) {
    if (error instanceof AirlockError) throw error;
    // A getter that throws, a revoked proxy: not JSON, still the caller's fault.
    throw new AirlockError('invalid_policy', `the policy cannot be read: ${messageOf(error)}`, {
      cause: error,
      extra: { entry: typeof input, pointer: '' },
    });
  }
}

/**
 * The service's policy: the policy file with the entries of `--allow` and `--deny` added. An entry that begins with `{` is
 * the object form in JSON. Throws `invalid_policy`.
 */
export function policyFromFlags(flags: {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly file?: unknown;
}): Policy {
  const base = parsePolicy(flags.file ?? {});
  const layer = base.layers[0];
  const allow = (flags.allow ?? []).map((text) => parseFlag(text, 'allow'));
  const deny = (flags.deny ?? []).map((text) => parseFlag(text, 'deny'));
  return freeze({
    ...base,
    layers: [
      {
        mode: base.mode,
        allow: [...(layer?.allow ?? []), ...allow],
        deny: [...(layer?.deny ?? []), ...deny],
      },
    ],
    given: { ...base.given, allow: base.given.allow || allow.length > 0 },
  });
}

/**
 * The policy of a session under the service's: a request must pass both. Entries are not merged but kept as layers, so that
 * an intersection is one by construction. What `inner` leaves out it does not restrict. Throws `invalid_policy` when a
 * policy was narrowed too many times.
 */
export function narrowPolicy(ceiling: Policy, inner: Policy): Policy {
  if (inner.nat64.length > 0)
    refuse('nat64', '/nat64', "it belongs to the service's policy, a session cannot set it");
  const mode = ceiling.mode === 'allowlist' ? 'allowlist' : inner.mode;
  // Without a list of its own, a stricter mode means the lists that are there.
  const tighten = !inner.given.allow && ceiling.mode !== mode;
  const kept = tighten ? ceiling.layers.map((layer) => ({ ...layer, mode })) : ceiling.layers;
  const own = (layer: Layer): Layer => {
    if (!inner.given.allow) return { mode, deny: layer.deny };
    // A list given under an allowlist is one; a policy that was narrowed before has settled its modes.
    return inner.layers.length === 1 ? { ...layer, mode } : layer;
  };
  const added = inner.layers.map(own).filter((layer) => layer.allow !== undefined || layer.deny.length > 0);
  const layers = [...kept, ...added];
  if (layers.length > maxLayers) refuse({}, '', `a policy can be narrowed ${maxLayers - 1} times`);
  return freeze({
    mode,
    layers,
    block: [...new Set([...ceiling.block, ...inner.block])],
    schemes: inner.given.schemes
      ? ceiling.schemes.filter((scheme) => inner.schemes.includes(scheme))
      : ceiling.schemes,
    nat64: ceiling.nat64,
    guards: [...ceiling.guards, ...inner.guards.map((guard) => ({ ...guard, from: 'session' as const }))],
    given: { mode: true, allow: true, schemes: true },
  });
}

/** The policy as JSON, entries in canonical form. Queries of guard URLs are left out: they may hold a token. */
export function policyToJson(policy: Policy): PolicyJson {
  const layers = policy.layers.map((layer) => ({
    mode: layer.mode,
    ...(layer.allow === undefined ? {} : { allow: layer.allow.map(entryOf) }),
    deny: layer.deny.map(entryOf),
  }));
  const guards = policy.guards.map(({ url, timeoutMs }) => ({ url: url.replace(/\?.*$/, ''), timeoutMs }));
  const [layer] = layers;
  const [guard] = guards;
  return {
    mode: policy.mode,
    ...(layer !== undefined && layers.length === 1 ? layer : { layers }),
    block: policy.block,
    schemes: policy.schemes,
    ...(policy.nat64.length === 0 ? {} : { nat64: policy.nat64.map(blockText) }),
    ...(guard === undefined ? {} : guards.length === 1 ? { guard } : { guards }),
  };
}

function parse(input: unknown): Policy {
  if (!isRecord(input)) return refuse(input, '', 'a policy is a JSON object');
  for (const key of Object.keys(input)) {
    if (!policyKeys.has(key)) refuse(key, `/${pointerToken(key)}`, 'it is no member of a policy');
  }
  const mode = input['mode'] === undefined ? 'public' : parseMode(input['mode']);
  const guard = input['guard'] === undefined ? undefined : parseGuard(input['guard']);
  return freeze({
    mode,
    layers: [{ mode, allow: parseList(input, 'allow'), deny: parseList(input, 'deny') }],
    block: parseBlockTypes(input['block']),
    schemes: parseSchemes(input['schemes']),
    nat64: parseNat64(input['nat64']),
    guards: guard === undefined ? [] : [guard],
    given: {
      mode: input['mode'] !== undefined,
      allow: input['allow'] !== undefined,
      schemes: input['schemes'] !== undefined,
    },
  });
}

const policyKeys: ReadonlySet<string> = new Set([
  'mode',
  'allow',
  'deny',
  'block',
  'guard',
  'schemes',
  'nat64',
]);

function parseMode(value: unknown): Mode {
  return value === 'public' || value === 'allowlist'
    ? value
    : refuse(value, '/mode', 'mode is public or allowlist');
}

function parseList(input: Readonly<Record<string, unknown>>, list: EntryList): readonly Rule[] {
  const value = input[list];
  if (value === undefined) return [];
  if (!Array.isArray(value)) return refuse(value, `/${list}`, `${list} is a list of entries`);
  if (value.length > maxEntries)
    refuse(value.length, `/${list}`, `${list} has more than ${maxEntries} entries`);
  const rules = Array.from(value, (entry: unknown, i) => parseEntry(entry, `/${list}/${i}`, list));
  const pathText = rules.reduce((sum, { path = '' }) => sum + path.length, 0);
  return pathText > maxPathText
    ? refuse(value.length, `/${list}`, 'the paths are too long, all in all')
    : rules;
}

function parseBlockTypes(value: unknown): readonly BlockType[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return refuse(value, '/block', 'block is a list of resource types');
  const found = Array.from(value, (item: unknown, i) => {
    const type =
      typeof item === 'string' ? blockTypes.find((known) => known === item.toLowerCase()) : undefined;
    return type ?? refuse(item, `/block/${i}`, `a resource type is one of ${blockTypes.join(', ')}`);
  });
  return [...new Set(found)];
}

function parseSchemes(value: unknown): readonly 'data'[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return refuse(value, '/schemes', 'schemes is a list');
  const found = Array.from(value, (item: unknown, i): 'data' =>
    item === 'data' ? item : refuse(item, `/schemes/${i}`, 'the only scheme that can be added is data'),
  );
  return [...new Set(found)];
}

function parseNat64(value: unknown): readonly Block[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return refuse(value, '/nat64', 'nat64 is a list of prefixes');
  return Array.from(value, (item: unknown, i) => {
    const block = typeof item === 'string' ? parseBlock(item) : undefined;
    const usable = block?.family === 6 && nat64Lengths.includes(block.prefix);
    return usable
      ? block
      : refuse(item, `/nat64/${i}`, `it is no IPv6 prefix of length ${nat64Lengths.join(', ')}`);
  });
}

function parseGuard(value: unknown): Guard {
  if (!isRecord(value)) return refuse(value, '/guard', 'guard is an object with url');
  for (const key of Object.keys(value)) {
    if (key !== 'url' && key !== 'timeoutMs')
      refuse(key, `/guard/${pointerToken(key)}`, 'it is no member of a guard');
  }
  const { url, timeoutMs = 2000 } = value;
  const parsed = typeof url === 'string' ? URL.parse(url) : null;
  if (parsed === null || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) {
    return refuse(url, '/guard/url', 'the guard needs an http or https URL');
  }
  // Never print the URL here: it holds a secret.
  if (parsed.username !== '' || parsed.password !== '')
    return refuse('', '/guard/url', 'it has credentials in it');
  if (typeof timeoutMs !== 'number' || !Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > 30_000) {
    return refuse(timeoutMs, '/guard/timeoutMs', 'timeoutMs is 1 to 30000');
  }
  if (typeof targetOf(parsed, parsed.protocol === 'https:' ? 'https' : 'http') === 'string') {
    return refuse(url, '/guard/url', 'it has no usable host');
  }
  return { url: parsed.href, timeoutMs, from: 'service' };
}

function parseFlag(text: string, list: EntryList): Rule {
  const pointer = `--${list}`;
  if (!text.startsWith('{')) return parseEntry(text, pointer, list);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuse(text, pointer, `it is not JSON: ${messageOf(error)}`);
  }
  return parseEntry(value, pointer, list);
}

function entryOf(rule: Rule): EntryInput {
  const { ports, path, methods, resolvesToText } = rule;
  const many = ports !== undefined && ports.length > 1;
  if (!many && path === undefined && methods === undefined && resolvesToText === undefined)
    return rule.hostText;
  return {
    host: rule.hostText,
    ...(many ? { ports: ports.map(({ from, to }) => (from === to ? from : `${from}-${to}`)) } : {}),
    ...(path === undefined ? {} : { path }),
    ...(methods === undefined ? {} : { methods }),
    ...(resolvesToText === undefined ? {} : { resolvesTo: resolvesToText }),
  };
}

/** RFC 6901, section 3. */
function pointerToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function freeze(policy: Policy): Policy {
  for (const layer of policy.layers) {
    if (layer.allow !== undefined) Object.freeze(layer.allow);
    Object.freeze(layer.deny);
    Object.freeze(layer);
  }
  for (const guard of policy.guards) Object.freeze(guard);
  for (const part of [policy.layers, policy.block, policy.schemes, policy.nat64, policy.guards, policy.given])
    Object.freeze(part);
  return Object.freeze(policy);
}
