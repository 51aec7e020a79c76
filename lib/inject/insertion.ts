import {
  type BlockStyle,
  blockText,
  isMap,
  isSeq,
  pairOf,
  type Placed,
  type YAMLMap,
  type YAMLSeq,
} from "./yaml.ts";

/** A change of a text: what is between two offsets is replaced. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Where a thing would go, or why there is no such place. */
export type Editing = { readonly edit: Edit } | { readonly why: string };

/** How wide texts are indented for which nothing tells: as kubectl does. */
const USUAL_STEP = 2;

const ALIASED = "it has no containers of its own, but an alias or a merge key: write them out";

/** Makes all the changes, which must not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = text;
  for (const edit of [...edits].sort((a, b) => b.from - a.from)) {
    result = result.slice(0, edit.from) + edit.text + result.slice(edit.to);
  }
  return result;
}

/**
 * The change that makes `container` the first init container of a pod.
 *
 * @param root the manifest
 * @param path from the manifest to the pod template
 */
export function insertContainer(
  text: string,
  root: YAMLMap,
  path: readonly string[],
  container: unknown,
): Editing {
  let parent: Placed | undefined;
  let node: unknown = root;
  for (const name of [...path, "spec"]) {
    const pair = isMap(node) ? pairOf(node, name) : undefined;
    if (pair === undefined) return { why: ALIASED };
    parent = pair.key;
    node = pair.value;
  }
  if (!isMap(node)) return { why: ALIASED };
  const containers = pairOf(node, "containers");
  if (containers === undefined || !isSeq(containers.value)) return { why: ALIASED };
  const style = styleOf(text, parent!, containers.key, containers.value);
  const existing = pairOf(node, "initContainers");
  if (existing === undefined) {
    return before(text, containers.key, { initContainers: [container] }, {
      style,
      isFlow: node.flow === true,
    });
  }
  if (!isSeq(existing.value) || !existing.value.range) {
    return { why: "its initContainers are not written out as a list" };
  }
  return first(text, existing.value, container, style);
}

/** The change that puts fields into a map in front of a key. */
function before(
  text: string,
  key: Placed,
  fields: Readonly<Record<string, unknown>>,
  { style, isFlow }: { style: BlockStyle; isFlow: boolean },
): Editing {
  const [from] = key.range;
  const margin = text.slice(lineStart(text, from), from);
  if (isFlow) {
    const [name, value] = Object.entries(fields)[0]!;
    return insertion(from, `${flowPair(name, value, margin, style)}`);
  }
  if (margin.trim() !== "") return { why: ALIASED };
  return insertion(
    aboveComments(text, from, margin),
    indented(blockText(fields, style), margin, eolOf(text)),
  );
}

/** The change that makes `item` the first of a list. */
function first(text: string, list: YAMLSeq, item: unknown, style: BlockStyle): Editing {
  const [from] = list.range!;
  if (list.flow === true) {
    return insertion(from + 1, JSON.stringify(item) + (list.items.length > 0 ? ", " : ""));
  }
  const margin = text.slice(lineStart(text, from), from);
  if (margin.trim() !== "") return { why: "its initContainers begin in an unusual place" };
  return insertion(
    aboveComments(text, from, margin),
    indented(blockText([item], style), margin, eolOf(text)),
  );
}

/** `"name": value,` as JSON, over several lines where its neighbour stands on a line of its own. */
function flowPair(name: string, value: unknown, margin: string, { step }: BlockStyle): string {
  const isAlone = margin.trim() === "" && margin !== "";
  if (!isAlone) return `${JSON.stringify(name)}:${JSON.stringify(value)},`;
  const lines = JSON.stringify(value, null, step).replaceAll("\n", `\n${margin}`);
  return `${JSON.stringify(name)}: ${lines},\n${margin}`;
}

function insertion(at: number, text: string): Editing {
  return { edit: { from: at, to: at, text } };
}

/** How the text around a pod's containers is indented. */
function styleOf(text: string, parent: Placed, key: Placed, list: YAMLSeq): BlockStyle {
  const step = columnOf(text, key.range[0]) - columnOf(text, parent.range[0]);
  const isBlock = list.flow !== true && list.range;
  return {
    step: step > 0 && step <= 8 ? step : USUAL_STEP,
    indentsLists: !isBlock || columnOf(text, list.range![0]) > columnOf(text, key.range[0]),
  };
}

/** The start of the comment lines right above an offset that are indented as it is; else of its own line. */
function aboveComments(text: string, offset: number, margin: string): number {
  let start = lineStart(text, offset);
  while (start > 0) {
    const above = lineStart(text, start - 1);
    if (!text.startsWith(`${margin}#`, above)) break;
    start = above;
  }
  return start;
}

function indented(block: string, margin: string, eol: string): string {
  const lines = block.trimEnd().split("\n").map((line) => line === "" ? "" : margin + line);
  return lines.join(eol) + eol;
}

/** Where the line of an offset starts. */
export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** How far from the start of its line an offset is. */
export function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

/** How the text ends its lines. */
export function eolOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}
