import { assertEquals } from "@std/assert";
import { importCycles, importsOf } from "./cycles.ts";

Deno.test("importCycles finds none where all imports point down", () => {
  const graph = new Map([["a", ["b", "c"]], ["b", ["c"]], ["c", []]]);
  assertEquals(importCycles(graph), []);
});

Deno.test("importCycles names each group once, and leaves out who only imports it", () => {
  const graph = new Map([
    ["a", ["b"]],
    ["b", ["c"]],
    ["c", ["b"]],
    ["x", ["y"]],
    ["y", ["z"]],
    ["z", ["x", "b"]],
  ]);
  assertEquals(importCycles(graph), [["b", "c"], ["x", "y", "z"]]);
});

Deno.test("importCycles takes a file that imports itself for a cycle", () => {
  assertEquals(importCycles(new Map([["a", ["a"]]])), [["a"]]);
});

Deno.test("importsOf finds every way of importing, types included", () => {
  const source = `
    import { a } from "./a.ts";
    import type { B } from "../other/mod.ts";
    import {
      c,
      d,
    } from "./c.ts";
    export * from "./e.ts";
    export type { F } from "./f.ts";
    const g = await import("./g.ts");
    type H = import("./h.ts").H;
    import "./i.ts";
    import { assert } from "@std/assert";
    // import { no } from "./no.ts";
    /** import { no } from "./no.ts"; */
  `;
  assertEquals(importsOf("lib/room/file.ts", source), [
    "lib/room/a.ts",
    "lib/other/mod.ts",
    "lib/room/c.ts",
    "lib/room/e.ts",
    "lib/room/f.ts",
    "lib/room/g.ts",
    "lib/room/h.ts",
    "lib/room/i.ts",
  ]);
});
