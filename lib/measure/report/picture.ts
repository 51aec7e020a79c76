import { showRoundTime, showShare } from "./format.ts";
import type { Histogram } from "./histogram.ts";

/** Rows that a glance takes in. */
const MAX_ROWS = 9;

/** Columns of the longest bar; with the labels around it a row stays under 80. */
const BAR_COLUMNS = 40;

/** Slowest over fastest, above which steps double from row to row; below, all are equally wide. */
const WIDE_RATIO = 8;

/** The round numbers that a row may begin at, in each power of ten. */
const ROUND = [1, 2, 5];

/** Draws how latencies are spread: a bar a row, with its share of all. Empty when nothing was recorded. */
export function picture(histogram: Histogram): string[] {
  if (histogram.count === 0) return [];
  const edges = edgesOf(histogram);
  const counts = edges.slice(1).map((to, i) =>
    histogram.countBetween(i === 0 ? -1 : edges[i]!, to)
  );
  // The slowest may lie past the last edge by the width of its bucket.
  counts[counts.length - 1]! += histogram.count - counts.reduce((sum, count) => sum + count, 0);
  const most = Math.max(...counts);
  const labels = counts.map((_, i) =>
    `${showRoundTime(edges[i]!)} - ${showRoundTime(edges[i + 1]!)}`
  );
  const width = Math.max(...labels.map((label) => label.length));
  return counts.map((count, i) => {
    const bar = "█".repeat(Math.round(count / most * BAR_COLUMNS)) || (count > 0 ? "▏" : "");
    const space = bar === "" ? "" : " ";
    return `${labels[i]!.padStart(width)}  ${bar}${space}${showShare(count, histogram.count)}`;
  });
}

/** Round numbers in ms, from at most the least value to at least the greatest. */
function edgesOf(histogram: Histogram): number[] {
  const least = Math.max(histogram.minMs, 0.001);
  const greatest = Math.max(histogram.maxMs, least);
  if (greatest / least <= WIDE_RATIO) return evenEdges(least, greatest);
  for (let skip = 1;; skip++) {
    const edges = doublingEdges(least, greatest, skip);
    if (edges.length <= MAX_ROWS + 1) return edges;
  }
}

function evenEdges(least: number, greatest: number): number[] {
  for (let i = roundIndex((greatest - least || least) / MAX_ROWS);; i++) {
    const step = roundAt(i);
    const first = Math.floor(least / step);
    const last = Math.max(first + 1, Math.ceil(greatest / step));
    if (last - first > MAX_ROWS) continue;
    return Array.from({ length: last - first + 1 }, (_, k) => (first + k) * step);
  }
}

/** Every `skip`th of 1, 2, 5, 10, 20, ... */
function doublingEdges(least: number, greatest: number, skip: number): number[] {
  const edges: number[] = [];
  for (let i = roundIndex(least);; i += skip) {
    edges.push(roundAt(i));
    if (roundAt(i) >= greatest) return edges;
  }
}

/** Index of the last round number that is not above `value`; index 0 is 1. */
function roundIndex(value: number): number {
  let i = Math.floor(Math.log10(value)) * ROUND.length;
  while (roundAt(i + 1) <= value) i++;
  while (roundAt(i) > value) i--;
  return i;
}

function roundAt(index: number): number {
  const power = Math.floor(index / ROUND.length);
  return ROUND[index - power * ROUND.length]! * 10 ** power;
}
