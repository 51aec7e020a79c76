import { assertEquals, assertFalse } from "@std/assert";
import { BucketsByAddress } from "../../lib/admin/buckets_by_address.ts";

Deno.test("BucketsByAddress tells addresses apart, and those beyond the limit share one", () => {
  const buckets = new BucketsByAddress({ perSecond: 1, burst: 1 });
  const take = (address: string) => buckets.of(address).take(1, 0);
  assertEquals([take("a"), take("a"), take("b")], [true, false, true]);
  for (let i = 0; i < 1_000; i++) buckets.of(`address ${i}`);
  assertEquals([take("c"), take("d")], [true, false]);
  assertFalse(take("a")); // it has still its own
  assertEquals(buckets.of("a").take(1, 1_000), true);
});
