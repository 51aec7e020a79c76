import type { Kind, Parsed } from "./kind.ts";

/** Bytes in one unit. Decimal and binary prefixes mean what they say, as in Kubernetes. */
const UNIT_BYTES: ReadonlyMap<string | undefined, number> = new Map([
  ["", 1],
  ["b", 1],
  ["kb", 1e3],
  ["mb", 1e6],
  ["gb", 1e9],
  ["kib", 2 ** 10],
  ["mib", 2 ** 20],
  ["gib", 2 ** 30],
]);

const BINARY_UNITS = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]] as const;

const EXPECTED = "expected a size such as 64KiB, 1MiB or plain bytes";

/** A number of bytes, 0 or more. */
export const SIZE: Kind<number> = {
  placeholder: "SIZE",
  parse(text): Parsed<number> {
    const match = /^(\d+) ?([A-Za-z]*)$/.exec(text);
    const unitBytes = UNIT_BYTES.get(match?.[2]?.toLowerCase());
    const bytes = Number(match?.[1]) * (unitBytes ?? NaN);
    return Number.isSafeInteger(bytes) ? { value: bytes } : { why: EXPECTED };
  },
  show(bytes) {
    const unit = BINARY_UNITS.find(([unitBytes]) => bytes > 0 && bytes % unitBytes === 0);
    return unit === undefined ? String(bytes) : `${bytes / unit[0]}${unit[1]}`;
  },
};
