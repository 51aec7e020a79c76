import { assertEquals } from "@std/assert";
import { RateLimit } from "../../lib/telemetry/rate_limit.ts";

Deno.test("RateLimit lets one a second through and tells how many it left out before", () => {
  let nowMs = 5;
  const limit = new RateLimit(() => nowMs);
  assertEquals(limit.admit("a"), 0);
  assertEquals([limit.admit("a"), limit.admit("a")], [undefined, undefined]);
  nowMs += 999;
  assertEquals(limit.admit("a"), undefined);
  nowMs += 1;
  assertEquals(limit.admit("a"), 3);
  assertEquals(limit.admit("a"), undefined);
  nowMs += 5_000;
  assertEquals(limit.admit("a"), 1);
  nowMs += 1_000;
  assertEquals(limit.admit("a"), 0);
});

Deno.test("RateLimit counts each kind on its own", () => {
  const limit = new RateLimit(() => 0);
  assertEquals([limit.admit("a"), limit.admit("b")], [0, 0]);
  assertEquals([limit.admit("a"), limit.admit("b")], [undefined, undefined]);
});

Deno.test("RateLimit lets kinds past its bound share one allowance", () => {
  let nowMs = 0;
  const limit = new RateLimit(() => nowMs);
  for (let i = 0; i < 200; i++) assertEquals(limit.admit(`${i}`), 0);
  assertEquals([limit.admit("x"), limit.admit("y"), limit.admit("z")], [0, undefined, undefined]);
  assertEquals([limit.admit("199"), limit.admit("199")], [undefined, undefined]);
  nowMs = 999;
  assertEquals(limit.admit("z"), undefined);
});

Deno.test("RateLimit forgets kinds that could be told at once, to tell new ones apart", () => {
  let nowMs = 0;
  const limit = new RateLimit(() => nowMs);
  for (let i = 0; i < 200; i++) limit.admit(`${i}`);
  assertEquals([limit.admit("7"), limit.admit("x"), limit.admit("y")], [undefined, 0, undefined]);
  nowMs = 1_000;
  assertEquals([limit.admit("x"), limit.admit("y"), limit.admit("y")], [0, 0, undefined]);
  // What was left out is told all the same.
  assertEquals([limit.admit("7"), limit.admit("8")], [1, 0]);
});

Deno.test("RateLimit reads a clock of its own when none is passed in", () => {
  const limit = new RateLimit();
  assertEquals([limit.admit("a"), limit.admit("a")], [0, undefined]);
});
