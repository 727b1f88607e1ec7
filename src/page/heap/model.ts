import type { Layout } from './layout.ts';
import type { StringTable } from './string-table.ts';

/**
 * A heap snapshot in memory: nodes and edges as the file has them, in typed arrays, and what is derived from them on
 * first use. A node is named by its ordinal (0 is the root), never by its offset.
 */
export class HeapModel {
  readonly layout: Layout;
  readonly nodes: Uint32Array;
  readonly edges: Uint32Array;
  readonly strings: StringTable;
  #firstEdges: Uint32Array | undefined;
  #retainerCounts: Uint32Array | undefined;

  constructor(parts: { layout: Layout; nodes: Uint32Array; edges: Uint32Array; strings: StringTable }) {
    this.layout = parts.layout;
    this.nodes = parts.nodes;
    this.edges = parts.edges;
    this.strings = parts.strings;
  }

  get nodeCount(): number {
    return this.layout.nodeCount;
  }

  /** A field of a node, by its place in the layout. */
  field(node: number, offset: number): number {
    return this.nodes[node * this.layout.nodeFields + offset] ?? 0;
  }

  typeOf(node: number): string {
    return this.layout.nodeTypes[this.field(node, this.layout.node.type)] ?? '';
  }

  nameOf(node: number): string {
    return this.strings.get(this.field(node, this.layout.node.name));
  }

  selfSize(node: number): number {
    return this.field(node, this.layout.node.selfSize);
  }

  /** Ordinal of the node that an edge leads to; in the file it is an offset. */
  target(edge: number): number {
    const { edgeFields, edge: at, nodeFields } = this.layout;
    return (this.edges[edge * edgeFields + at.toNode] ?? 0) / nodeFields;
  }

  /** Ordinal of the first edge of each node, and one past the last: edges are in the order of their nodes. */
  get firstEdges(): Uint32Array {
    if (this.#firstEdges) return this.#firstEdges;
    const first = new Uint32Array(this.nodeCount + 1);
    for (let node = 0; node < this.nodeCount; node++) {
      first[node + 1] = (first[node] ?? 0) + this.field(node, this.layout.node.edgeCount);
    }
    this.#firstEdges = first;
    return first;
  }

  /** How many edges lead to each node. */
  get retainerCounts(): Uint32Array {
    if (this.#retainerCounts) return this.#retainerCounts;
    const counts = new Uint32Array(this.nodeCount);
    for (let edge = 0; edge < this.layout.edgeCount; edge++) {
      const node = this.target(edge);
      counts[node] = (counts[node] ?? 0) + 1;
    }
    this.#retainerCounts = counts;
    return counts;
  }
}
