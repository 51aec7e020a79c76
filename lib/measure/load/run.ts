import { CallbackAlarm } from "../../transport/mod.ts";
import type { FrameLog } from "../../wire/mod.ts";
import type { Client, ClientCall, Method } from "../client/mod.ts";
import { Histogram } from "../report/mod.ts";
import { Pacer, PACER_CLOCK, type PacerClock } from "./pacer.ts";
import { Tally } from "./tally.ts";

/**
 * Time for which answers are waited for in the end while none comes; a deadline adds to it. A busy machine can take
 * that long over a burst before its first answer.
 */
const SETTLE_MS = 30_000;

/** Calls under way beyond which a due one is not made any more: the server stands, and memory is finite. */
const MAX_UNDER_WAY = 100_000;

/** A method to call, how often, and until when. */
export interface LoadPlan {
  readonly method: Method;
  /** The request of a key. */
  readonly bodyOf: (key: number) => FrameLog;
  /** The nth call asks for key n modulo `keys`. */
  readonly keys: number;
  /** Calls kept under way, each followed by the next when it ends; without meaning when `callsPerSecond` is set. */
  readonly callers: number;
  /** Calls begun in a second, however many are under way: an open loop. */
  readonly callsPerSecond?: number | undefined;
  /** Time from one call of an open loop to when the next is due; undefined for evenly. */
  readonly gapMs?: (() => number) | undefined;
  readonly durationMs?: number | undefined;
  /** Calls in all. */
  readonly calls?: number | undefined;
}

/** Makes the calls of one plan and counts how they end. */
export class LoadRun {
  readonly tally = new Tally();
  /** Lateness of the calls of an open loop when they were made: our own fault, and part of their latency. */
  readonly lateness = new Histogram();
  begun = 0;
  #client: Client;
  #plan: LoadPlan;
  #clock: PacerClock;
  #startMs = 0;
  #lastDueMs = 0;
  #over = false;
  #pacer: Pacer | undefined = undefined;
  #finished = Promise.withResolvers<void>();
  #timeUp = new CallbackAlarm(() => this.#stopBeginning());
  #patience = new CallbackAlarm(() => this.#waitOn());
  #endedBefore = -1;
  #onEnd = (call: ClientCall) => this.#ended(call);

  constructor(client: Client, plan: LoadPlan, clock: PacerClock = PACER_CLOCK) {
    this.#client = client;
    this.#plan = plan;
    this.#clock = clock;
  }

  /** Resolves when all calls have ended, or the rest were waited for in vain: closing the client ends those. */
  async run(): Promise<void> {
    const { durationMs = Infinity, callsPerSecond } = this.#plan;
    this.#startMs = this.#clock.now();
    if (callsPerSecond !== undefined) this.#pace(callsPerSecond);
    else this.#beginAll();
    // An open loop ends with the last call that was due, however late that is made: an alarm would leave it out.
    if (!this.#over && durationMs !== Infinity && callsPerSecond === undefined) {
      this.#client.timers.set(this.#timeUp, this.#startMs + durationMs);
    }
    await this.#finished.promise;
  }

  get underWay(): number {
    return this.begun - this.tally.ended;
  }

  /** Time from the first call to the end of the last. */
  get elapsedMs(): number {
    return Math.max(0, this.tally.lastMs - this.#startMs);
  }

  /**
   * The backlog in the end: how long after the last call of an open loop was due the last one ended, beyond what the
   * quickest took, as a share of the time in which they were due. 0 in a closed loop.
   */
  get backlogShare(): number {
    const dueMs = this.#lastDueMs - this.#startMs;
    if (dueMs <= 0 || this.tally.latency.count === 0) return 0;
    return Math.max(0, this.tally.lastMs - this.#lastDueMs - this.tally.latency.minMs) / dueMs;
  }

  #pace(perSecond: number): void {
    const { durationMs = Infinity, calls = Infinity, gapMs } = this.#plan;
    this.#pacer = new Pacer({
      clock: this.#clock,
      perSecond,
      offsetMs: gapMs && summed(gapMs),
      total: Math.min(calls, Math.max(1, Math.floor(perSecond * durationMs / 1_000))),
      onDue: (dueMs) => this.#beginDue(dueMs),
      onDone: () => this.#stopBeginning(),
    });
  }

  #beginAll(): void {
    const { callers, calls = Infinity } = this.#plan;
    const first = Math.min(callers, calls);
    for (let i = 0; i < first; i++) this.#begin();
    if (this.begun >= calls) this.#stopBeginning();
  }

  #begin(): void {
    const { method, bodyOf, keys } = this.#plan;
    this.#client.call(method, bodyOf(this.begun++ % keys), this.#onEnd);
  }

  #beginDue(dueMs: number): void {
    const { method, bodyOf, keys } = this.#plan;
    const key = this.begun++ % keys;
    if (this.underWay > MAX_UNDER_WAY) {
      return this.tally.addRefused(`more than ${MAX_UNDER_WAY} calls are under way`);
    }
    this.#lastDueMs = dueMs;
    this.lateness.record(this.#clock.now() - dueMs);
    this.#client.call(method, bodyOf(key), this.#onEnd, dueMs);
  }

  #ended(call: ClientCall): void {
    this.tally.add(call);
    if (this.#over) {
      if (this.underWay === 0) this.#finish();
      return;
    }
    if (this.#pacer !== undefined) return;
    this.#begin();
    if (this.begun >= (this.#plan.calls ?? Infinity)) this.#stopBeginning();
  }

  /** Makes no more calls; those under way are waited for. */
  #stopBeginning(): void {
    if (this.#over) return;
    this.#over = true;
    this.#pacer?.stop();
    const { timers } = this.#client;
    timers.cancel(this.#timeUp);
    if (this.underWay === 0) this.#finish();
    else this.#waitOn();
  }

  /** Waits for more answers, as long as some came since it last waited. */
  #waitOn(): void {
    const { ended } = this.tally;
    if (ended === this.#endedBefore) return this.#finish();
    this.#endedBefore = ended;
    const { timers } = this.#client;
    const { deadlineMs } = this.#plan.method;
    const patienceMs = SETTLE_MS + (deadlineMs === Infinity ? 0 : deadlineMs);
    timers.set(this.#patience, timers.clock.now() + patienceMs);
  }

  #finish(): void {
    this.#client.timers.cancel(this.#patience);
    this.#finished.resolve();
  }
}

/** The time after the start when the nth call is due, by the gaps; asked in order, and any number of times for each. */
function summed(gapMs: () => number): (index: number) => number {
  let at = 0;
  let offsetMs = 0;
  return (index) => {
    for (; at < index; at++) offsetMs += gapMs();
    return offsetMs;
  };
}
