import { assertEquals } from "@std/assert";
import { type CachePolicy, keptMs, staleIfErrorMs, staleMs } from "../../lib/freshness/mod.ts";

const NOTHING: CachePolicy = {
  isPrivate: false,
  isNoCache: false,
  maxAgeMs: Infinity,
  sharedMaxAgeMs: Infinity,
  maxStaleMs: Infinity,
  maxStaleIfErrorMs: Infinity,
  vary: [],
};

Deno.test("keptMs shortens times of a second and more by chance, and never makes one longer", () => {
  const kept = (cacheDurationMs: number, ttlJitter: number, at: number, cache?: CachePolicy) =>
    keptMs(cache, { cacheDurationMs, ttlJitter }, () => at);
  assertEquals(kept(4_000, 0.5, 0), 4_000);
  assertEquals(kept(4_000, 0.5, 0.5), 3_000);
  assertEquals(kept(4_000, 0.5, 1), 2_000);
  assertEquals(kept(4_000, 0, 1), 4_000);
  assertEquals(kept(999, 0.5, 1), 999);
  assertEquals(kept(4_000, 0.5, 1, { ...NOTHING, maxAgeMs: 2_000 }), 1_000);
});

Deno.test("staleMs and staleIfErrorMs are what is configured, and no longer than the reply says", () => {
  const both = (cache?: CachePolicy) => [
    staleMs(cache, { staleDurationMs: 5_000 }),
    staleIfErrorMs(cache, { staleIfErrorMs: 7_000 }),
  ];
  assertEquals(both(), [5_000, 7_000]);
  assertEquals(both(NOTHING), [5_000, 7_000]);
  assertEquals(both({ ...NOTHING, maxStaleMs: 60_000, maxStaleIfErrorMs: 60_000 }), [5_000, 7_000]);
  assertEquals(both({ ...NOTHING, maxStaleMs: 1_000, maxStaleIfErrorMs: 0 }), [1_000, 0]);
});
