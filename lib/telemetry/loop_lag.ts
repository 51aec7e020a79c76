/** How often the event loop is looked at: rarely enough to cost nothing, often enough to notice any stall over it. */
const EVERY_MS = 500;

/** Where time comes from, so that tests can bring their own. */
export interface LagClock {
  /** Milliseconds from any beginning, never going back. */
  now(): number;
  /** Calls `wake` once after `ms`, without keeping the process alive; returns how to prevent it. */
  after(ms: number, wake: () => void): () => void;
}

const SYSTEM: LagClock = {
  now: () => performance.now(),
  after(ms, wake) {
    const id = setTimeout(wake, ms);
    Deno.unrefTimer(id);
    return () => clearTimeout(id);
  },
};

/** How late one coarse timer fires: how long the event loop left everybody else waiting too. */
export class LoopLag {
  readonly #clock: LagClock;
  #dueMs = 0;
  #worstMs = 0;
  #disarm: () => void = () => {};

  constructor(clock: LagClock = SYSTEM) {
    this.#clock = clock;
    this.#arm();
  }

  /** The longest lag since it was last asked, in seconds. */
  takeSeconds(): number {
    // Whoever asks first after a stall may be ahead of the timer, which must then not tell of it again.
    const nowMs = this.#clock.now();
    this.#note(nowMs);
    this.#dueMs = Math.max(this.#dueMs, nowMs);
    const seconds = this.#worstMs / 1_000;
    this.#worstMs = 0;
    return seconds;
  }

  stop(): void {
    this.#disarm();
  }

  #arm(): void {
    this.#dueMs = this.#clock.now() + EVERY_MS;
    this.#disarm = this.#clock.after(EVERY_MS, () => {
      this.#note(this.#clock.now());
      this.#arm();
    });
  }

  #note(nowMs: number): void {
    this.#worstMs = Math.max(this.#worstMs, nowMs - this.#dueMs);
  }
}
