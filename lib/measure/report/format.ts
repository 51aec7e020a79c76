const MS_PER_SECOND = 1_000;
const US_PER_MS = 1_000;

/** Share of a unit from which on three digits round up to it: 999.5 µs are 1.00 ms, not 1000 µs. */
const ROUNDS_UP = 0.999_5;

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

/** The unit that suits a time. */
export function timeUnit(ms: number): { readonly name: string; readonly perMs: number } {
  const size = Math.abs(ms);
  if (size >= MS_PER_SECOND * ROUNDS_UP) return { name: "s", perMs: 1 / MS_PER_SECOND };
  if (size >= ROUNDS_UP || size === 0) return { name: "ms", perMs: 1 };
  return { name: "µs", perMs: US_PER_MS };
}

/** A time in the unit that suits it, to three digits: `87.2 µs`, `1.25 ms`, `2.41 s`. */
export function showTime(ms: number): string {
  const { name, perMs } = timeUnit(ms);
  return `${threeDigits(ms * perMs)} ${name}`;
}

/** A round time without the zeros that say how exact it is: `50 ms`, `1.5 s`. */
export function showRoundTime(ms: number): string {
  return ms === 0 ? "0" : showTime(ms).replace(/\.0+(?= )|(\.\d*?)0+(?= )/, "$1");
}

/** `48.2 %`; a share that rounds to nothing but is there says so. */
export function showShare(part: number, whole: number): string {
  const percent = whole === 0 ? 0 : part / whole * 100;
  if (percent > 0 && percent < 0.05) return "<0.1 %";
  return `${percent.toFixed(1)} %`;
}

/** A line of a result: what it is about, and what was found. */
export function row(label: string, text: string): string {
  return label.padEnd(LABEL_COLUMNS) + text;
}

/** Text in lines that break at spaces, though not before a unit. */
export function wrapped(text: string, columns: number): string[] {
  const lines = [""];
  for (const word of text.split(/ (?!%|s\b|ms\b)/)) {
    const line = lines.at(-1)!;
    if (line !== "" && line.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}

/** A value to three digits, without a unit: `1.25`, `87.2`, `-350`. */
export function threeDigits(value: number): string {
  const size = Math.abs(value);
  const fractionDigits = size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : 2;
  return value.toFixed(fractionDigits);
}
