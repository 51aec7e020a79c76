import { assert, assertEquals, assertFalse } from "@std/assert";
import { Desk } from "./desk.ts";

function openDesk(pattern = "") {
  const lines: string[] = [];
  return { desk: new Desk({ pattern, print: (line) => lines.push(line) }), lines };
}

Deno.test("Desk prints what came of each case, and at the end what was skipped, what failed, and the count", async () => {
  const { desk, lines } = openDesk();
  const bench = desk.at("go", "star", ["good", "bad", "odd", "never"]);
  assertEquals(bench.env, { COLLAPSER_METHODS: "*" });
  assert(await bench.check("good", () => {}));
  assertFalse(await bench.check("bad", () => Promise.reject(new Error("two\n  lines"))));
  bench.skip("odd", "no reason");
  bench.close();
  desk.skip("java/default", "java is not installed", 30);
  assertEquals(lines, [
    "ok   go/star/good",
    "FAIL go/star/bad (two lines)",
    "skip go/star/odd (no reason)",
    "FAIL go/star/never (it was not run)",
    "skip java/default, 30 cases (java is not installed)",
  ]);
  assertEquals(desk.summary(), [
    "skipped: go/star/odd (no reason)",
    "skipped: java/default, 30 cases (java is not installed)",
    "failed: go/star/bad",
    "failed: go/star/never",
    "1 passed, 2 failed, 31 skipped",
  ]);
});

Deno.test("Desk runs the cases that are asked for, each once", async () => {
  const { desk, lines } = openDesk("star/b");
  assertEquals(desk.at("go", "default", ["a", "b"]).cases, []);
  const bench = desk.at("go", "star", ["a", "b"]);
  assertEquals(bench.cases, ["b"]);
  for (const name of ["a", "b", "b"]) await bench.check(name, () => {});
  bench.skip("b", "it was run");
  bench.close();
  assertEquals(lines, ["ok   go/star/b"]);
});

Deno.test("Bench skips all that is left with one line", () => {
  const { desk, lines } = openDesk();
  const bench = desk.at("node", "default", ["a", "b"]);
  bench.skipAll("node is not installed");
  bench.skipAll("again");
  assertEquals(lines, ["skip node/default, 2 cases (node is not installed)"]);
  assertEquals(desk.skipped, 2);
});

Deno.test("Bench fails all that is left with one line, and nothing where all is judged", () => {
  const { desk, lines } = openDesk();
  const bench = desk.at("node", "default", ["a", "b"]);
  bench.failAll(new Error("no server"));
  bench.failAll(new Error("again"));
  bench.close();
  assertEquals(lines, ["FAIL node/default, 2 cases (no server)"]);
  assertEquals(desk.failures.length, 1);
});
