import { assertEquals } from "@std/assert";
import { editDistance, nearest } from "../../lib/config/nearest.ts";

Deno.test("editDistance counts insertions, deletions and replacements", () => {
  const cases = [
    ["", "", 0],
    ["", "abc", 3],
    ["abc", "", 3],
    ["abc", "abc", 0],
    ["abc", "abd", 1],
    ["abc", "acb", 2],
    ["kitten", "sitting", 3],
    ["LOG_LEVL", "LOG_LEVEL", 1],
  ] as const;
  for (const [a, b, want] of cases) {
    assertEquals([editDistance(a, b), editDistance(b, a)], [want, want], `${a} ${b}`);
  }
});

Deno.test("nearest takes the first of equals", () => {
  assertEquals(nearest("bat", ["dog", "cat", "rat"]), { word: "cat", distance: 1 });
});
