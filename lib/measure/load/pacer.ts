import { type Clock, SYSTEM_CLOCK } from "../../transport/mod.ts";

/** A timer of this runtime comes up to 1.3 ms late; the last stretch before a call is due is spent looking. */
const LOOK_MS = 3;

/** A clock that can also wake at the next turn of the event loop. */
export interface PacerClock extends Clock {
  /** Calls `wake` once all that has come in is dealt with; returns how to prevent it. */
  soon(wake: () => void): () => void;
}

/** The system's clock, whose next turn comes after the input and output that is ready. */
export const PACER_CLOCK: PacerClock = {
  ...SYSTEM_CLOCK,
  soon(wake) {
    const id = setImmediate(wake);
    return () => clearImmediate(id);
  },
};

export interface PacerOptions {
  readonly clock: PacerClock;
  /** Calls a second, evenly, unless `offsetMs` says when each is due. */
  readonly perSecond: number;
  /** Time after the start when the nth call is due, in ms, where that is not evenly; never before the one before it. */
  readonly offsetMs?: ((index: number) => number) | undefined;
  /** Time before a call is due that is spent looking at the clock. @default {@linkcode LOOK_MS} */
  readonly lookMs?: number;
  /** Calls in all; Infinity when somebody stops the pacer. */
  readonly total: number;
  /** Hears that a call is due; `dueMs` is when it was, by the clock, which is never later than now. */
  readonly onDue: (dueMs: number) => void;
  readonly onDone: () => void;
}

/**
 * Says when a call is due, `perSecond` times a second from now on, evenly or as it is told. A call that could not be
 * said in time is said late and not left out, with the time at which it was due, so that no delay is forgotten. Takes
 * a processor for itself when calls are due more often than every few milliseconds, unless it looks ahead less.
 */
export class Pacer {
  #options: PacerOptions;
  #startMs: number;
  #said = 0;
  #prevent: (() => void) | undefined = undefined;

  constructor(options: PacerOptions) {
    this.#options = options;
    this.#startMs = options.clock.now();
    this.#prevent = options.clock.soon(() => this.#look());
  }

  stop(): void {
    this.#prevent?.();
    this.#prevent = undefined;
  }

  #look(): void {
    const { clock, total, onDue, onDone, lookMs = LOOK_MS } = this.#options;
    const nowMs = clock.now();
    let dueMs = this.#nextMs();
    for (; this.#said < total && dueMs <= nowMs; dueMs = this.#nextMs()) {
      this.#said++;
      onDue(dueMs);
    }
    if (this.#said >= total) return onDone();
    const look = () => this.#look();
    const waitMs = dueMs - nowMs - lookMs;
    this.#prevent = waitMs > 0 ? clock.after(waitMs, look) : clock.soon(look);
  }

  #nextMs(): number {
    const { perSecond, offsetMs } = this.#options;
    return this.#startMs + (offsetMs?.(this.#said) ?? this.#said * 1_000 / perSecond);
  }
}
