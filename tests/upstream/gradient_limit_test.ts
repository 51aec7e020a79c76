import { assert, assertEquals } from "@std/assert";
import { GradientLimit } from "../../lib/upstream/gradient_limit.ts";

/** A backend that answers `workers` calls at once, in 10 ms each, and keeps the others waiting. */
class Backend {
  readonly limit: GradientLimit;
  nowMs = 0;
  lowest = Infinity;

  constructor(max: number) {
    this.limit = new GradientLimit(max);
  }

  /** Is kept as busy as the limit allows for so many seconds; returns where the limit ends up. */
  runs(workers: number, seconds: number): number {
    const untilMs = this.nowMs + seconds * 1_000;
    this.lowest = Infinity;
    while (this.nowMs < untilMs) {
      const inflight = this.limit.limit;
      this.lowest = Math.min(this.lowest, inflight);
      this.nowMs += 10 / Math.min(workers, inflight);
      this.limit.observe(10 * Math.max(1, inflight / workers), inflight, this.nowMs);
    }
    return this.limit.limit;
  }
}

Deno.test("GradientLimit finds about as many calls as the backend can work on, and stays there", () => {
  const backend = new Backend(1_024);
  for (const seconds of [10, 100]) {
    const found = backend.runs(100, seconds);
    assert(found > 100 && found < 250, `${found}`);
  }
});

Deno.test("GradientLimit goes down when the backend gets slower, and up again", () => {
  const backend = new Backend(1_024);
  const before = backend.runs(200, 20);
  const during = backend.runs(40, 5);
  assert(during < before / 2, `${before}, then ${during}`);
  assert(backend.runs(200, 20) > during * 2);
});

Deno.test("GradientLimit measures the bare latency anew, since the backend may have changed for good", () => {
  const backend = new Backend(1_024);
  backend.runs(100, 10);
  backend.nowMs += 30_000;
  backend.runs(100, 1);
  assertEquals(backend.lowest, 8);
});

Deno.test("GradientLimit stays within the wall, however narrow, and above the least", () => {
  const narrow = new Backend(50);
  assertEquals(narrow.runs(10_000, 10), 50);
  const slow = new Backend(1_024);
  for (let i = 0; i < 32 * 100; i++) slow.limit.observe(1 + i * 100, slow.limit.limit, 0);
  assertEquals(slow.limit.limit, 8);
  assertEquals(new GradientLimit(3).limit, 3);
});

Deno.test("GradientLimit does not move for calls that come nowhere near it", () => {
  const limit = new GradientLimit(1_024);
  for (let i = 0; i < 32 * 50; i++) limit.observe(i % 2 === 0 ? 1 : 500, 2, 0);
  assertEquals(limit.limit, 64);
});
