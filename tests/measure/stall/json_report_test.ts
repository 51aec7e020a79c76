import { assertEquals } from "@std/assert";
import { stallJson } from "../../../lib/measure/stall/json_report.ts";
import { resultOf, RESULTS, SUBJECT } from "./results.ts";

Deno.test("stallJson holds conditions, arithmetic, phases and bins", () => {
  const told = JSON.parse(stallJson(SUBJECT, RESULTS));
  assertEquals([told.deadlineMs, told.seed, told.places, told.binMs], [2_000, 42, 10, 100]);
  assertEquals(told.sharedPool.takenPerSecond, 60);
  const [walls, shared] = told.systems;
  assertEquals([walls.name, shared.name], ["collapser", "shared-pool"]);
  assertEquals(walls.during.healthy, { calls: 400, good: 400 });
  assertEquals(walls.during.all, { calls: 600, good: 400 });
  assertEquals(walls.bins.length, 40);
  assertEquals([walls.bins[15], shared.bins[15]], [[20, 20, 20, 30], [0, 20, 0, 30]]);
  assertEquals(walls.recoveryMs, 0);
  const never = JSON.parse(stallJson(SUBJECT, [resultOf("never", (_, dueMs) => dueMs > 1_000)]));
  assertEquals(never.systems[0].recoveryMs, null);
});
