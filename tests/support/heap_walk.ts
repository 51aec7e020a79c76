/**
 * What an object keeps alive, in bytes as V8 counts them: private fields, maps and strings and all. For tests of bounds,
 * which must not trust the counters that they are about.
 *
 * @module
 */

import { writeHeapSnapshot } from "node:v8";

/**
 * Kinds of nodes that data is made of; what an ArrayBuffer holds is native. What is left out is code and what V8 knows
 * about it, shared by everything.
 */
const DATA = new Set([
  ...["array", "string", "object", "number", "native", "concatenated string", "sliced string"],
]);

/** A heap snapshot as V8 writes it: nodes and edges are numbers in rows, as `meta` says. */
interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[], ...unknown[]];
      readonly edge_fields: readonly string[];
      readonly edge_types: readonly [readonly string[], ...unknown[]];
    };
  };
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly strings: readonly string[];
}

/** Names by which the two are found in the snapshot. */
class WalkedObject {
  readonly value: object;

  constructor(value: object) {
    this.value = value;
  }
}

class WalkedBaseline extends WalkedObject {}

/** How many bytes of data more can be reached from `value` than from `baseline`, one like it with nothing in it. */
export function heapBytesOf(value: object, baseline: object): number {
  const held = [new WalkedObject(value), new WalkedBaseline(baseline)];
  const graph = new Graph(takeSnapshot());
  const [walked, known] = held.map(({ constructor: { name } }) => graph.reachedFrom(name));
  return graph.bytesOf(walked!) - graph.bytesOf(known!);
}

function takeSnapshot(): Snapshot {
  const path = Deno.makeTempFileSync({ suffix: ".heapsnapshot" });
  try {
    writeHeapSnapshot(path);
    return JSON.parse(Deno.readTextFileSync(path));
  } finally {
    Deno.removeSync(path);
  }
}

class Graph {
  readonly #of: Snapshot;
  readonly #nodeFields: number;
  readonly #edgeFields: number;
  /** Where the edges of each node begin. */
  readonly #firstEdges: Int32Array;

  constructor(of: Snapshot) {
    this.#of = of;
    const { node_fields: nodeFields, edge_fields: edgeFields } = of.snapshot.meta;
    this.#nodeFields = nodeFields.length;
    this.#edgeFields = edgeFields.length;
    const count = of.nodes.length / this.#nodeFields;
    this.#firstEdges = new Int32Array(count + 1);
    for (let node = 0; node < count; node++) {
      const edges = this.#read(node, "edge_count");
      this.#firstEdges[node + 1] = this.#firstEdges[node]! + edges;
    }
  }

  /** Numbers of the nodes of data that hang on the only object of this class. */
  reachedFrom(className: string): Set<number> {
    const reached = new Set([this.#find(className)]);
    for (const node of reached) for (const next of this.#next(node)) reached.add(next);
    return reached;
  }

  bytesOf(nodes: Set<number>): number {
    let bytes = 0;
    for (const node of nodes) bytes += this.#read(node, "self_size");
    return bytes;
  }

  #find(className: string): number {
    const found: number[] = [];
    for (let node = 0; node < this.#firstEdges.length - 1; node++) {
      const isOne = this.#kind(node) === "object" &&
        this.#of.strings[this.#read(node, "name")] === className;
      // Its prototype has the same name, and no value.
      if (isOne && this.#edgesOf(node).some(({ name }) => name === "value")) found.push(node);
    }
    if (found.length !== 1) throw new Error(`Cannot find ${className}: there are ${found.length}`);
    return found[0]!;
  }

  #next(node: number): number[] {
    return this.#edgesOf(node)
      .filter(({ kind, to }) => kind !== "weak" && DATA.has(this.#kind(to)))
      .map(({ to }) => to);
  }

  #edgesOf(node: number): { kind: string; name: string | undefined; to: number }[] {
    const { edges, strings, snapshot: { meta } } = this.#of;
    const found = [];
    for (let edge = this.#firstEdges[node]!; edge < this.#firstEdges[node + 1]!; edge++) {
      const [kind, name, to] = edges.slice(edge * this.#edgeFields, (edge + 1) * this.#edgeFields);
      found.push({
        kind: meta.edge_types[0][kind!]!,
        name: strings[name!],
        to: to! / this.#nodeFields,
      });
    }
    return found;
  }

  #kind(node: number): string {
    return this.#of.snapshot.meta.node_types[0][this.#read(node, "type")]!;
  }

  #read(node: number, field: string): number {
    const column = this.#of.snapshot.meta.node_fields.indexOf(field);
    return this.#of.nodes[node * this.#nodeFields + column]!;
  }
}
