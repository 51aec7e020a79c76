import type { Kind, Parsed } from "./kind.ts";

/** Nanoseconds in one unit; the two micro signs are different characters. */
const UNIT_NS: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["\u00b5s", 1_000n],
  ["\u03bcs", 1_000n],
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);

/** A number and its unit; longer units first, so that `ms` is not read as `m` and a stray `s`. */
const PART = /(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;

const EXAMPLE = "such as 100ms";

/** The longest `setTimeout` can wait: a longer one would fire at once. */
export const MAX_DURATION_MS = 2 ** 31 - 1;

/** A Go duration of 0 or more, in milliseconds and fractions of one. */
export const DURATION: Kind<number> = {
  placeholder: "DURATION",
  parse: parseDuration,
  show: showDuration,
};

/** An older answer than that helps nobody, and a write that was missed would show for ever. */
const MAX_STALE_MS = 3_600_000;

/** A Go duration for which something may be stale: an hour at most. */
export const STALE_DURATION: Kind<number> = {
  ...DURATION,
  parse(text) {
    const parsed = parseDuration(text);
    return "value" in parsed && parsed.value > MAX_STALE_MS
      ? { why: "expected a duration of 1h at most" }
      : parsed;
  },
};

/** A Go duration above 0, in milliseconds and fractions of one. */
export const POSITIVE_DURATION: Kind<number> = {
  ...DURATION,
  parse(text) {
    const parsed = parseDuration(text);
    if ("value" in parsed && parsed.value === 0) {
      return { why: `expected a duration above 0, ${EXAMPLE}` };
    }
    return parsed;
  },
};

/** Reads what Go's time.ParseDuration reads; exact to the nanosecond, as there. */
function parseDuration(text: string): Parsed<number> {
  const negative = text.startsWith("-");
  const digits = /^[+-]/.test(text) ? text.slice(1) : text;
  if (digits === "0") return { value: 0 };
  if (/^\d+(\.\d*)?$/.test(digits)) {
    return { why: `expected a duration with a unit, ${EXAMPLE}` };
  }
  const totalNs = sumOfParts(digits);
  if (totalNs === undefined) return { why: `expected a duration ${EXAMPLE}` };
  if (negative && totalNs > 0n) return { why: `expected a duration of 0 or more, ${EXAMPLE}` };
  const ms = Number(totalNs) / 1e6;
  if (ms > MAX_DURATION_MS) {
    return { why: "expected a duration of at most 596h, the longest a timer can wait" };
  }
  return { value: ms };
}

/** The sum in nanoseconds, or undefined when the text is not made of such parts alone. */
function sumOfParts(digits: string): bigint | undefined {
  let totalNs = 0n;
  PART.lastIndex = 0;
  do {
    const part = PART.exec(digits);
    if (part === null) return undefined;
    const [, whole = "", fraction = "", unit = ""] = part;
    const unitNs = UNIT_NS.get(unit);
    if (unitNs === undefined || whole + fraction === "") return undefined;
    totalNs += BigInt(whole) * unitNs + BigInt(fraction) * unitNs / 10n ** BigInt(fraction.length);
  } while (PART.lastIndex < digits.length);
  return totalNs;
}

function showDuration(ms: number): string {
  if (ms === 0) return "0s";
  if (ms < 1) return `${Math.round(ms * 1e6)}ns`;
  if (ms < 1_000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  const seconds = (ms - (hours * 60 + minutes) * 60_000) / 1_000;
  return [[hours, "h"], [minutes, "m"], [seconds, "s"]]
    .filter(([count]) => count !== 0)
    .map(([count, unit]) => `${count}${unit}`)
    .join("");
}
