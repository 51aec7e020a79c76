import { assertEquals } from "@std/assert";
import type { Sample } from "../../lib/admin/history.ts";
import { stallOf } from "../../lib/admin/stall.ts";
import { healthOf } from "../../lib/admin/words.ts";

/** One second of one backend: how many calls it has, how many it answered a second, and how fast. */
type Second = readonly [inflight: number, calls: number, p99Ms: number | null];

function samplesOf(seconds: readonly Second[]): Sample[] {
  return seconds.map(([inflight, calls, p99Ms]) => {
    const backends = [{ name: "main", inflight, calls, p50Ms: p99Ms, p99Ms }];
    return { backends } as unknown as Sample;
  });
}

function repeat(times: number, second: Second): Second[] {
  return Array.from({ length: times }, () => second);
}

Deno.test("stallOf finds a backend that has calls and answers none for longer than usual", () => {
  const busy = repeat(20, [5, 100, 40]);
  const stall = stallOf(samplesOf([...busy, ...repeat(3, [12, 0, null])]));
  assertEquals(stall, { name: "main", calls: 12, forS: 7, usualMs: 40 });
  const words = healthOf([], { ready: true, reason: "", last: undefined, stall });
  assertEquals(words, {
    state: "stalled",
    words: "Stalled: 12 calls wait at main, and none was answered for 7 s; " +
      "the slowest in a hundred took 40 ms before",
  });
});

Deno.test("stallOf lets a backend be as slow as it is, quiet when nobody asks, and slow to begin with", () => {
  const slow = repeat(20, [5, 1, 9_000]);
  assertEquals(stallOf(samplesOf([...slow, ...repeat(20, [5, 0, null])])), undefined);
  assertEquals(stallOf(samplesOf([...slow, ...repeat(25, [5, 0, null])]))?.forS, 29);
  assertEquals(stallOf(samplesOf(repeat(60, [0, 0, null]))), undefined);
  assertEquals(stallOf(samplesOf(repeat(5, [1, 0, null]))), undefined);
  assertEquals(stallOf(samplesOf(repeat(8, [1, 0, null])))?.forS, 12); // nothing is known of it
  assertEquals(stallOf([]), undefined);
});

Deno.test("stallOf ends with the first answer", () => {
  const seconds = [...repeat(20, [5, 100, 40]), ...repeat(9, [5, 0, null])];
  assertEquals(stallOf(samplesOf([...seconds, [5, 0.2, 9_000]])), undefined);
});
