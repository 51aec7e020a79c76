import { assertEquals } from "@std/assert";
import {
  row,
  showCount,
  showCounted,
  showRoundTime,
  showShare,
  showTime,
} from "../../../lib/measure/report/format.ts";

Deno.test("showTime picks the unit and keeps three digits", () => {
  const cases = [
    [0, "0 ms"],
    [0.000_5, "0.50 µs"],
    [0.087_23, "87.2 µs"],
    [0.1, "100 µs"],
    [0.999_4, "999 µs"],
    [0.999_6, "1.00 ms"],
    [1, "1.00 ms"],
    [12.345, "12.3 ms"],
    [99.96, "100 ms"],
    [567.8, "568 ms"],
    [999.7, "1.00 s"],
    [2_413, "2.41 s"],
    [600_000, "600 s"],
  ] as const;
  for (const [ms, text] of cases) assertEquals(showTime(ms), text);
});

Deno.test("showRoundTime leaves out the zeros, and only those after the point", () => {
  const cases = [[0, "0"], [50, "50 ms"], [100, "100 ms"], [1_500, "1.5 s"], [
    0.02,
    "20 µs",
  ]] as const;
  for (const [ms, text] of cases) assertEquals(showRoundTime(ms), text);
});

Deno.test("showCount groups digits, and showCounted finds the plural", () => {
  assertEquals(showCount(1_234_567.4), "1,234,567");
  assertEquals([0, 1, 2].map((n) => showCounted(n, "call")), ["0 calls", "1 call", "2 calls"]);
});

Deno.test("showShare never calls something nothing", () => {
  assertEquals(showShare(1, 100_000), "<0.1 %");
  assertEquals(showShare(0, 5), "0.0 %");
  assertEquals(showShare(0, 0), "0.0 %");
  assertEquals(showShare(1, 3), "33.3 %");
});

Deno.test("row sets the label apart", () => {
  assertEquals(row("calls", "3"), "calls     3");
});
