import { assertEquals } from "@std/assert";
import { Allowance } from "../../lib/connection/allowance.ts";

Deno.test("Allowance.take gives what there is at first, and what comes back with time", () => {
  const allowance = new Allowance({ burst: 10, perSecond: 1_000 });
  const take = (units: number, nowMs: number) => allowance.take(units, { earned: 0, nowMs });
  assertEquals([take(10, 0), take(1, 0)], [true, false]);
  assertEquals([take(3, 4), take(1, 4)], [true, false], "4 came back, of which 1 was owed");
});

Deno.test("Allowance.take never saves up more than the burst", () => {
  const allowance = new Allowance({ burst: 10, perSecond: 1_000 });
  assertEquals(allowance.take(0, { earned: 1_000, nowMs: 1e9 }), true);
  assertEquals(allowance.take(10, { earned: 1_000, nowMs: 2e9 }), true);
  assertEquals(allowance.take(1, { earned: 0, nowMs: 2e9 }), false);
});

Deno.test("Allowance.take puts in what was earned before it takes", () => {
  const allowance = new Allowance({ burst: 10, perSecond: 0 });
  for (let i = 0; i < 100; i++) {
    assertEquals(allowance.take(4, { earned: 4, nowMs: 0 }), true, `take ${i}`);
  }
});
