import { assertEquals } from "@std/assert";
import { plotFault, plotLine } from "../../../lib/measure/stall/plot.ts";
import type { Bin } from "../../../lib/measure/stall/tally.ts";

function bins(shares: readonly (readonly [good: number, calls: number])[]): Bin[] {
  return shares.map(([good, calls], i) => ({
    fromMs: i * 100,
    healthy: { calls: 0, good: 0 },
    all: { calls, good },
  }));
}

Deno.test("plotLine shows all, two thirds and none as what they are", () => {
  assertEquals(plotLine(bins([[3, 3], [2, 3], [0, 3], [0, 0]]), 4), "█▅·█");
});

Deno.test("plotLine shows no bin as full or empty that is only nearly so", () => {
  assertEquals(plotLine(bins([[999, 1_000], [1, 1_000]]), 2), "▇▁");
});

Deno.test("plotLine puts bins together by their calls where there is no room for each", () => {
  assertEquals(plotLine(bins([[4, 4], [0, 4], [0, 12], [4, 4]]), 2), "▄▂");
  assertEquals(plotLine(bins([[1, 1], [1, 1], [1, 1], [0, 1], [0, 1]]), 2).length, 2);
});

Deno.test("plotLine leaves no column without a bin", () => {
  for (let count = 1; count <= 200; count++) {
    const line = plotLine(bins(Array.from({ length: count }, () => [0, 1])), Math.min(count, 64));
    assertEquals(line, "·".repeat(Math.min(count, 64)), `${count} bins`);
  }
});

Deno.test("plotFault stands over the columns of the fault, with its name where there is room", () => {
  const scale = { durationMs: 1_000, columns: 50 };
  assertEquals(
    plotFault({ label: "stall at a", beginsMs: 200, endsMs: 600 }, scale),
    `${" ".repeat(10)}──── stall at a ────`,
  );
  assertEquals(
    plotFault({ label: "stall at a", beginsMs: 200, endsMs: 300 }, scale).trim(),
    "─────",
  );
  assertEquals(plotFault({ label: "x", beginsMs: 990, endsMs: 991 }, scale).length, 51);
});
