import type { Clock } from "../../lib/transport/mod.ts";

interface Pending {
  readonly atMs: number;
  readonly wake: () => void;
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  /** How often a timer was asked for. */
  armings = 0;
  #nowMs: number;
  #pending = new Set<Pending>();

  constructor(startMs = 0) {
    this.#nowMs = startMs;
  }

  /** Timers that are running. */
  get armed(): number {
    return this.#pending.size;
  }

  now(): number {
    return this.#nowMs;
  }

  after(ms: number, wake: () => void): () => void {
    if (!(ms >= 0 && ms < 2 ** 31)) throw new RangeError(`Cannot wait for ${ms} ms`); // as setTimeout
    this.armings++;
    const pending = { atMs: this.#nowMs + ms, wake };
    this.#pending.add(pending);
    return () => this.#pending.delete(pending);
  }

  /** Time passes and every timer fires on time. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      this.#fire(next);
    }
    this.#nowMs = untilMs;
  }

  /** Time passes while the loop is busy: whatever was due fires afterwards, late. */
  stall(ms: number): void {
    this.#nowMs += ms;
    this.advance(0);
  }

  /** Time passes and nothing fires yet. */
  skip(ms: number): void {
    this.#nowMs += ms;
  }

  #next(untilMs: number): Pending | undefined {
    let next: Pending | undefined;
    for (const pending of this.#pending) {
      if (pending.atMs <= untilMs && !(pending.atMs >= next?.atMs!)) next = pending;
    }
    return next;
  }

  #fire(pending: Pending): void {
    this.#pending.delete(pending);
    pending.wake();
  }
}
