import { showCount, showTime, threeDigits, timeUnit } from "../report/mod.ts";
import type { CpuFigures } from "./result.ts";
import { totalCpuMs } from "./sample.ts";
import type { Spread } from "./statistics.ts";

const BYTES_PER_MB = 1e6;

/** Columns of a line of text. */
const COLUMNS = 80;

/** `1,000/s`. */
export function showRate(perSecond: number): string {
  return `${showCount(perSecond)}/s`;
}

/** `+98.2 µs`, `-1.20 ms`: a difference. */
export function showDifference(ms: number): string {
  return `${ms < 0 ? "-" : "+"}${showTime(Math.abs(ms))}`;
}

/** `(90.1..110)`: the quartiles, in the unit of the median; "" where it was measured once. */
export function showTimeRange(spread: Spread): string {
  const { perMs } = timeUnit(spread.median);
  return showRange(spread, (ms) => threeDigits(ms * perMs));
}

/** `(2,428..3,567)`: the quartiles of any figure, as `show` writes them; "" where it was measured once. */
export function showRange({ low, high, count }: Spread, show: (value: number) => string): string {
  return count < 2 ? "" : `(${show(low)}..${show(high)})`;
}

/** `2,998 (2,428..3,567)`: the median, and how far apart the rounds were. */
export function showWithRange(spread: Spread, show: (value: number) => string): string {
  return `${show(spread.median)} ${showRange(spread, show)}`.trimEnd();
}

/** CPUs kept busy by 1,000 calls a second, which is the same number as ms for a call. */
export function cpus(ms: number): string {
  return ms.toFixed(3);
}

/** `0.043 (0.040..0.050)`: both kinds of time together, and how far apart the rounds were. */
export function showCpus(cpu: CpuFigures): string {
  const total = totalCpuMs({ userMs: cpu.userMs, systemMs: cpu.systemMs ?? undefined });
  return `${cpus(total)} ${showRange(cpu.totalMs, cpus)}`.trimEnd();
}

/** `12.34`: an amount of whatever the prices were in. */
export function showMoney(amount: number): string {
  return amount.toFixed(2);
}

/** `62 MB`, of a million bytes each. */
export function showMegabytes(bytes: number): string {
  return `${(bytes / BYTES_PER_MB).toFixed(0)} MB`;
}

/** Lines of at most 80 columns that break at spaces; the first has `prefix` before it, the others as many spaces. */
export function wrapped(text: string, { prefix = "" } = {}): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && prefix.length + line.length + 1 + word.length > COLUMNS) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  const indent = " ".repeat(prefix.length);
  return [...lines, line].map((content, i) => (i === 0 ? prefix : indent) + content);
}
