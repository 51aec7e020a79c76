/** How much may be taken from a {@linkcode TokenBucket}. */
export interface Allowance {
  /** Units there are at first and at most: so many at once, after a time of quiet. */
  readonly burst: number;
  /** Units that come back with time; 0 where only what is earned comes back. */
  readonly perSecond: number;
}

/**
 * Units to take, which time and what is earned put back: a bound on what others may ask for, that knows no clock. Lazy:
 * nothing happens for it until something is taken. Times are milliseconds of one clock that starts at 0 or later and
 * does not go back.
 */
export class TokenBucket {
  #burst: number;
  #perSecond: number;
  /** May be more than the burst, as long as nobody looks. */
  #left: number;
  /** When there were so many left. */
  #asOfMs = 0;

  constructor({ burst, perSecond }: Allowance) {
    this.#left = this.#burst = burst;
    this.#perSecond = perSecond;
  }

  /** Takes `units` when all of them are there, else none; returns whether it did. */
  take(units: number, nowMs: number): boolean {
    const left = this.#leftAt(nowMs) - units;
    if (left < 0) return false; // nothing is written down, so that asking often does not add up to rounding errors
    this.#left = left;
    this.#asOfMs = nowMs;
    return true;
  }

  /** Puts `units` back, up to the burst. */
  earn(units: number): void {
    this.#left += units; // what is too much is cut off when it is looked at
  }

  /** Milliseconds until `units` are there: 0 when they are, Infinity when time alone does not bring them. */
  waitMs(units: number, nowMs: number): number {
    const missing = units - this.#leftAt(nowMs);
    if (missing <= 0) return 0;
    return units > this.#burst ? Infinity : missing * 1_000 / this.#perSecond;
  }

  #leftAt(nowMs: number): number {
    const refill = (nowMs - this.#asOfMs) * this.#perSecond / 1_000;
    return Math.min(this.#burst, this.#left + refill);
  }
}
