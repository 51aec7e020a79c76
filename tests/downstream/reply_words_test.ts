import { assertEquals } from "@std/assert";
import { keptMs, staleMs } from "../../lib/downstream/reply_words.ts";
import type { CachePolicy } from "../../lib/upstream/mod.ts";

const NOTHING: CachePolicy = {
  isPrivate: false,
  isNoCache: false,
  maxAgeMs: Infinity,
  sharedMaxAgeMs: Infinity,
  maxStaleMs: Infinity,
  maxStaleIfErrorMs: Infinity,
  vary: [],
};

/** Where chance falls on `at`. */
function chance(ttlJitter: number, at = 0) {
  return { limits: { ttlJitter }, random: () => at };
}

Deno.test("keptMs shortens times of a second and more by chance, and never makes one longer", () => {
  assertEquals(keptMs(undefined, 4_000, chance(0.5, 0)), 4_000);
  assertEquals(keptMs(undefined, 4_000, chance(0.5, 0.5)), 3_000);
  assertEquals(keptMs(undefined, 4_000, chance(0.5, 1)), 2_000);
  assertEquals(keptMs(undefined, 4_000, chance(0, 1)), 4_000);
  assertEquals(keptMs(undefined, 999, chance(0.5, 1)), 999);
  assertEquals(keptMs({ ...NOTHING, maxAgeMs: 2_000 }, 4_000, chance(0.5, 1)), 1_000);
});

Deno.test("staleMs is what is configured, and no longer than the reply says", () => {
  assertEquals(staleMs(undefined, 5_000), 5_000);
  assertEquals(staleMs(NOTHING, 5_000), 5_000);
  assertEquals(staleMs({ ...NOTHING, maxStaleMs: 60_000 }, 5_000), 5_000);
  assertEquals(staleMs({ ...NOTHING, maxStaleMs: 1_000 }, 5_000), 1_000);
  assertEquals(staleMs({ ...NOTHING, maxStaleMs: 0 }, 5_000), 0);
});
