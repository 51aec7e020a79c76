import { assert, assertFalse } from "@std/assert";
import { RecentIds } from "../../lib/connection/recent_ids.ts";

Deno.test("RecentIds remembers the last 1,024 and forgets the oldest first", () => {
  const ids = new RecentIds();
  for (let id = 1; id <= 1_024; id++) ids.add(id);
  assert(ids.has(1));
  ids.add(1_025);
  assertFalse(ids.has(1));
  for (let id = 2; id <= 1_025; id++) assert(ids.has(id), `${id}`);
  for (let id = 2_000; id < 10_000; id++) ids.add(id);
  assertFalse(ids.has(1_025));
  assert(ids.has(9_999));
});
