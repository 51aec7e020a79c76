import type { Kind } from "./kind.ts";

/** The largest port TCP has. */
const MAX_PORT = 65_535;

/** A port to listen on; 0 lets the system choose a free one. */
export const PORT: Kind<number> = {
  ...count({ min: 0, max: MAX_PORT, expected: "expected a port from 0 to 65535" }),
  placeholder: "PORT",
};

/** How many results are kept: 0 means as many as the bytes allow, as in the Go original, and is read as Infinity. */
export const ENTRIES: Kind<number> = {
  placeholder: "COUNT",
  parse(text) {
    const parsed = count({ min: 0 }).parse(text);
    return "value" in parsed && parsed.value === 0 ? { value: Infinity } : parsed;
  },
  show: (entries) => entries === Infinity ? "0" : String(entries),
};

/** A share of something: 0 is none of it, 1 all. */
export const RATIO: Kind<number> = {
  placeholder: "RATIO",
  parse(text) {
    const value = /^(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : NaN;
    return value <= 1 ? { value } : { why: "expected a share from 0 to 1, such as 0.01" };
  },
  show: String,
};

/** A share from 0 to a half. */
export const HALF_RATIO: Kind<number> = {
  ...RATIO,
  parse(text) {
    const parsed = RATIO.parse(text);
    return "value" in parsed && parsed.value <= 0.5
      ? parsed
      : { why: "expected a share from 0 to 0.5, such as 0.1" };
  },
};

/** A whole number within bounds, both included. */
export function count(
  bounds: { min: number; max?: number; expected?: string },
): Kind<number> {
  const { min, max = Number.MAX_SAFE_INTEGER } = bounds;
  const range = bounds.max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  return {
    placeholder: "COUNT",
    parse(text) {
      const value = /^\d+$/.test(text) ? Number(text) : NaN;
      return value >= min && value <= max
        ? { value }
        : { why: bounds.expected ?? `expected a whole number ${range}` };
    },
    show: String,
  };
}
