import { assertEquals } from "@std/assert";
import { policySchema } from "../../../lib/config/mod.ts";
import { collapser } from "../support.ts";

Deno.test("schema prints the schema of the policy file, and nothing beside it", async () => {
  const { code, out, err, ran } = await collapser("schema");
  assertEquals([code, err, ran], [0, "", undefined]);
  assertEquals(JSON.parse(out), policySchema());
});
