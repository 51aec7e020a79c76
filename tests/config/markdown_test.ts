import { assertEquals, assertStringIncludes, fail } from "@std/assert";
import { optionsMarkdown, optionsSection } from "../../lib/config/markdown.ts";
import { OPTIONS } from "../../lib/config/options.ts";

const README = new URL("../../README.md", import.meta.url);

Deno.test("optionsMarkdown has a row of three cells for every variable", () => {
  const rows = optionsMarkdown().split("\n").filter((line) => line.startsWith("| `"));
  assertEquals(rows.length, OPTIONS.length);
  for (const row of rows) assertEquals(row.split(/(?<!\\)\|/).length, 5, row);
});

Deno.test("optionsMarkdown marks the original's names, what is required and what is not yet", () => {
  const text = optionsMarkdown();
  assertStringIncludes(text, "| `GRPC_PORT` = | `50052` | where callers connect");
  assertStringIncludes(text, "| `BACKEND_ADDRESS` = | required | `host:port`");
  assertStringIncludes(text, "| `COLLAPSER_JOIN_MAX_AGE` | `BACKEND_TIMEOUT` | a flight");
  assertStringIncludes(text, "| `COLLAPSER_CONFIG` |  | path of");
});

Deno.test("optionsSection finds what stands between the markers", () => {
  const table = optionsMarkdown();
  assertEquals(optionsSection(`before\n${table}\nafter`), table);
  assertEquals(optionsSection("<!-- options --> never closed"), undefined);
  assertEquals(optionsSection("none"), undefined);
});

Deno.test("README has the option table as the options have it", async () => {
  const want = optionsMarkdown();
  const section = optionsSection(await Deno.readTextFile(README));
  if (section !== want) fail(`README.md must have, between the markers:\n\n${want}\n`);
});
