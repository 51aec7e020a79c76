import { assert, assertEquals } from "@std/assert";
import { faultText } from "../../../lib/config/policy/place.ts";
import { readPolicy } from "../../../lib/config/policy/read_policy.ts";
import { readJson } from "../../../lib/config/policy/json.ts";

function faultsOf(text: string): readonly string[] {
  const read = readJson(text);
  assert("faults" in read, text);
  return read.faults.map(faultText);
}

Deno.test("readJson knows the line of each value, and of each name", () => {
  const read = readJson('{\n "a": [1,\n  true], "b/~":\n null, "c": "text" }');
  assert("root" in read && read.root.kind === "object");
  const { members } = read.root;
  assertEquals(
    [...members].map(([name, { line, value }]) => [name, line, value.line, value.kind]),
    [
      ["a", 2, 2, "list"],
      ["b/~", 3, 4, "null"],
      ["c", 4, 4, "text"],
    ],
  );
});

Deno.test("readJson says on which line the text is no JSON", () => {
  assertEquals(faultsOf("{\n  not json")[0]?.startsWith("line 2: expected JSON: "), true);
  assertEquals(faultsOf('{\n\n"a": [\n'), ["line 3: expected JSON: Unexpected end of JSON input"]);
  for (const text of ["", " ", "{,}", "[1,]", "// x\n{}", "[01]", "'a'", '"a\nb"', "NaN", "[1]]"]) {
    assertEquals(faultsOf(text).length, 1, text);
  }
});

Deno.test("readJson refuses a name that stands in one object twice, in any spelling", () => {
  assertEquals(faultsOf('{"a": {\n"t/l": 1,\n"t\\u002fl": 2}}'), [
    "line 3, /a/t~1l: stands in its object twice, on line 2 too",
  ]);
});

Deno.test("readJson bounds how deep objects and lists stand in each other, whatever their number", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  assert("root" in readJson(nested(64)));
  for (const text of [nested(65), nested(500_000), '{"a":'.repeat(70) + "1" + "}".repeat(70)]) {
    assertEquals(faultsOf(text), [
      "line 1: expected 64 objects and lists within each other at most",
    ]);
  }
  assertEquals(faultsOf("[".repeat(2 ** 20)).length, 1);
});

Deno.test("readPolicy takes no beginning of a good file for one, and never throws for what is left of it", () => {
  const entry = { name: [{ service: "a.B", method: "Get" }], collapser: { ttl: "1s" } };
  const text = JSON.stringify({ methodConfig: [entry, { ...entry, name: [{}] }] }, undefined, 1);
  for (let end = 0; end < text.length; end++) {
    assert("problems" in readPolicy(text.slice(0, end)), text.slice(0, end));
  }
  let seed = 20_261_201;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let i = 0; i < 2_000; i++) {
    const from = Math.floor(random() * text.length);
    const to = from + Math.floor(random() * 20);
    const reading = readPolicy(text.slice(0, from) + text.slice(to));
    if ("problems" in reading) assert(reading.problems.length > 0);
  }
});
