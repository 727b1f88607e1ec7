import type { Cut } from './schema.ts';

/** Chrome's deep serialisation (that of WebDriver BiDi); its types lack `nodelist` and `htmlcollection`. */
export interface Deep {
  readonly type: string;
  readonly value?: unknown;
  readonly weakLocalObjectReference?: number;
}

/** More places than this are cut, but not listed. */
const MAX_CUTS = 100;

/** An object that the page knows and JSON cannot spell, found on the way; `details.ts` fills in the rest. */
export interface Leaf {
  readonly tag: Record<string, unknown>;
  /** Steps from the root: a member's name, an index, or an entry of a map or set. */
  readonly steps: readonly Step[];
  /** Of a DOM node. */
  readonly node?: { readonly backendNodeId: number; readonly loaderId: unknown };
  /** Says that something of it is missing. */
  note(cut: Omit<Cut, 'path'>): void;
}

export type Step = string | number | { readonly entry: number; readonly part?: 0 | 1 };

export interface Tagged {
  readonly value: unknown;
  /** Of the root, as Chrome names it. */
  readonly type: string;
  readonly cuts: Cut[];
  /** Errors, symbols, functions, typed arrays …: their type alone is known so far. */
  readonly leaves: Leaf[];
}

/** Where the walk is. */
interface Place {
  /** JSON pointer into the answer. */
  readonly path: string;
  readonly steps: readonly Step[];
  /** Objects that contain this one, by Chrome's reference number, with their pointers. */
  readonly above: ReadonlyMap<number, string>;
}

const LEAVES = new Set([
  'symbol',
  'function',
  'error',
  'typedarray',
  'arraybuffer',
  'platformobject',
  'promise',
  'proxy',
  'generator',
  'iterator',
  'weakmap',
  'weakset',
]);

/** Turns Chrome's deep serialisation into JSON with tags. `key` is that of the markers of `BOUNDED`. */
export class Tagger {
  readonly #key: string;
  readonly #cuts: Cut[] = [];
  readonly #leaves: Leaf[] = [];
  /** First occurrences of shared objects. */
  readonly #shared = new Map<number, Deep>();
  #left: number;

  /** @param maxNodes bound for what shared objects may unfold to */
  constructor(key: string, maxNodes: number) {
    this.#key = key;
    this.#left = maxNodes;
  }

  run(root: Deep): Tagged {
    const value = this.#value(root, { path: '', steps: [], above: new Map() });
    const marker = isEntryList(root.value) ? this.#marker(root.value) : undefined;
    return { value, type: marker?.kind ?? root.type, cuts: this.#cuts, leaves: this.#leaves };
  }

  #value(deep: Deep, place: Place): unknown {
    this.#left -= 1;
    const reference = deep.weakLocalObjectReference;
    let source = deep;
    if (reference !== undefined) {
      const cycle = place.above.get(reference);
      if (cycle !== undefined) return { $ref: cycle };
      const first = this.#shared.get(reference);
      if (first === undefined) this.#shared.set(reference, deep);
      else source = first;
      if (this.#left < 0) return this.#cut(place, 'total');
    }
    const above =
      reference === undefined ? place.above : new Map([...place.above, [reference, place.path] as const]);
    return this.#typed(source, { ...place, above });
  }

  #typed(deep: Deep, place: Place): unknown {
    const { type, value } = deep;
    switch (type) {
      case 'null':
        return null;
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        return typeof value === 'number' ? value : { $type: 'number', value };
      case 'undefined':
        return { $type: 'undefined' };
      case 'bigint':
      case 'regexp':
        return type === 'regexp' && isRecord(value) ? { $type: type, ...value } : { $type: type, value };
      case 'date':
        return { $type: 'date', value: value === 'Invalid Date' ? null : value };
      case 'array':
        return this.#items(deep, place);
      case 'object':
        return this.#object(deep, place);
      case 'map':
      case 'set':
      case 'nodelist':
      case 'htmlcollection':
        return this.#collection(deep, place);
      case 'node':
        return this.#node(value, place);
      default:
        return this.#leaf(type, place);
    }
  }

  #leaf(type: string, place: Place): unknown {
    const tag: Record<string, unknown> = { $type: type };
    if (LEAVES.has(type)) this.#keep(tag, place);
    return tag;
  }

  #node(value: unknown, place: Place): unknown {
    if (!isRecord(value)) return { $type: 'node' };
    const { nodeType, localName, attributes, nodeValue, childNodeCount, backendNodeId, loaderId } = value;
    const tag: Record<string, unknown> = {
      $type: 'node',
      nodeType,
      ...(localName !== undefined && { name: localName }),
      ...(attributes !== undefined && { attributes }),
      ...(nodeValue !== undefined && { text: nodeValue }),
      children: childNodeCount,
    };
    if (typeof backendNodeId === 'number') this.#keep(tag, place, { backendNodeId, loaderId });
    return tag;
  }

  #keep(tag: Record<string, unknown>, { path, steps }: Place, node?: Leaf['node']): void {
    const note = (cut: Omit<Cut, 'path'>) => this.#note({ path, ...cut });
    this.#leaves.push({ tag, steps, note, ...(node && { node }) });
  }

  #items(deep: Deep, place: Place): unknown {
    if (!isList(deep.value)) return this.#tooDeep(deep, place);
    return deep.value.map((item, index) => this.#value(item, inside(place, index, index)));
  }

  #object(deep: Deep, place: Place): unknown {
    if (!isEntryList(deep.value)) return this.#tooDeep(deep, place);
    const marker = this.#marker(deep.value);
    if (marker) return this.#marked(marker, place);
    if (deep.value.length === 0) {
      // Chrome sends a DataView and a boxed primitive as an object without members.
      const empty: Record<string, unknown> = {};
      this.#keep(empty, place);
      return empty;
    }
    const entries = deep.value.filter((entry): entry is [string, Deep] => typeof entry[0] === 'string');
    const reserved = entries.some(([name]) => name === '$type' || name === '$ref');
    const within = reserved ? { ...place, path: `${place.path}/value` } : place;
    const object = Object.fromEntries(
      entries.map(([name, member]) => [name, this.#value(member, inside(within, pointer(name), name))]),
    );
    return reserved ? { $type: 'object', value: object } : object;
  }

  #collection(deep: Deep, place: Place): unknown {
    const { type, value } = deep;
    const within = { ...place, path: `${place.path}/value` };
    if (type === 'map') {
      if (!isEntryList(value)) return this.#tooDeep(deep, place);
      return { $type: type, value: value.map((entry, index) => this.#entry(entry, index, within)) };
    }
    if (!isList(value)) return this.#tooDeep(deep, place);
    const items = value.map((item, index) =>
      this.#value(item, inside(within, index, type === 'set' ? { entry: index } : index)),
    );
    return { $type: type, value: items };
  }

  #entry([name, member]: [string | Deep, Deep], index: number, place: Place): unknown[] {
    const key =
      typeof name === 'string'
        ? name
        : this.#value(name, inside(place, `${index}/0`, { entry: index, part: 0 }));
    return [key, this.#value(member, inside(place, `${index}/1`, { entry: index, part: 1 }))];
  }

  #tooDeep(deep: Deep, place: Place): unknown {
    this.#note({ path: place.path, reason: 'depth' });
    return { $type: deep.type, cut: 'depth' };
  }

  #cut(place: Place, reason: Cut['reason'], total?: number): unknown {
    this.#note({ path: place.path, reason, ...(total !== undefined && { total }) });
    return { $type: 'cut', reason };
  }

  #note(cut: Cut): void {
    if (this.#cuts.length < MAX_CUTS) this.#cuts.push(cut);
  }

  #marker(entries: [string | Deep, Deep][]): Marker | undefined {
    const members = new Map(entries);
    const kind = members.get(this.#key)?.value;
    if (typeof kind !== 'string') return undefined;
    const total = members.get('total')?.value;
    return { kind, value: members.get('value'), total: typeof total === 'number' ? total : undefined };
  }

  #marked({ kind, value, total }: Marker, place: Place): unknown {
    if (kind === 'depth') return this.#tooDeep({ type: String(value?.value) }, place);
    if (kind === 'total' || kind === 'getter' || !value)
      return this.#cut(place, kind === 'getter' ? kind : 'total');
    if (kind === 'string') {
      this.#note({ path: place.path, reason: 'chars', ...(total !== undefined && { total }) });
      return value.value;
    }
    const held = isList(value.value) || isEntryList(value.value) ? value.value.length : 0;
    if (total !== undefined && held < total) this.#note({ path: place.path, reason: 'items', total });
    if (kind === 'map') return this.#typed(asMap(value), place);
    if (kind === 'nodes') return this.#typed({ ...value, type: 'nodelist' }, place);
    if (kind !== 'array' && kind !== 'set' && kind !== 'object') return this.#cut(place, 'total');
    return this.#typed({ ...value, type: kind }, place);
  }
}

interface Marker {
  readonly kind: string;
  readonly value: Deep | undefined;
  readonly total: number | undefined;
}

/** The cut copy of a map is an array of pairs. */
function asMap(pairs: Deep): Deep {
  if (!isList(pairs.value)) return { type: 'map' };
  const entries = pairs.value.map((pair) => (isList(pair.value) ? pair.value : []));
  return { type: 'map', value: entries };
}

function inside(place: Place, name: string | number, step: Step): Place {
  return { path: `${place.path}/${name}`, steps: [...place.steps, step], above: place.above };
}

/** RFC 6901 section 3. */
function pointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isDeep(value: unknown): value is Deep {
  return isRecord(value) && typeof value['type'] === 'string';
}

function isList(value: unknown): value is Deep[] {
  return Array.isArray(value) && value.every(isDeep);
}

function isEntryList(value: unknown): value is [string | Deep, Deep][] {
  return (
    Array.isArray(value) &&
    value.every(
      (entry: unknown) =>
        Array.isArray(entry) &&
        entry.length === 2 &&
        (typeof entry[0] === 'string' || isDeep(entry[0])) &&
        isDeep(entry[1]),
    )
  );
}
