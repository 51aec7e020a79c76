import { assert, assertEquals } from "@std/assert";
import { Histogram } from "../../../lib/measure/report/histogram.ts";
import { picture } from "../../../lib/measure/report/picture.ts";
import { rng } from "../../support/cuts.ts";

function histogramOf(values: Iterable<number>): Histogram {
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

function bar(columns: number): string {
  return "█".repeat(columns);
}

/** The shares at the ends of the rows. */
function shares(rows: readonly string[]): number[] {
  return rows.map((row) => Number(/([\d.]+) %$/.exec(row)![1]));
}

Deno.test("picture draws times that are near each other in even steps", () => {
  assertEquals(picture(histogramOf([51.5, 53.4, 53.5, 53.6, 58.5])), [
    `51 ms - 52 ms  ${bar(13)} 20.0 %`,
    "52 ms - 53 ms  0.0 %",
    `53 ms - 54 ms  ${bar(40)} 60.0 %`,
    ...[54, 55, 56, 57].map((ms) => `${ms} ms - ${ms + 1} ms  0.0 %`),
    `58 ms - 59 ms  ${bar(13)} 20.0 %`,
  ]);
});

Deno.test("picture draws times that are far apart in growing steps", () => {
  assertEquals(picture(histogramOf([0.3, 0.4, 3, 30, 300])), [
    `  200 µs - 1 ms  ${bar(40)} 40.0 %`,
    `    1 ms - 5 ms  ${bar(20)} 20.0 %`,
    "   5 ms - 20 ms  0.0 %",
    ` 20 ms - 100 ms  ${bar(20)} 20.0 %`,
    `100 ms - 500 ms  ${bar(20)} 20.0 %`,
  ]);
  const rare = picture(histogramOf([...Array(9_999).fill(1.5), 40]));
  assertEquals(rare.at(-1), "20 ms - 50 ms  ▏ <0.1 %");
});

Deno.test("picture has few rows of at most 80 columns that make a whole, whatever the times", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = rng(seed);
    const low = 10 ** (random() * 6 - 3);
    const ratio = 10 ** (random() * 7);
    const count = 1 + Math.floor(random() * 500);
    const values = Array.from({ length: count }, () => low * ratio ** random());
    const rows = picture(histogramOf(values));
    assert(rows.length >= 1 && rows.length <= 10, `seed ${seed}: ${rows.length} rows`);
    for (const row of rows) assert(row.length < 76, `seed ${seed}: ${row}`);
    const sum = shares(rows).reduce((total, share) => total + share, 0);
    assert(Math.abs(sum - 100) < 1, `seed ${seed}: ${sum} %`);
  }
});

Deno.test("picture draws nothing of nothing, and equal times in one row", () => {
  assertEquals(picture(new Histogram()), []);
  assertEquals(picture(histogramOf([0, 0, 0])).length, 1);
  assertEquals(picture(histogramOf([7, 7])).length, 1);
});
