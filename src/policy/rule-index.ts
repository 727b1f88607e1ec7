import { type Address, type Block, bitsOf } from './address.ts';
import type { Layer } from './policy.ts';
import type { Rule } from './rule.ts';
import { isLocalhost } from './special-names.ts';
import { wordBlocks } from './words.ts';

const none: readonly Rule[] = [];

/** The rules of one layer, ready for look-ups. */
export interface LayerIndex {
  readonly mode: Layer['mode'];
  /** Absent: the layer only denies. */
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

/** Finds the rules about a host without going through all of them; the most specific come first. */
export class RuleIndex {
  readonly #names = new Map<string, Rule[]>();
  readonly #subdomains = new Map<string, Rule[]>();
  /** The word `loopback` covers localhost, which is loopback by definition and not by what DNS says. */
  readonly #localhost: Rule[] = [];
  /** By family and prefix length, longest first; then by the bits of the prefix. */
  readonly #blocks: { family: 4 | 6; prefix: number; rules: Map<bigint, Rule[]> }[] = [];

  constructor(rules: readonly Rule[]) {
    for (const rule of rules) this.#add(rule);
    this.#blocks.sort((a, b) => b.prefix - a.prefix);
  }

  /** The rules about a canonical name. */
  forName(name: string): readonly Rule[] {
    const exact = this.#names.get(name);
    let found = exact;
    if (this.#subdomains.size > 0) {
      for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
        const wild = this.#subdomains.get(name.slice(dot + 1));
        if (wild !== undefined) found = found === undefined ? wild : [...found, ...wild];
      }
    }
    if (this.#localhost.length > 0 && isLocalhost(name)) found = [...(found ?? none), ...this.#localhost];
    return found ?? none;
  }

  /** The rules about an address. */
  forAddress(address: Address): readonly Rule[] {
    let found: readonly Rule[] = none;
    for (const { family, prefix, rules } of this.#blocks) {
      if (family !== address.family) continue;
      const hit = rules.get(address.value >> BigInt(bitsOf(family) - prefix));
      if (hit !== undefined) found = found === none ? hit : [...found, ...hit];
    }
    return found;
  }

  #add(rule: Rule): void {
    const { host } = rule;
    if (host.kind === 'name') push(this.#names, host.name, rule);
    else if (host.kind === 'subdomains') push(this.#subdomains, host.name, rule);
    else if (host.kind === 'block') this.#addBlock(host.block, rule);
    else {
      for (const block of wordBlocks(host.word)) this.#addBlock(block, rule);
      if (host.word === 'loopback') this.#localhost.push(rule);
    }
  }

  #addBlock({ family, prefix, key }: Block, rule: Rule): void {
    let group = this.#blocks.find((one) => one.family === family && one.prefix === prefix);
    if (group === undefined) {
      group = { family, prefix, rules: new Map() };
      this.#blocks.push(group);
    }
    push(group.rules, key, rule);
  }
}

function push<K>(map: Map<K, Rule[]>, key: K, rule: Rule): void {
  const rules = map.get(key);
  if (rules === undefined) map.set(key, [rule]);
  else rules.push(rule);
}
