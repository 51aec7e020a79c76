/** How numbers are written on the page: as few digits as a person needs, always with their unit. */

const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const TENTHS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** What stands where there is nothing to say. */
export const NONE = "–";

/** A number of things. @param {number} value */
export function count(value) {
  return WHOLE.format(value);
}

/** Things a second. @param {number} value */
export function rate(value) {
  if (value === 0) return "0";
  return value < 0.05 ? "<0.1" : value < 10 ? TENTHS.format(value) : WHOLE.format(value);
}

/** A number for the axis of a chart. @param {number} value */
export function short(value) {
  return COMPACT.format(value);
}

/** @param {number | null | undefined} ms */
export function time(ms) {
  if (ms === null || ms === undefined) return NONE;
  if (ms < 1) return `${TENTHS.format(ms)} ms`;
  if (ms < 10) return `${TENTHS.format(ms)} ms`;
  if (ms < 1_000) return `${WHOLE.format(ms)} ms`;
  if (ms < 60_000) return `${TENTHS.format(ms / 1_000)} s`;
  return duration(ms / 1_000);
}

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds < 60) return `${WHOLE.format(seconds)} s`;
  if (seconds < 3_600) return `${WHOLE.format(Math.floor(seconds / 60))} min`;
  if (seconds < 86_400) return `${TENTHS.format(seconds / 3_600)} h`;
  return `${TENTHS.format(seconds / 86_400)} d`;
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1_024) return `${WHOLE.format(bytes)} B`;
  if (bytes < 1_048_576) return `${TENTHS.format(bytes / 1_024)} KiB`;
  if (bytes < 1_073_741_824) return `${TENTHS.format(bytes / 1_048_576)} MiB`;
  return `${TENTHS.format(bytes / 1_073_741_824)} GiB`;
}

/** A share in percent: what is nearly all is not all. @param {number} share */
export function percent(share) {
  return `${TENTHS.format(Math.floor(share * 1_000) / 10)} %`;
}
