import { assertEquals } from "@std/assert";
import {
  DURATION,
  MAX_DURATION_MS,
  POSITIVE_DURATION,
  STALE_DURATION,
} from "../../../lib/config/kinds/duration.ts";

const GOOD: readonly (readonly [text: string, ms: number])[] = [
  ["0", 0],
  ["-0", 0],
  ["0s", 0],
  ["-0s", 0],
  ["+5s", 5_000],
  ["1m30s", 90_000],
  ["1.5s", 1_500],
  ["100ms", 100],
  ["2h", 7_200_000],
  ["1h1m1s1ms1us1ns", 3_661_001.001001],
  [".5s", 500],
  ["1.s", 1_000],
  ["1500us", 1.5],
  ["1500\u00b5s", 1.5],
  ["1500\u03bcs", 1.5],
  ["1ns", 1e-6],
  ["0.1ms", 0.1],
  ["1s1s", 2_000],
  // Less than a nanosecond is cut off, as Go does.
  ["1.9999ns", 1e-6],
  ["596h", 2_145_600_000],
];

const BAD: readonly (readonly [text: string, why: string])[] = [
  ["", "expected a duration such as 100ms"],
  ["fast", "expected a duration such as 100ms"],
  [".s", "expected a duration such as 100ms"],
  ["s", "expected a duration such as 100ms"],
  ["1 s", "expected a duration such as 100ms"],
  ["1S", "expected a duration such as 100ms"],
  ["1d", "expected a duration such as 100ms"],
  ["1s5", "expected a duration such as 100ms"],
  ["--1s", "expected a duration such as 100ms"],
  ["1e3s", "expected a duration such as 100ms"],
  ["100", "expected a duration with a unit, such as 100ms"],
  ["1.5", "expected a duration with a unit, such as 100ms"],
  ["-5", "expected a duration with a unit, such as 100ms"],
  ["-1s", "expected a duration of 0 or more, such as 100ms"],
  ["597h", "expected a duration of at most 596h, the longest a timer can wait"],
  ["99999999999999999999h", "expected a duration of at most 596h, the longest a timer can wait"],
];

Deno.test("DURATION reads what Go reads", () => {
  for (const [text, ms] of GOOD) assertEquals(DURATION.parse(text), { value: ms }, text);
});

Deno.test("DURATION says why a text is no duration", () => {
  for (const [text, why] of BAD) assertEquals(DURATION.parse(text), { why }, text);
});

Deno.test("DURATION takes nothing that a timer would run at once", () => {
  assertEquals(DURATION.parse(`${MAX_DURATION_MS}ms`), { value: MAX_DURATION_MS });
  assertEquals("why" in DURATION.parse(`${MAX_DURATION_MS + 1}ms`), true);
});

Deno.test("DURATION shows a text that reads as the same value", () => {
  const shown = [0, 0.1, 1e-6, 100, 999.5, 1_000, 1_500, 90_000, 3_600_000, 3_661_001].map((ms) => {
    assertEquals(DURATION.parse(DURATION.show(ms)), { value: ms });
    return DURATION.show(ms);
  });
  assertEquals(shown, [
    "0s",
    "100000ns",
    "1ns",
    "100ms",
    "999.5ms",
    "1s",
    "1.5s",
    "1m30s",
    "1h",
    "1h1m1.001s",
  ]);
});

Deno.test("POSITIVE_DURATION refuses 0 in every form and passes other reasons on", () => {
  for (const text of ["0", "0s", "0.0ms"]) {
    assertEquals(POSITIVE_DURATION.parse(text), {
      why: "expected a duration above 0, such as 100ms",
    });
  }
  assertEquals(POSITIVE_DURATION.parse("1ns"), { value: 1e-6 });
  assertEquals(POSITIVE_DURATION.parse("1"), DURATION.parse("1"));
});

Deno.test("STALE_DURATION is an hour at most", () => {
  assertEquals(STALE_DURATION.parse("1h"), { value: 3_600_000 });
  assertEquals(STALE_DURATION.parse("0"), { value: 0 });
  assertEquals(STALE_DURATION.parse("1h0m0.001s"), { why: "expected a duration of 1h at most" });
  assertEquals("why" in STALE_DURATION.parse("-3s"), true);
});
