import type { ProxyCounters, SkipReason } from "../observe/mod.ts";
import { CallbackAlarm, type Timers } from "../transport/mod.ts";
import { VerifyBudget } from "../trust/mod.ts";

/** How often those that wait for a place look whether callers do: nobody waits for their answers. */
const LOOK_EVERY_MS = 100;

/** Longest that a run waits for a place, in ms: what it would find then is about another time. */
const MAX_WAIT_MS = 60_000;

/** A run that asks for a place. */
export interface PlaceRequest {
  /** See `RunRequest`: `first` ones stand outside the backend's share, and wait. */
  readonly kind: "first" | "sampled";
  /** The backend that answered what is to be compared. */
  readonly backend: string;
  /** Makes the run, which tells {@linkcode Places.ended} of its end. */
  readonly start: () => void;
  /** The run is not made. */
  readonly skipped: (reason: SkipReason) => void;
}

/** The places for runs that nobody waits for, backend by backend, each run with one end: made, or skipped. */
export class Places {
  readonly #budgets = new Map<string, VerifyBudget>();
  readonly #waiting = new Set<PlaceRequest & { untilMs: number; isOver: boolean }>();
  readonly #counters: ProxyCounters;
  readonly #timers: Timers;
  readonly #maxConcurrent: number;
  readonly #look = new CallbackAlarm((nowMs) => this.#turn(nowMs));
  #stopped = false;

  /** `maxConcurrent` is for each backend (COLLAPSER_VERIFY_MAX_CONCURRENT). */
  constructor(counters: ProxyCounters, timers: Timers, maxConcurrent: number) {
    this.#counters = counters;
    this.#timers = timers;
    this.#maxConcurrent = maxConcurrent;
  }

  ask(request: PlaceRequest): void {
    if (this.#stopped) return request.skipped("draining");
    const waiting = { ...request, untilMs: this.#timers.nowMs + MAX_WAIT_MS, isOver: false };
    this.#waiting.add(waiting);
    const reason = this.#budget(request.backend).ask({
      kind: request.kind,
      start: () => {
        this.#waiting.delete(waiting);
        if (waiting.isOver) this.ended(request.backend); // it was given up
        else request.start();
      },
    });
    if (reason !== undefined) {
      this.#waiting.delete(waiting);
      request.skipped(reason);
    } else if (this.#waiting.size > 0) this.#lookAgain();
  }

  /** A run at this backend is over. */
  ended(backend: string): void {
    this.#budgets.get(backend)?.ended();
  }

  /** No run is made any more. */
  stop(): void {
    this.#stopped = true;
    this.#timers.cancel(this.#look);
    this.#giveUp(Infinity, "draining");
  }

  #budget(backend: string): VerifyBudget {
    const known = this.#budgets.get(backend);
    if (known !== undefined) return known;
    for (const [name, budget] of this.#budgets) {
      if (!budget.isUsed && this.#countersOf(name) === undefined) this.#budgets.delete(name);
    }
    const made = new VerifyBudget({
      maxConcurrent: this.#maxConcurrent,
      isBusy: () => {
        const counters = this.#countersOf(backend);
        return counters !== undefined &&
          (counters.pending > 0 || counters.inflight >= counters.limit);
      },
      calls: () => this.#countersOf(backend)?.calls ?? 0,
    });
    this.#budgets.set(backend, made);
    return made;
  }

  #countersOf(backend: string) {
    return this.#counters.backends.find(({ name }) => name === backend);
  }

  #lookAgain(): void {
    if (!this.#look.isSet) this.#timers.set(this.#look, this.#timers.nowMs + LOOK_EVERY_MS);
  }

  #turn(nowMs: number): void {
    this.#giveUp(nowMs, "deadline");
    for (const budget of this.#budgets.values()) budget.turn();
    if (this.#waiting.size > 0) this.#lookAgain();
  }

  #giveUp(nowMs: number, reason: SkipReason): void {
    for (const waiting of [...this.#waiting]) {
      if (waiting.untilMs > nowMs) continue;
      waiting.isOver = true;
      this.#waiting.delete(waiting);
      waiting.skipped(reason);
    }
  }
}
