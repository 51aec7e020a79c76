import { assertEquals } from "@std/assert";
import { flagDefinitions, readFlagTable, repeated, single } from "../../lib/cli/flag_table.ts";
import { BOOLEAN, count, METADATA, optional } from "../../lib/config/mod.ts";

const TABLE = {
  callers: single(count({ min: 1 }), { fallback: "100", help: "how many" }),
  adminPort: single(optional(count({ min: 1 })), { help: "where" }),
  metadata: repeated(METADATA, { help: "what" }),
  json: single(BOOLEAN, { fallback: "false", help: "how" }),
};

Deno.test("readFlagTable gives defaults, none, and empty lists", () => {
  assertEquals(readFlagTable([], TABLE), {
    values: { callers: 100, adminPort: undefined, metadata: [], json: false },
  });
});

Deno.test("readFlagTable takes the last of single flags and all of repeated ones", () => {
  const args = "--callers 1 --callers=2 --admin-port 3 --metadata a=1 --metadata a=2 --json";
  assertEquals(readFlagTable(args.split(" "), TABLE), {
    values: { callers: 2, adminPort: 3, metadata: [["a", "1"], ["a", "2"]], json: true },
  });
});

Deno.test("readFlagTable reports all problems at once", () => {
  const args = "--callers 0 --metadata a --metadata b=1 --json=maybe --wat";
  assertEquals(readFlagTable(args.split(" "), TABLE), {
    problems: [
      "Cannot read --wat: no such flag; the nearest is --help",
      'Cannot parse --callers "0": expected a whole number of at least 1',
      'Cannot parse --metadata "a": expected metadata such as x-tenant=a',
      'Cannot parse --json "maybe": expected true or false',
    ],
  });
});

Deno.test("flagDefinitions shows placeholders and the defaults that say something", () => {
  assertEquals(flagDefinitions(TABLE), [
    { term: "--callers COUNT", meaning: "how many (100)" },
    { term: "--admin-port COUNT", meaning: "where" },
    { term: "--metadata NAME=VALUE", meaning: "what" },
    { term: "--json", meaning: "how" },
  ]);
});
