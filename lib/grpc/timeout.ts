/** What {@linkcode parseTimeout} returns for text outside the grammar. Below every real timeout. */
export const MALFORMED_TIMEOUT: number = -1;

/** PROTOCOL-HTTP2 "Requests": TimeoutValue is an "ASCII string of at most 8 digits". */
const MAX_TIMEOUT_DIGITS = 8;
const MAX_TIMEOUT_VALUE = 99_999_999;

const MS_PER_SECOND = 1_000;
const MS_PER_MINUTE = 60_000;
const MS_PER_HOUR = 3_600_000;
const MICROS_PER_MS = 1_000;
const NANOS_PER_MS = 1_000_000;

/**
 * A unit that does not divide the time left is coarse enough from this value on: what the floor
 * takes away is then less than a thousandth of the deadline.
 */
const ENOUGH_STEPS = 1_000;

const UNIT_HOUR = 72; // H
const UNIT_MINUTE = 77; // M
const UNIT_SECOND = 83; // S
const UNIT_MS = 109; // m
const UNIT_MICRO = 117; // u
const UNIT_NANO = 110; // n

/**
 * Reads the value of `grpc-timeout` (PROTOCOL-HTTP2 "Requests", Timeout): one to eight digits, then
 * one of `H M S m u n`.
 *
 * Zero is outside the letter of the grammar ("positive integer"), yet it is what grpc-go (`0S`) and
 * grpc-java (`0n`) write for a deadline that has just passed. It is read as 0, already expired, so
 * that such a call ends with DEADLINE_EXCEEDED, which is the truth, and not as a fault of anybody.
 *
 * Allocates nothing.
 *
 * @returns milliseconds, with a fraction for `u` and `n` (`1500u` is 1.5), or
 * {@linkcode MALFORMED_TIMEOUT}
 */
export function parseTimeout(text: string): number {
  const digits = text.length - 1;
  if (digits < 1 || digits > MAX_TIMEOUT_DIGITS) return MALFORMED_TIMEOUT;
  let value = 0;
  for (let i = 0; i < digits; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return MALFORMED_TIMEOUT;
    value = value * 10 + digit;
  }
  switch (text.charCodeAt(digits)) {
    case UNIT_MS:
      return value;
    case UNIT_SECOND:
      return value * MS_PER_SECOND;
    case UNIT_MICRO:
      return value / MICROS_PER_MS;
    case UNIT_NANO:
      return value / NANOS_PER_MS;
    case UNIT_MINUTE:
      return value * MS_PER_MINUTE;
    case UNIT_HOUR:
      return value * MS_PER_HOUR;
    default:
      return MALFORMED_TIMEOUT;
  }
}

/**
 * Writes the time left as a `grpc-timeout`, in the shortest form that is exact or nearly so. Never
 * more than what is left: the backend is not to work for a caller who has gone. What the form
 * loses is less than a millisecond and less than a thousandth; from 27 hours on eight digits cannot
 * hold that, and it is less than one unit of the finest that they can.
 *
 * @param timeLeftMs milliseconds, fraction allowed. At or below zero gives `1n`, the least the
 * grammar can say; above 99,999,999 hours gives that.
 * @throws RangeError when timeLeftMs is NaN, which would be a deadline lost, not a long one
 */
export function formatTimeout(timeLeftMs: number): string {
  if (Number.isNaN(timeLeftMs)) {
    throw new RangeError(`Cannot write grpc-timeout "NaN": expected milliseconds`);
  }
  if (Number.isInteger(timeLeftMs) && timeLeftMs > 0) return formatWholeMs(timeLeftMs);
  if (timeLeftMs >= ENOUGH_STEPS) return formatWholeMs(Math.floor(timeLeftMs));
  const micros = floorSteps(timeLeftMs, MICROS_PER_MS);
  if (micros >= ENOUGH_STEPS || (micros > 0 && micros / MICROS_PER_MS === timeLeftMs)) {
    return `${micros}u`;
  }
  return `${Math.max(1, floorSteps(timeLeftMs, NANOS_PER_MS))}n`;
}

/** The coarsest unit that divides, or else the finest that fits eight digits. */
function formatWholeMs(ms: number): string {
  if (ms % MS_PER_SECOND !== 0 && ms <= MAX_TIMEOUT_VALUE) return `${ms}m`;
  const seconds = Math.floor(ms / MS_PER_SECOND);
  if (seconds % 60 !== 0 && seconds <= MAX_TIMEOUT_VALUE) return `${seconds}S`;
  const minutes = Math.floor(ms / MS_PER_MINUTE);
  if (minutes % 60 !== 0 && minutes <= MAX_TIMEOUT_VALUE) return `${minutes}M`;
  return `${Math.min(Math.floor(ms / MS_PER_HOUR), MAX_TIMEOUT_VALUE)}H`;
}

/**
 * The most steps whose length, as {@linkcode parseTimeout} reads them, is not above `ms`. The
 * product alone is off by one where it rounds: 1.001 * 1000 is 1000.9999999999999.
 */
function floorSteps(ms: number, stepsPerMs: number): number {
  const steps = Math.floor(ms * stepsPerMs);
  if ((steps + 1) / stepsPerMs <= ms) return steps + 1;
  return steps / stepsPerMs > ms ? steps - 1 : steps;
}
