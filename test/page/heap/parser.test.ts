import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SnapshotParser } from '../../../src/page/heap/parser.ts';
import { statistics } from '../../../src/page/heap/statistics.ts';

const META = {
  node_fields: ['type', 'name', 'id', 'self_size', 'edge_count', 'detachedness'],
  node_types: [
    ['hidden', 'array', 'string', 'object', 'code', 'native'],
    'string',
    'number',
    'number',
    'number',
    'number',
  ],
  edge_fields: ['type', 'name_or_index', 'to_node'],
  edge_types: [['context', 'element', 'property', 'internal', 'weak'], 'string_or_number', 'node'],
};
const STRINGS = ['', 'Array', 'elements', 'system / JSArrayBufferData', '<div>', 'é"\\\n\u{1f600}', 'x'];
/** hidden, Array, its elements, a buffer, two divs of which one is detached, code, a string, an unowned array. */
const NODES = [
  [0, 0, 1, 10, 2, 0],
  [3, 1, 3, 16, 1, 0],
  [1, 0, 5, 100, 0, 0],
  [5, 3, 7, 4000, 0, 0],
  [5, 4, 9, 50, 0, 1],
  [5, 4, 11, 60, 0, 2],
  [4, 6, 13, 7, 0, 0],
  [2, 5, 15, 9, 0, 0],
  [1, 6, 17, 30, 0, 0],
];
const EDGES = [
  [2, 6, 6],
  [2, 6, 24],
  [3, 2, 12],
];

function file(change: (json: Record<string, unknown>) => void = () => undefined): Buffer {
  const json = {
    snapshot: { meta: META, node_count: NODES.length, edge_count: EDGES.length, extra_native_bytes: 5 },
    nodes: NODES.flat(),
    edges: EDGES.flat(),
    trace_function_infos: [],
    trace_tree: [1, 0, [2, [3]]],
    samples: [],
    locations: [1, 2, 3],
    strings: STRINGS,
  };
  change(json);
  const text = JSON.stringify(json).replaceAll(/,"(\w+)":\[/g, ',\n"$1":[');
  // V8 writes what is not ASCII as \u escapes.
  return Buffer.from(
    text.replaceAll(/[^\x20-\x7e\n]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

function parse(bytes: Buffer, cuts: readonly number[] = []) {
  const parser = new SnapshotParser();
  const ends = [...new Set([...cuts, bytes.length])].sort((a, b) => a - b);
  let from = 0;
  for (const end of ends) {
    parser.push(bytes.subarray(from, end));
    from = end;
  }
  return parser.finish();
}

test('nodes, edges and strings are those of the file, wherever its bytes are cut', () => {
  const bytes = file();
  const cut = fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 30 });
  fc.assert(
    fc.property(cut, (cuts) => {
      const model = parse(bytes, cuts);
      expect([...model.nodes]).toEqual(NODES.flat());
      expect([...model.edges]).toEqual(EDGES.flat());
      expect(STRINGS.map((_, index) => model.strings.get(index))).toEqual(STRINGS);
    }),
  );
  expect([...parse(bytes, [...bytes.keys()]).nodes]).toEqual(NODES.flat());
});

test('a node has its type, name, size, edges and retainers', () => {
  const model = parse(file());
  expect(model.typeOf(1)).toBe('object');
  expect(model.nameOf(1)).toBe('Array');
  expect(model.selfSize(3)).toBe(4000);
  expect([...model.firstEdges]).toEqual([0, 2, 3, 3, 3, 3, 3, 3, 3, 3]);
  expect(model.target(2)).toBe(2);
  expect([...model.retainerCounts]).toEqual([0, 1, 1, 0, 1, 0, 0, 0, 0]);
  expect(() => model.strings.get(STRINGS.length)).toThrow();
});

test('every byte is in one category, and together they are the total', () => {
  const found = statistics(parse(file()));
  expect(found).toEqual({
    nodes: 9,
    edges: 3,
    totalSize: 10 + 16 + 100 + 4000 + 50 + 60 + 7 + 9 + 30 + 5,
    categories: { system: 10, arrays: 116, typedArrays: 4000, dom: 115, code: 7, strings: 9, other: 30 },
    detachedDom: 1,
  });
});

test('elements that something else holds too are not the array’s', () => {
  const shared = file((json) => {
    json['edges'] = [
      [2, 6, 6],
      [2, 6, 12],
      [3, 2, 12],
    ].flat();
  });
  expect(statistics(parse(shared)).categories).toMatchObject({ arrays: 16, other: 130 });
});

test('what is not a whole snapshot is an error, never a model', () => {
  const bytes = file();
  fc.assert(
    fc.property(fc.integer({ min: 0, max: bytes.length - 1 }), (length) => {
      expect(() => parse(bytes.subarray(0, length))).toThrow();
    }),
  );
  for (const broken of [
    file((json) => {
      json['nodes'] = NODES.flat().slice(1);
    }),
    file((json) => {
      json['edges'] = [...EDGES.flat(), 1];
    }),
    file((json) => {
      json['snapshot'] = { meta: META, node_count: -1, edge_count: 0 };
    }),
    Buffer.from(`${bytes.toString()}x`),
    Buffer.from('{"nodes":[1,2]}'),
    Buffer.from('[]'),
    Buffer.from(bytes.toString().replace('"nodes":[', '"nodes":[a')),
  ]) {
    expect(() => parse(broken)).toThrow();
  }
});
