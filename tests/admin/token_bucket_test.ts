import { assert, assertEquals, assertFalse } from "@std/assert";
import { BucketsByAddress, TokenBucket } from "../../lib/admin/token_bucket.ts";

Deno.test("TokenBucket gives its burst at once, and then so many a second", () => {
  let nowMs = 0;
  const bucket = new TokenBucket({ perSecond: 2, burst: 3 }, () => nowMs);
  assertEquals([1, 2, 3, 4].map(() => bucket.take()), [true, true, true, false]);
  assertEquals(bucket.waitS, 0.5);
  nowMs = 499;
  assertFalse(bucket.take());
  nowMs = 500;
  assert(bucket.has);
  assertEquals([bucket.take(), bucket.take()], [true, false]);
  nowMs = 1e6; // a long time of quiet saves up no more than a burst
  assertEquals([1, 2, 3, 4].map(() => bucket.take()), [true, true, true, false]);
});

Deno.test("BucketsByAddress tells addresses apart, and those beyond the limit share one", () => {
  const buckets = new BucketsByAddress({ perSecond: 1, burst: 1 }, () => 0);
  assertEquals([buckets.of("a").take(), buckets.of("a").take(), buckets.of("b").take()], [
    true,
    false,
    true,
  ]);
  for (let i = 0; i < 1_000; i++) buckets.of(`address ${i}`);
  assertEquals([buckets.of("c").take(), buckets.of("d").take()], [true, false]);
  assertFalse(buckets.of("a").take()); // it has still its own
});
