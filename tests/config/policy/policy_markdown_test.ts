import { assertEquals, fail } from "@std/assert";
import { COLLAPSER_KEYS } from "../../../lib/config/policy/collapser_keys.ts";
import { policyMarkdown, policySection } from "../../../lib/config/policy/policy_markdown.ts";

const PAGE = new URL("../../../docs/policy.md", import.meta.url);

Deno.test("policyMarkdown has a row of three cells for every key", () => {
  const rows = policyMarkdown().split("\n").filter((line) => line.startsWith("| `"));
  assertEquals(rows.length, COLLAPSER_KEYS.length + 2); // maxConcurrent, and timeout
  for (const row of rows) assertEquals(row.split(/(?<!\\)\|/).length, 5, row);
});

Deno.test("docs/policy.md has the keys as the tables have them", async () => {
  const want = policyMarkdown();
  const section = policySection(await Deno.readTextFile(PAGE));
  if (section !== want) fail(`docs/policy.md must have, between the markers:\n\n${want}\n`);
});
