/**
 * What a peer may ask of us beyond what calls need: a bucket of units that frames take from, and that time and useful
 * frames fill again. Lazy: nothing happens for it until something is taken.
 */
export class Allowance {
  #left: number;
  #burst: number;
  #perSecond: number;
  #filledMs = 0;

  /** An allowance of `burst` units at most and at first, of which `perSecond` come back. */
  constructor(options: { burst: number; perSecond: number }) {
    this.#left = this.#burst = options.burst;
    this.#perSecond = options.perSecond;
  }

  /** Takes `units` after `earned` have been put in; returns false when they are not there. */
  take(units: number, { earned, nowMs }: { earned: number; nowMs: number }): boolean {
    const refill = (nowMs - this.#filledMs) * this.#perSecond / 1_000 + earned;
    this.#filledMs = nowMs;
    this.#left = Math.min(this.#burst, this.#left + refill) - units;
    return this.#left >= 0;
  }
}
