import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { quantileMs } from "../../lib/admin/quantile.ts";
import { LatencyHistogram } from "../../lib/observe/mod.ts";

function of(...milliseconds: number[]): Float64Array {
  const histogram = new LatencyHistogram();
  for (const each of milliseconds) histogram.observe(each);
  return histogram.counts;
}

Deno.test("quantileMs says nothing where nothing was measured", () => {
  assertEquals(quantileMs(of(), 0.5), undefined);
});

Deno.test("quantileMs lies in the bucket that the share falls into", () => {
  const counts = of(...Array(90).fill(1), ...Array(10).fill(100));
  const [p50, p99] = [quantileMs(counts, 0.5)!, quantileMs(counts, 0.99)!];
  assertGreater(p50, 0.8);
  assertLess(p50, 1.6);
  assertGreater(p99, 51.2);
  assertLess(p99, 102.4);
  assertEquals(quantileMs(of(0.05), 1), 0.1); // the end of the first bucket
});

Deno.test("quantileMs ends where the buckets do", () => {
  assertEquals(quantileMs(of(1e6), 0.5), 0.1 * 2 ** 17);
});
