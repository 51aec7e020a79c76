import { type Bin, type Share, shareOf } from "./tally.ts";

/** Eighths of a line, from the bottom; none at all is a dot, so that it is not taken for no data. */
const EIGHTHS = ["·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** A line of blocks: how many of the calls were good, from left to right. At most `columns` wide. */
export function plotLine(bins: readonly Bin[], columns: number): string {
  return columnsOf(bins.map(({ all }) => all), columns).map(blockOf).join("");
}

/** The line above the others: where the fault was, and its name where there is room. */
export function plotFault(
  fault: { label: string; beginsMs: number; endsMs: number },
  scale: { durationMs: number; columns: number },
): string {
  const { durationMs, columns } = scale;
  const column = (ms: number) => Math.min(columns, Math.round(ms / durationMs * columns));
  const from = column(fault.beginsMs);
  const width = Math.max(1, column(fault.endsMs) - from);
  const label = ` ${fault.label} `;
  const room = width - label.length;
  if (room < 2) return `${" ".repeat(from)}${"─".repeat(width)}`;
  const left = "─".repeat(Math.floor(room / 2));
  return `${" ".repeat(from)}${left}${label}${"─".repeat(Math.ceil(room / 2))}`;
}

/** Columns of a line for so many bins where there is room for `most`. */
export function plotColumns(bins: number, most: number): number {
  return Math.min(bins, most);
}

/** Bins put together, so that `columns` hold them. */
function columnsOf(bins: readonly Share[], columns: number): Share[] {
  const merged: Share[] = Array.from({ length: columns }, () => ({ calls: 0, good: 0 }));
  for (const [i, { calls, good }] of bins.entries()) {
    const column = merged[Math.floor(i * columns / bins.length)]!;
    column.calls += calls;
    column.good += good;
  }
  return merged;
}

/** A share as a block: full only when all was well, empty only when nothing was. */
function blockOf(share: Share): string {
  const part = shareOf(share);
  if (part === 0 || part === 1) return EIGHTHS[part * 8]!;
  return EIGHTHS[Math.min(7, Math.max(1, Math.round(part * 8)))]!;
}
