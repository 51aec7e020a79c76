import { assertEquals } from "@std/assert";
import { TokenBucket } from "../../lib/connection/token_bucket.ts";

Deno.test("TokenBucket.take gives the burst at once, and then so many a second", () => {
  const bucket = new TokenBucket({ burst: 10, perSecond: 1_000 });
  const take = (units: number, nowMs: number) => bucket.take(units, nowMs);
  assertEquals([take(10, 0), take(1, 0)], [true, false]);
  assertEquals([take(3, 2), take(3, 3), take(1, 3)], [false, true, false]);
});

Deno.test("TokenBucket.take starts with the burst whenever it is first asked", () => {
  for (const nowMs of [0, 5, 1e12]) {
    const bucket = new TokenBucket({ burst: 2, perSecond: 1 });
    assertEquals([1, 2, 3].map(() => bucket.take(1, nowMs)), [true, true, false]);
  }
});

Deno.test("TokenBucket.take takes nothing when not all of it is there", () => {
  const bucket = new TokenBucket({ burst: 10, perSecond: 0 });
  assertEquals([11, 7, 4, 4, 3, 1].map((units) => bucket.take(units, 0)), [
    ...[false, true, false, false, true, false],
  ]);
});

Deno.test("TokenBucket.take gives what is due at its very millisecond, however often it was asked before", () => {
  const bucket = new TokenBucket({ burst: 1, perSecond: 1 });
  assertEquals(bucket.take(1, 0), true);
  for (let nowMs = 0.1; nowMs < 1_000; nowMs += 0.1) bucket.take(1, Math.min(nowMs, 999.9));
  assertEquals(bucket.take(1, 1_000), true);
});

Deno.test("TokenBucket saves up no more than the burst, by time or by what is earned", () => {
  const bucket = new TokenBucket({ burst: 10, perSecond: 1_000 });
  bucket.earn(1_000);
  assertEquals([bucket.take(10, 1e9), bucket.take(1, 1e9)], [true, false]);
  bucket.earn(4);
  assertEquals([bucket.take(10, 2e9), bucket.take(1, 2e9)], [true, false]);
});

Deno.test("TokenBucket.earn puts back what can be taken at once", () => {
  const bucket = new TokenBucket({ burst: 10, perSecond: 0 });
  for (let i = 0; i < 100; i++) {
    bucket.earn(4);
    assertEquals(bucket.take(4, 0), true, `take ${i}`);
  }
  assertEquals([bucket.take(6, 0), bucket.take(1, 1e9)], [true, false]);
  bucket.earn(0.5);
  bucket.earn(0.5);
  assertEquals([bucket.take(1, 1e9), bucket.take(1, 1e9)], [true, false]);
});

Deno.test("TokenBucket.waitMs says when there will be enough, and takes nothing", () => {
  const bucket = new TokenBucket({ burst: 3, perSecond: 2 });
  assertEquals([bucket.waitMs(3, 0), bucket.take(3, 0)], [0, true]);
  assertEquals([bucket.waitMs(1, 0), bucket.waitMs(1, 250), bucket.waitMs(3, 0)], [
    500,
    250,
    1_500,
  ]);
  assertEquals([bucket.waitMs(1, 500), bucket.take(1, 499), bucket.take(1, 500)], [0, false, true]);
  assertEquals(bucket.waitMs(4, 1e9), Infinity);
  const earned = new TokenBucket({ burst: 3, perSecond: 0 });
  assertEquals([earned.take(3, 0), earned.waitMs(1, 1e9)], [true, Infinity]);
  earned.earn(1);
  assertEquals(earned.waitMs(1, 1e9), 0);
});
