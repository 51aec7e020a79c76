import type { Clock } from "../../lib/transport/mod.ts";

/** Far from 0, so that no time is taken for one that was never set. */
const START_MS = 1_000_000;

/** As long as `setTimeout` waits. */
const MAX_MS = 2 ** 31;

interface Waking {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  /** How often somebody asked to be woken. */
  armings = 0;
  /** Wakings so far, for who waits until nothing happens any more. */
  woken = 0;
  #nowMs: number;
  #wakings = new Set<Waking>();

  constructor(startMs: number = START_MS) {
    this.#nowMs = startMs;
  }

  /** How many wait to be woken. */
  get armed(): number {
    return this.#wakings.size;
  }

  now(): number {
    return this.#nowMs;
  }

  after(ms: number, wake: () => void): () => void {
    if (!(ms >= 0 && ms < MAX_MS)) throw new RangeError(`Cannot wait for ${ms} ms`); // as setTimeout
    this.armings++;
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

  /** Time passes, and everybody is woken when it is due. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    while (this.step(untilMs));
    this.#nowMs = untilMs;
  }

  /** Time passes while the loop is busy: whoever was due is woken afterwards, late. */
  stall(ms: number): void {
    this.jump(this.#nowMs + ms);
    this.advance(0);
  }
}
