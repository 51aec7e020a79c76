import { parse, type ValueNode } from "@humanwhocodes/momoa";

/** JSON with the line, from 1, on which each value begins. */
export type Json =
  & { readonly line: number }
  & (
    | { readonly kind: "object"; readonly members: ReadonlyMap<string, Member> }
    | { readonly kind: "list"; readonly items: readonly Json[] }
    | { readonly kind: "text"; readonly value: string }
    | { readonly kind: "number"; readonly value: number }
    | { readonly kind: "boolean"; readonly value: boolean }
    | { readonly kind: "null" }
  );

/** A value of an object, and the line on which its name stands. */
export interface Member {
  readonly line: number;
  readonly value: Json;
}

/** What is wrong with a file, and where: the line, from 1, and the JSON pointer (RFC 6901), "" for all of it. */
export interface Fault {
  readonly line: number;
  readonly pointer: string;
  readonly why: string;
}

/** Longest text of the file's that is repeated in a message; names of methods are shorter. */
const MAX_TOLD_CHARS = 120;

/** Objects and lists within each other; a service config has nine, and what reads them calls itself for each. */
const MAX_DEPTH = 64;

/**
 * Reads JSON (RFC 8259), strictly: a name that stands in one object twice is a fault too, since one of the two would be
 * dropped in silence.
 */
export function readJson(text: string): { readonly root: Json } | { readonly faults: Fault[] } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { faults: [notJson(text, error instanceof Error ? error.message : String(error))] };
  }
  if (isDeeper(value, MAX_DEPTH)) {
    const why = `expected ${MAX_DEPTH} objects and lists within each other at most`;
    return { faults: [{ line: 1, pointer: "", why }] };
  }
  const faults: Fault[] = [];
  // V8 has said that it is JSON, and how deep; this knows where each value stands.
  const root = located(parse(text, { mode: "json" }).body, "", faults);
  return faults.length > 0 ? { faults } : { root };
}

/** The JSON pointer of a value within another; of a name that is long, its beginning. */
export function pointerTo(pointer: string, key: string | number): string {
  const token = shortened(String(key)).replaceAll("~", "~0").replaceAll("/", "~1");
  return `${pointer}/${token}`;
}

/** A text as it is repeated in messages: names are the file's own, and may be as long as the file. */
export function shortened(text: string): string {
  return text.length <= MAX_TOLD_CHARS ? text : `${text.slice(0, MAX_TOLD_CHARS)}…`;
}

/** V8 names the place of what it did not expect, unless that is the end. */
function notJson(text: string, message: string): Fault {
  const named = /\(line (\d+) column \d+\)/.exec(message)?.[1];
  const line = named === undefined ? text.trimEnd().split("\n").length : Number(named);
  return { line, pointer: "", why: `expected JSON: ${message}` };
}

/** Whether objects and lists stand more than `depth` deep; asked without recursion, which a file could exhaust. */
function isDeeper(value: unknown, depth: number): boolean {
  let level: unknown[] = [value];
  for (let i = 0; level.length > 0; i++) {
    const containers = level.filter((one) => typeof one === "object" && one !== null) as object[];
    if (containers.length > 0 && i === depth) return true;
    level = containers.flatMap((one) => Object.values(one));
  }
  return false;
}

function located(node: ValueNode, pointer: string, faults: Fault[]): Json {
  const { line } = node.loc.start;
  switch (node.type) {
    case "Object": {
      const members = new Map<string, Member>();
      for (const { name, value } of node.members) {
        const key = name.type === "String" ? name.value : name.name;
        const at = pointerTo(pointer, key);
        const own = name.loc.start.line;
        const first = members.get(key);
        if (first !== undefined) {
          const why = `stands in its object twice, on line ${first.line} too`;
          faults.push({ line: own, pointer: at, why });
        }
        members.set(key, { line: own, value: located(value, at, faults) });
      }
      return { kind: "object", line, members };
    }
    case "Array": {
      const items = node.elements.map(({ value }, i) =>
        located(value, pointerTo(pointer, i), faults)
      );
      return { kind: "list", line, items };
    }
    case "String":
      return { kind: "text", line, value: node.value };
    case "Number":
      return { kind: "number", line, value: node.value };
    case "Boolean":
      return { kind: "boolean", line, value: node.value };
    default:
      return { kind: "null", line }; // NaN and Infinity are no JSON, and were refused
  }
}
