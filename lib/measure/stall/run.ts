import { keyBody } from "../client/mod.ts";
import { Pacer, PACER_CLOCK, type PacerClock } from "../load/mod.ts";
import { type Arrival, planArrivals } from "./arrivals.ts";
import type { Breakable, FaultName } from "./fault.ts";
import type { OpenSystem } from "./systems.ts";
import { type CallRecord, type StallTally, tallyStall } from "./tally.ts";

/** Length of the warm-up, of which nothing is kept: its first calls meet code that has never run. */
const WARM_UP_MS = 1_000;

/** A caller does not look for its time to the microsecond here: it leaves the processor to the others. */
const LOOK_MS = 0;

/** The calls of a run, and when something goes wrong. */
export interface StallPlan {
  readonly fault: FaultName;
  /** Index of the backend that the fault is at. */
  readonly faulted: number;
  readonly shards: number;
  readonly seed: number;
  readonly perSecond: number;
  readonly deadlineMs: number;
  readonly beforeMs: number;
  readonly stallMs: number;
  readonly afterMs: number;
}

/** Sends the calls of one plan through one system, with the fault in the middle, and keeps how each ended. */
export class StallRun {
  readonly #records: CallRecord[] = [];
  #system: OpenSystem;
  #plan: StallPlan;
  #clock: PacerClock;
  #arrivals: readonly Arrival[];
  #startMs = 0;
  #begun = 0;
  #ended = 0;
  #finished = Promise.withResolvers<void>();

  constructor(system: OpenSystem, plan: StallPlan, clock: PacerClock = PACER_CLOCK) {
    this.#system = system;
    this.#plan = plan;
    this.#clock = clock;
    const durationMs = WARM_UP_MS + this.#durationMs;
    this.#arrivals = planArrivals({ ...plan, durationMs });
  }

  /** Time since the beginning; below 0 during the warm-up. */
  get elapsedMs(): number {
    return this.#clock.now() - this.#startMs;
  }

  get #durationMs(): number {
    const { beforeMs, stallMs, afterMs } = this.#plan;
    return beforeMs + stallMs + afterMs;
  }

  /** Resolves when every call has ended, which its deadline sees to. */
  async run(backend: Breakable): Promise<StallTally> {
    const { beforeMs, stallMs, faulted, fault, deadlineMs } = this.#plan;
    const clock = this.#clock;
    this.#startMs = clock.now() + WARM_UP_MS;
    let faultBeginsMs = beforeMs;
    let faultEndsMs = beforeMs + stallMs;
    let isBroken = false;
    const endFault = this.#guarded(() => {
      isBroken = false;
      faultEndsMs = this.elapsedMs;
      backend.end();
    });
    let prevent = clock.after(
      WARM_UP_MS + beforeMs,
      this.#guarded(() => {
        faultBeginsMs = this.elapsedMs;
        isBroken = true;
        prevent = clock.after(stallMs, endFault);
        backend.begin(fault, stallMs);
      }),
    );
    const pacer = this.#pace();
    try {
      await this.#finished.promise;
    } finally {
      pacer.stop();
      prevent();
      if (isBroken) backend.end();
    }
    return tallyStall(this.#records, {
      ...{ faulted, deadlineMs, faultBeginsMs, faultEndsMs },
      durationMs: this.#durationMs,
    });
  }

  #pace(): Pacer {
    return new Pacer({
      clock: this.#clock,
      perSecond: this.#plan.perSecond,
      offsetMs: (index) => this.#arrivals[index]?.atMs ?? Infinity,
      lookMs: LOOK_MS,
      total: this.#arrivals.length,
      onDue: (dueMs) => this.#call(dueMs),
      onDone: () => {
        if (this.#ended === this.#arrivals.length) this.#finished.resolve();
      },
    });
  }

  #call(dueMs: number): void {
    const index = this.#begun++;
    const { shard } = this.#arrivals[index]!;
    const lateMs = this.#clock.now() - dueMs;
    this.#system.call(shard, keyBody(index), dueMs, (status, endedMs) => {
      const sinceStartMs = dueMs - this.#startMs;
      if (sinceStartMs >= 0) {
        const latencyMs = endedMs - dueMs;
        this.#records.push({ dueMs: sinceStartMs, shard, latencyMs, lateMs, status });
      }
      if (++this.#ended === this.#arrivals.length) this.#finished.resolve();
    });
  }

  /** Work for a timer: when it fails, the run rejects. */
  #guarded(work: () => void): () => void {
    return () => {
      try {
        work();
      } catch (error) {
        this.#finished.reject(error);
      }
    };
  }
}
