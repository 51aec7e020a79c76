import { assertEquals } from "@std/assert";
import { Page } from "../../lib/cli/page.ts";

const plain = { colour: false };

Deno.test("Page breaks a paragraph at spaces, inside the indent", () => {
  const text = new Page(plain).paragraph("word ".repeat(20).trim(), 4).toString();
  assertEquals(text.split("\n").map((line) => line.length), [4 + 15 * 5 - 1, 4 + 5 * 5 - 1]);
  assertEquals(text.startsWith("    word"), true);
});

Deno.test("Page leaves a word that is too long in one piece", () => {
  const long = "x".repeat(100);
  assertEquals(new Page(plain).paragraph(`a ${long} b`).toString(), `a\n${long}\nb`);
});

Deno.test("Page puts an empty line before each heading but the first", () => {
  const page = new Page(plain).heading("One").verbatim("  a").heading("Two").blank();
  assertEquals(page.toString(), "One\n  a\n\nTwo\n");
});

Deno.test("Page lines up the meanings of a table", () => {
  const text = new Page(plain).table([
    { term: "a", meaning: "first" },
    { term: "longer", meaning: "second" },
  ]).toString();
  assertEquals(text, "  a       first\n  longer  second");
});

Deno.test("Page writes a term's remark behind it", () => {
  const rows = [{ term: "A=B", remark: "(c)", meaning: "d" }, { term: "E=F", meaning: "g" }];
  assertEquals(new Page(plain).glossary(rows).toString(), "  A=B  (c)\n      d\n  E=F\n      g");
});
