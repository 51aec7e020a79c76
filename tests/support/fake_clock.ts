import type { Clock } from "../../lib/transport/mod.ts";

interface Waking {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  /** Wakings so far, for who waits until nothing happens any more. */
  woken = 0;
  #nowMs = 1_000_000;
  #wakings = new Set<Waking>();

  now(): number {
    return this.#nowMs;
  }

  after(ms: number, wake: () => void): () => void {
    const waking = { dueMs: this.#nowMs + ms, wake };
    this.#wakings.add(waking);
    return () => void this.#wakings.delete(waking);
  }

  /** Wakes whoever is first to be woken until `untilMs`, at its time; false when there is nobody. */
  step(untilMs: number): boolean {
    let first: Waking | undefined;
    for (const waking of this.#wakings) {
      if (waking.dueMs <= untilMs && waking.dueMs < (first?.dueMs ?? Infinity)) first = waking;
    }
    if (first === undefined) return false;
    this.#wakings.delete(first);
    this.#nowMs = Math.max(this.#nowMs, first.dueMs);
    this.woken++;
    first.wake();
    return true;
  }

  /** Time passes in which nobody could be woken, as in a process that is busy. */
  jump(toMs: number): void {
    this.#nowMs = toMs;
  }
}
