import type { EntryInput } from './entry.ts';
import type { BlockType, GuardInput, Mode, Policy } from './policy.ts';
import type { Rule } from './rule.ts';

/** A policy for people to read. A policy of one layer is valid input again. */
export interface PolicyJson {
  readonly mode: Mode;
  readonly allow?: readonly EntryInput[];
  readonly deny?: readonly EntryInput[];
  /** When the policy was narrowed: a request must pass each of these, the service's first. */
  readonly layers?: readonly LayerJson[];
  readonly block: readonly BlockType[];
  readonly schemes: readonly 'data'[];
  readonly guard?: GuardInput;
  readonly guards?: readonly GuardInput[];
}

export interface LayerJson {
  readonly mode: Mode;
  /** Absent: this layer only denies. */
  readonly allow?: readonly EntryInput[];
  readonly deny: readonly EntryInput[];
}

/** The policy as JSON, entries in canonical form. */
export function policyToJson(policy: Policy): PolicyJson {
  const layers = policy.layers.map((layer) => ({
    mode: layer.mode,
    ...(layer.allow === undefined ? {} : { allow: layer.allow.map(entryOf) }),
    deny: layer.deny.map(entryOf),
  }));
  const guards = policy.guards.map(({ url, timeoutMs }) => ({ url, timeoutMs }));
  const [layer] = layers;
  const [guard] = guards;
  return {
    mode: policy.mode,
    ...(layer !== undefined && layers.length === 1 ? layer : { layers }),
    block: policy.block,
    schemes: policy.schemes,
    ...(guard === undefined ? {} : guards.length === 1 ? { guard } : { guards }),
  };
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
