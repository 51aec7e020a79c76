import { assert, assertEquals } from "@std/assert";
import { Histogram } from "../../../lib/measure/report/histogram.ts";
import { rng } from "../../support/cuts.ts";

const PERCENTS = [0.1, 1, 10, 25, 50, 75, 90, 99, 99.9, 99.99];

/** Values spread over many powers of ten, as latencies are. */
function latencies(seed: number, count: number): number[] {
  const random = rng(seed);
  return Array.from({ length: count }, () => 0.032 * 10 ** (random() * 6.5));
}

function histogramOf(values: readonly number[]): Histogram {
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

/** The least value that `percent` of the sorted values are not above. */
function exact(sorted: readonly number[], percent: number): number {
  return sorted[Math.max(1, Math.ceil(sorted.length * percent / 100)) - 1]!;
}

Deno.test("Histogram tells each percentile to within one percent", () => {
  for (const [seed, count] of [[1, 1], [2, 2], [3, 999], [4, 100_000]] as const) {
    const values = latencies(seed, count);
    const histogram = histogramOf(values);
    values.sort((one, other) => one - other);
    for (const percent of PERCENTS) {
      const want = exact(values, percent);
      const off = Math.abs(histogram.percentile(percent) - want) / want;
      assert(off < 0.01, `seed ${seed}, p${percent}: off by ${off}`);
    }
    assertEquals(histogram.percentile(100), values.at(-1));
    assertEquals([histogram.minMs, histogram.maxMs], [values[0], values.at(-1)]);
    const mean = values.reduce((sum, value) => sum + value, 0) / count;
    assert(Math.abs(histogram.meanMs - mean) < mean * 1e-9);
  }
});

Deno.test("Histogram tells the shortest times to a fraction of a microsecond", () => {
  for (let us = 0.5; us < 32; us += 0.5) {
    const histogram = histogramOf([us / 1_000, us / 1_000, 1]);
    assert(Math.abs(histogram.percentile(50) * 1_000 - us) <= 0.25, `${us} µs`);
  }
});

Deno.test("Histogram tells small differences of long times, where many values lie close", () => {
  const even = (fromMs: number) =>
    histogramOf(Array.from({ length: 10_000 }, (_, i) => fromMs + i / 10_000 * 20));
  // Buckets at 50 ms are 0.25 ms wide; a hop of 0.05 ms must not drown in them.
  for (const percent of [10, 50, 90]) {
    const added = even(50.05).percentile(percent) - even(50).percentile(percent);
    assert(Math.abs(added - 0.05) < 0.01, `p${percent}: ${added} ms`);
  }
});

Deno.test("Histogram takes what no clock should give", () => {
  const histogram = histogramOf([-5, 0, 10 ** 9]);
  assertEquals([histogram.count, histogram.minMs, histogram.maxMs], [3, 0, 10 ** 9]);
  assert(histogram.percentile(50) <= 0.000_25, "both are in the first bucket");
  assertEquals(new Histogram().percentile(99), 0);
  assertEquals(new Histogram().meanMs, 0);
});

Deno.test("Histogram.merge gives what recording everything in one would", () => {
  const one = latencies(5, 1_000);
  const other = latencies(6, 5_000);
  const merged = histogramOf(one);
  merged.merge(histogramOf(other));
  const both = histogramOf([...one, ...other]);
  assertEquals(PERCENTS.map((p) => merged.percentile(p)), PERCENTS.map((p) => both.percentile(p)));
  assertEquals([merged.count, merged.minMs, merged.maxMs], [both.count, both.minMs, both.maxMs]);
});

Deno.test("Histogram.countBetween counts each value in one range", () => {
  const histogram = histogramOf(latencies(7, 10_000));
  let sum = 0;
  for (const [from, to] of [[-1, 1], [1, 50], [50, 1_000], [1_000, Infinity]] as const) {
    sum += histogram.countBetween(from, to);
  }
  assertEquals(sum, 10_000);
  assertEquals(histogramOf([1, 2, 3]).countBetween(1.5, 2.5), 1);
});
