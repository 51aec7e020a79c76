import { assert, assertEquals } from "@std/assert";
import { poissonGaps, randomFrom } from "../../../lib/measure/load/arrivals.ts";

function near(actual: number, expected: number, share: number): void {
  assert(Math.abs(actual - expected) <= Math.abs(expected) * share, `${actual}, not ${expected}`);
}

Deno.test("poissonGaps come at the rate, are as uneven as chance, and the same for a seed", () => {
  const gaps = poissonGaps(200, 7);
  const drawn = Array.from({ length: 20_000 }, gaps);
  const mean = drawn.reduce((sum, gap) => sum + gap, 0) / drawn.length;
  near(mean, 5, 0.03);
  // Of exponential gaps, one in e is longer than the mean, and the deviation is the mean itself.
  near(drawn.filter((gap) => gap > 5).length / drawn.length, Math.exp(-1), 0.05);
  near(Math.sqrt(drawn.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / drawn.length), 5, 0.05);
  assert(drawn.every((gap) => gap >= 0 && Number.isFinite(gap)));
  const again = poissonGaps(200, 7);
  assertEquals(drawn.slice(0, 100), Array.from({ length: 100 }, again));
});

Deno.test("randomFrom gives neighbouring seeds nothing in common, and takes zero", () => {
  const firsts = Array.from({ length: 200 }, (_, seed) => randomFrom(seed)());
  assert(firsts.every((value) => value >= 0 && value < 1));
  const mean = firsts.reduce((sum, value) => sum + value, 0) / firsts.length;
  assert(mean > 0.4 && mean < 0.6, `${mean}`);
  const next = randomFrom(0);
  assert(new Set(Array.from({ length: 50 }, next)).size === 50);
});
