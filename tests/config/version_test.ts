import { assertEquals, assertMatch } from "@std/assert";
import { COMMIT, VERSION } from "../../lib/config/version.ts";

Deno.test("VERSION is a semantic version", () => {
  assertMatch(VERSION, /^\d+\.\d+\.\d+$/);
});

Deno.test("COMMIT says that nothing was built where the source runs", () => {
  assertEquals(COMMIT, "source");
});
