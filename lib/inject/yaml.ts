/**
 * The YAML library's one door, and what the room needs of it: where things stand in a text.
 *
 * @module
 */

import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";

export { isMap, isScalar, isSeq, type YAMLMap, type YAMLSeq };

/** One document of a stream. */
export interface YamlDocument {
  readonly root: unknown;
  /** The document as plain values, aliases and merge keys resolved. */
  readonly value: unknown;
}

/** The documents of a stream, with a way to tell the line of an offset; or what is wrong with it, line by line. */
export type YamlStream =
  | { readonly documents: readonly YamlDocument[]; readonly lineOf: (offset: number) => number }
  | { readonly problems: readonly string[] };

/** Scalars as Kubernetes reads them: by YAML 1.1, for which a bare `yes` is true. */
const AS_KUBERNETES = { version: "1.1", logLevel: "error" } as const;

/** Reads a stream of YAML or JSON documents. Never throws. */
export function readStream(text: string): YamlStream {
  const lineCounter = new LineCounter();
  const lineOf = (offset: number) => lineCounter.linePos(offset).line;
  // A stream of nothing but comments is an object of the library's own, without documents.
  const parsed = [...parseAllDocuments(text, { ...AS_KUBERNETES, lineCounter })] as Document[];
  const problems: string[] = [];
  const documents: YamlDocument[] = [];
  for (const document of parsed) {
    for (const { message, pos } of document.errors) {
      const [first = message] = message.split("\n");
      problems.push(`Cannot read line ${lineOf(pos[0])}: ${first.replace(/ at line .*/, "")}`);
    }
    if (document.errors.length > 0) continue;
    try {
      documents.push({ root: document.contents, value: document.toJS() });
    } catch (error) {
      // An alias that leads to itself, or to so many that they would fill the memory.
      const why = error instanceof Error ? error.message : String(error);
      problems.push(`Cannot read the document at line ${lineOf(document.range?.[0] ?? 0)}: ${why}`);
    }
  }
  return problems.length > 0 ? { problems } : { documents, lineOf };
}

/** How a text indents. */
export interface BlockStyle {
  /** Columns from a key to what is under it. */
  readonly step: number;
  /** Whether the dashes of a list stand further in than its key. */
  readonly indentsLists: boolean;
}

/** The value in block style, ending in a line feed. */
export function blockText(value: unknown, { step, indentsLists }: BlockStyle): string {
  return stringify(value, {
    ...AS_KUBERNETES,
    indent: step,
    indentSeq: indentsLists,
    lineWidth: 0, // never folded
  });
}

/** The pair of a map under a key that is written as text. */
export function pairOf(map: YAMLMap, name: string): { key: Placed; value: unknown } | undefined {
  for (const { key, value } of map.items) {
    if (isScalar(key) && key.value === name && key.range) return { key: key as Placed, value };
  }
  return undefined;
}

/** A node of which the library says where it stands. */
export interface Placed {
  /** The offsets of the node's first character, of its value's end, and of the end of the comment behind it. */
  readonly range: readonly [number, number, number];
}
