import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { planArrivals } from "../../../lib/measure/stall/arrivals.ts";

const PLAN = { seed: 7, perSecond: 300, durationMs: 20_000, shards: 3 };

Deno.test("planArrivals gives the same calls for the same seed, and others for another", () => {
  assertEquals(planArrivals(PLAN), planArrivals({ ...PLAN }));
  for (const seed of [0, 6, 8, 2 ** 31 - 1]) {
    assertNotEquals(planArrivals({ ...PLAN, seed }).slice(0, 3), planArrivals(PLAN).slice(0, 3));
  }
});

Deno.test("planArrivals keeps to the rate and to the time, in order", () => {
  for (const seed of [0, 1, 2, 3]) {
    const arrivals = planArrivals({ ...PLAN, seed });
    // 6,000 calls, give or take four standard deviations.
    assert(Math.abs(arrivals.length - 6_000) < 4 * Math.sqrt(6_000), `${arrivals.length} calls`);
    for (const [i, { atMs }] of arrivals.entries()) {
      assert(atMs >= (arrivals[i - 1]?.atMs ?? 0) && atMs < PLAN.durationMs);
    }
  }
});

Deno.test("planArrivals spreads gaps as independent callers do", () => {
  const times = planArrivals(PLAN).map(({ atMs }) => atMs);
  const gaps = times.slice(1).map((atMs, i) => atMs - times[i]!);
  const meanMs = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  // Of exponential gaps 1 - 1/e are below their mean.
  const below = gaps.filter((gap) => gap < meanMs).length / gaps.length;
  assert(Math.abs(below - 0.632) < 0.03, `${below} of the gaps are below the mean`);
});

Deno.test("planArrivals gives each backend one call of each round, in an order that varies", () => {
  const shards = planArrivals(PLAN).map(({ shard }) => shard);
  const orders = new Set<string>();
  for (let i = 0; i + 3 <= shards.length; i += 3) {
    const round = shards.slice(i, i + 3);
    orders.add(round.join(""));
    assertEquals(round.sort(), [0, 1, 2]);
  }
  assertEquals(orders.size, 6);
});
