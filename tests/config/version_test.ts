import { assertMatch } from "@std/assert";
import { VERSION } from "../../lib/config/version.ts";

Deno.test("VERSION is a semantic version", () => {
  assertMatch(VERSION, /^\d+\.\d+\.\d+$/);
});
