/** The limit at the start: calls that keep a backend busy while it is measured. */
const FIRST = 64;

/** The limit never goes below so many calls, or there would be too few answers to measure. */
const MIN = 8;

/** Answers that one measurement is made of. */
const WINDOW_CALLS = 32;

/**
 * How often the latency without a queue is measured anew, by giving the backend no more than `MIN` calls for two
 * windows: the first one lets the queue drain, the second one counts. It may be another backend by now.
 */
const MEASURE_EVERY_MS = 30_000;
const MEASURING_WINDOWS = 2;

/** Latency may be this many times that without a queue before calls are held back: noise is no queue. */
const TOLERANCE = 1.5;

/** One window shrinks the limit to half at most, and the limit follows what a window says by this share. */
const MIN_GRADIENT = 0.5;
const SMOOTHING = 0.2;

/** Faster than that no call is. */
const LEAST_MS = 0.05;

/**
 * How many calls a backend is given at once, found by watching how long its answers take: while they take about as
 * long as without a queue, more; when they take longer, a queue has built up inside it, and fewer (the gradient of
 * observed latency). Time and latency are arguments.
 */
export class GradientLimit {
  #limit: number;
  #max: number;
  /** Latency without a queue; 0 while it is not known. */
  #bareMs = 0;
  #measuredMs = 0;
  /** Windows until the measurement is done; 0 when none is under way. */
  #measuring = MEASURING_WINDOWS - 1; // there is no queue yet
  #sumMs = 0;
  #calls = 0;
  #peak = 0;

  /** `max` is the fixed wall, which it stays within. */
  constructor(max: number) {
    this.#max = max;
    this.#limit = Math.min(FIRST, max);
  }

  /** Calls that may be under way at once, a whole number. */
  get limit(): number {
    return this.#measuring > 0 ? Math.min(MIN, this.#max) : Math.floor(this.#limit);
  }

  /** An answer came at `nowMs`, took so long, and until then so many calls were under way, itself included. */
  observe(latencyMs: number, inflight: number, nowMs: number): void {
    this.#sumMs += latencyMs;
    this.#calls++;
    if (inflight > this.#peak) this.#peak = inflight;
    if (this.#calls >= WINDOW_CALLS) this.#close(nowMs);
  }

  #close(nowMs: number): void {
    const windowMs = Math.max(this.#sumMs / this.#calls, LEAST_MS);
    const wasBusy = this.#peak * 2 >= this.#limit;
    this.#sumMs = this.#calls = this.#peak = 0;
    if (this.#measuring > 0) {
      if (--this.#measuring > 0) return;
      this.#bareMs = windowMs;
      this.#measuredMs = nowMs;
    } else if (nowMs - this.#measuredMs >= MEASURE_EVERY_MS) {
      this.#measuring = MEASURING_WINDOWS;
    } else if (wasBusy) { // else latency says nothing about a limit that is not reached
      this.#follow(windowMs);
    }
  }

  #follow(windowMs: number): void {
    const gradient = Math.max(MIN_GRADIENT, Math.min(1, TOLERANCE * this.#bareMs / windowMs));
    const wanted = this.#limit * gradient + Math.sqrt(this.#limit);
    const next = this.#limit + (wanted - this.#limit) * SMOOTHING;
    this.#limit = Math.max(Math.min(MIN, this.#max), Math.min(this.#max, next));
  }
}
