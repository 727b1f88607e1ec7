import type { HeapModel } from './model.ts';

/** Bytes by what they hold; together they are the total. */
export interface Categories {
  code: number;
  strings: number;
  arrays: number;
  typedArrays: number;
  system: number;
  dom: number;
  other: number;
}

export interface HeapStatistics {
  readonly nodes: number;
  readonly edges: number;
  readonly totalSize: number;
  readonly categories: Categories;
  readonly detachedDom: number;
}

/** Blink's mark for a node that is in no document (V8 `v8-profiler.h`, EmbedderGraph::Node::Detachedness). */
const DETACHED = 2;

/** The name of an ArrayBuffer's memory. */
const BUFFER_DATA = 'system / JSArrayBufferData';

const BY_TYPE: Readonly<Record<string, keyof Categories>> = {
  code: 'code',
  string: 'strings',
  'concatenated string': 'strings',
  'sliced string': 'strings',
  hidden: 'system',
  'object shape': 'system',
  native: 'dom',
};

/**
 * Sizes by category, as DevTools groups them: an Array counts with its elements where nothing else holds those, and
 * `dom` is all that is not JavaScript (DOM, styles, layout) but the memory of array buffers.
 */
export function statistics(model: HeapModel): HeapStatistics {
  const { layout } = model;
  const { type: typeAt, name: nameAt, selfSize: sizeAt, detachedness } = layout.node;
  const byType = layout.nodeTypes.map((type) => BY_TYPE[type] ?? 'other');
  const native = layout.nodeTypes.indexOf('native');
  const object = layout.nodeTypes.indexOf('object');
  const bufferNames = model.strings.findAll(BUFFER_DATA);
  const arrayNames = model.strings.findAll('Array');
  const categories: Categories = {
    code: 0,
    strings: 0,
    arrays: 0,
    typedArrays: 0,
    system: 0,
    dom: 0,
    other: 0,
  };
  const elements = new ArrayElements(model);
  let detachedDom = 0;
  let totalSize = layout.extraNativeBytes;
  categories.dom += layout.extraNativeBytes;
  for (let node = 0; node < model.nodeCount; node++) {
    const type = model.field(node, typeAt);
    const size = model.field(node, sizeAt);
    totalSize += size;
    let category = byType[type] ?? 'other';
    if (type === native) {
      if (bufferNames.has(model.field(node, nameAt))) category = 'typedArrays';
      if (detachedness >= 0 && model.field(node, detachedness) === DETACHED) detachedDom += 1;
    } else if (type === object && arrayNames.has(model.field(node, nameAt))) {
      category = 'arrays';
      const held = elements.of(node);
      if (held !== undefined) {
        const heldSize = model.selfSize(held);
        categories.arrays += heldSize;
        categories[byType[model.field(held, typeAt)] ?? 'other'] -= heldSize;
      }
    }
    categories[category] += size;
  }
  return { nodes: model.nodeCount, edges: layout.edgeCount, totalSize, categories, detachedDom };
}

/** Finds the memory that holds the elements of an Array and of nothing else. */
class ArrayElements {
  readonly #model: HeapModel;
  readonly #internal: number;
  readonly #names: Set<number>;

  constructor(model: HeapModel) {
    this.#model = model;
    this.#internal = model.layout.edgeTypes.indexOf('internal');
    this.#names = model.strings.findAll('elements');
  }

  of(node: number): number | undefined {
    const { edges, firstEdges, retainerCounts, layout } = this.#model;
    const to = firstEdges[node + 1] ?? 0;
    for (let edge = firstEdges[node] ?? 0; edge < to; edge++) {
      const at = edge * layout.edgeFields;
      if (edges[at + layout.edge.type] !== this.#internal) continue;
      if (!this.#names.has(edges[at + layout.edge.nameOrIndex] ?? -1)) continue;
      const target = this.#model.target(edge);
      return retainerCounts[target] === 1 ? target : undefined;
    }
    return undefined;
  }
}
