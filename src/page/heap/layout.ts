/**
 * Where the fields of nodes and edges are in a V8 heap snapshot. The file says so itself, in its header; fields are
 * added from version to version (V8 `src/profiler/heap-snapshot-generator.cc`, class HeapSnapshotJSONSerializer).
 */
export interface Layout {
  readonly nodeCount: number;
  readonly edgeCount: number;
  /** Bytes outside of the heap that no node stands for. */
  readonly extraNativeBytes: number;
  readonly nodeFields: number;
  readonly node: {
    readonly type: number;
    readonly name: number;
    readonly id: number;
    readonly selfSize: number;
    readonly edgeCount: number;
    /** -1 where the version has none. */
    readonly detachedness: number;
  };
  /** Names of node types by number: `object`, `native`, `string`, … */
  readonly nodeTypes: readonly string[];
  readonly edgeFields: number;
  readonly edge: { readonly type: number; readonly nameOrIndex: number; readonly toNode: number };
  readonly edgeTypes: readonly string[];
}

/** Reads the header of a snapshot: the JSON text of the object up to its member `nodes`. */
export function readLayout(header: string): Layout {
  const snapshot = member(parse(header), 'snapshot');
  const meta = member(snapshot, 'meta');
  const nodeNames = names(member(meta, 'node_fields'));
  const edgeNames = names(member(meta, 'edge_fields'));
  return {
    nodeCount: count(snapshot, 'node_count'),
    edgeCount: count(snapshot, 'edge_count'),
    extraNativeBytes: 'extra_native_bytes' in snapshot ? count(snapshot, 'extra_native_bytes') : 0,
    nodeFields: nodeNames.length,
    node: {
      type: offset(nodeNames, 'type'),
      name: offset(nodeNames, 'name'),
      id: offset(nodeNames, 'id'),
      selfSize: offset(nodeNames, 'self_size'),
      edgeCount: offset(nodeNames, 'edge_count'),
      detachedness: nodeNames.indexOf('detachedness'),
    },
    nodeTypes: firstNames(member(meta, 'node_types')),
    edgeFields: edgeNames.length,
    edge: {
      type: offset(edgeNames, 'type'),
      nameOrIndex: offset(edgeNames, 'name_or_index'),
      toNode: offset(edgeNames, 'to_node'),
    },
    edgeTypes: firstNames(member(meta, 'edge_types')),
  };
}

function parse(text: string): object {
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null) return value;
  throw notASnapshot('header');
}

function member(holder: object, name: string): object {
  const value: unknown = Reflect.get(holder, name);
  if (typeof value === 'object' && value !== null) return value;
  throw notASnapshot(name);
}

function names(list: object): string[] {
  if (Array.isArray(list) && list.every((name) => typeof name === 'string')) return list;
  throw notASnapshot('names');
}

/** Types are listed per field; those of the first field, `type`, are a list themselves. */
function firstNames(list: object): string[] {
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  if (typeof first === 'object' && first !== null) return names(first);
  throw notASnapshot('types');
}

function count(holder: object, name: string): number {
  const value: unknown = Reflect.get(holder, name);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw notASnapshot(name);
}

function offset(fields: readonly string[], name: string): number {
  const at = fields.indexOf(name);
  if (at >= 0) return at;
  throw notASnapshot(name);
}

export function notASnapshot(what: string): Error {
  return new Error(`not a V8 heap snapshot: ${what}`);
}
