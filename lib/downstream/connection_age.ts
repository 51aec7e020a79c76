import { CallbackAlarm, type Timers } from "../transport/mod.ts";
import type { Failure } from "../upstream/mod.ts";

/** Share by which ages differ, either way, so that callers who came together do not all come back together (gRFC A9). */
const JITTER = 0.1;

/** How long a caller has to answer the PING of a drain before its last stream is settled without it. */
const ANSWER_MS = 1_000;

/** How old callers' connections may become. */
export interface AgeOptions {
  /** Age at which a caller is told to go (GRPC_MAX_CONNECTION_AGE). */
  readonly maxConnectionAgeMs: number;
  /** How long its calls may then go on (GRPC_MAX_CONNECTION_AGE_GRACE). */
  readonly maxConnectionAgeGraceMs: number;
}

/** A caller's connection, as far as its age goes. */
export interface AgeingSession {
  readonly connection: { finishDrain(): void };
  /** Asks the caller to open no more streams. */
  drain(): void;
  flushSoon(): void;
  closeWhenIdle(): void;
  /** Ends the calls that are left, and the connection. */
  end(failure: Failure): void;
  /** Ends the connection without a word. */
  abort(): void;
}

/**
 * The greatest age of callers' connections, in the terms of gRFC A9: a caller is told to go and connects anew, to another
 * pod where there are more of them by then; what is still under way after the grace ends with 14.
 */
export class ConnectionAge {
  readonly #options: AgeOptions;
  readonly #timers: Timers;
  readonly #random: () => number;

  constructor(options: AgeOptions, timers: Timers, random: () => number) {
    this.#options = options;
    this.#timers = timers;
    this.#random = random;
  }

  /**
   * Watches a connection from its beginning. Returns how to stop, which whoever sees it end must do; undefined where
   * connections may become as old as they like.
   */
  watch(session: AgeingSession): (() => void) | undefined {
    const { maxConnectionAgeMs, maxConnectionAgeGraceMs: graceMs } = this.#options;
    if (maxConnectionAgeMs === 0) return undefined;
    const timers = this.#timers;
    const steps: readonly (readonly [afterMs: number, step: () => void])[] = [
      [maxConnectionAgeMs * (1 + JITTER * (2 * this.#random() - 1)), () => session.drain()],
      [Math.min(ANSWER_MS, graceMs), () => finishDrain(session)],
      [Math.max(0, graceMs - ANSWER_MS), () => session.end({ kind: "connectionAged" })],
      [ANSWER_MS, () => session.abort()], // whoever does not even read that
    ];
    let next = 0;
    const alarm = new CallbackAlarm((nowMs) => {
      steps[next++]![1]();
      if (next < steps.length) timers.set(alarm, nowMs + steps[next]![0]);
    });
    timers.set(alarm, timers.refresh() + steps[0]![0]);
    return () => timers.cancel(alarm);
  }
}

function finishDrain(session: AgeingSession): void {
  session.connection.finishDrain();
  session.flushSoon();
  session.closeWhenIdle();
}
