const MS_PER_SECOND = 1_000;
const US_PER_MS = 1_000;

/** Columns that the first word of a result's line has to itself. */
const LABEL_COLUMNS = 10;

/** `1,234,567`, whatever the machine's language. */
export function showCount(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

/** `3 calls`, `1 call`. */
export function showCounted(count: number, noun: string): string {
  return `${showCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A time in the unit that suits it, to three digits: `87.2 µs`, `1.25 ms`, `2.41 s`. */
export function showTime(ms: number): string {
  if (ms >= MS_PER_SECOND) return `${threeDigits(ms / MS_PER_SECOND)} s`;
  if (ms >= 1 || ms === 0) return `${threeDigits(ms)} ms`;
  return `${threeDigits(ms * US_PER_MS)} µs`;
}

/** A round time without the zeros that say how exact it is: `50 ms`, `1.5 s`. */
export function showRoundTime(ms: number): string {
  return ms === 0 ? "0" : showTime(ms).replace(/\.0+(?= )|(\.\d*?)0+(?= )/, "$1");
}

/** `48.2 %`; what rounds to nothing but is there says so. */
export function showShare(part: number, whole: number): string {
  const percent = whole === 0 ? 0 : part / whole * 100;
  if (percent > 0 && percent < 0.05) return "<0.1 %";
  return `${percent.toFixed(1)} %`;
}

/** A line of a result: what it is about, and what was found. */
export function row(label: string, text: string): string {
  return label.padEnd(LABEL_COLUMNS) + text;
}

function threeDigits(value: number): string {
  const fractionDigits = value >= 99.95 || value === 0 ? 0 : value >= 9.995 ? 1 : 2;
  return value.toFixed(fractionDigits);
}
