import { assertEquals } from "@std/assert";
import { type LagClock, LoopLag } from "../../lib/telemetry/loop_lag.ts";

/** A clock that wakes as late as the test says. */
class LateClock implements LagClock {
  nowMs = 0;
  wake: (() => void) | undefined = undefined;

  now(): number {
    return this.nowMs;
  }

  after(ms: number, wake: () => void): () => void {
    assertEquals(ms, 500);
    this.wake = wake;
    return () => this.wake = undefined;
  }

  /** Time passes, and then the timer fires. */
  fireAt(nowMs: number): void {
    this.nowMs = nowMs;
    this.wake?.();
  }
}

Deno.test("LoopLag tells the longest lag since it was last asked", () => {
  const clock = new LateClock();
  const lag = new LoopLag(clock);
  clock.fireAt(502); // 2 late
  clock.fireAt(1_302); // 300 late
  clock.fireAt(1_803); // 1 late
  assertEquals(lag.takeSeconds(), 0.3);
  clock.fireAt(2_313); // 10 late
  assertEquals(lag.takeSeconds(), 0.01);
  assertEquals(lag.takeSeconds(), 0);
});

Deno.test("LoopLag tells of a stall before its timer could, and only once", () => {
  const clock = new LateClock();
  const lag = new LoopLag(clock);
  clock.nowMs = 2_500;
  assertEquals(lag.takeSeconds(), 2);
  clock.fireAt(2_501);
  assertEquals(lag.takeSeconds(), 0.001);
});

Deno.test("LoopLag is zero while its timer is not due", () => {
  const clock = new LateClock();
  const lag = new LoopLag(clock);
  clock.nowMs = 499;
  assertEquals(lag.takeSeconds(), 0);
  clock.fireAt(505);
  assertEquals(lag.takeSeconds(), 0.005);
});

Deno.test("LoopLag lets go of its timer when it is stopped", () => {
  const clock = new LateClock();
  new LoopLag(clock).stop();
  assertEquals(clock.wake, undefined);
});
