import { type Clock, SYSTEM_CLOCK } from "../transport/mod.ts";

/** A timer of this runtime comes up to 1.3 ms late; the last stretch before a call is due is spent looking. */
const LOOK_MS = 3;

/** A clock that can also wake at the next turn of the event loop. */
export interface PacerClock extends Clock {
  /** Calls `wake` once all that has come in is dealt with; returns how to prevent it. */
  soon(wake: () => void): () => void;
}

export const PACER_CLOCK: PacerClock = {
  ...SYSTEM_CLOCK,
  soon(wake) {
    const id = setImmediate(wake);
    return () => clearImmediate(id);
  },
};

export interface PacerOptions {
  readonly clock: PacerClock;
  readonly perSecond: number;
  /** Infinity when somebody stops it. */
  readonly total: number;
  /** How long after a call the next one is due; undefined for evenly. Its mean is what `perSecond` says. */
  readonly gapMs?: (() => number) | undefined;
  /** `dueMs` is when it should have been, by the clock, which is never later than now. */
  readonly onDue: (dueMs: number) => void;
  readonly onDone: () => void;
}

/**
 * Says when a call is due, `perSecond` times a second from now on, evenly or by the gaps it is given. One that could
 * not be said in time is said late and not left out, with the time at which it was due, so that no delay is
 * forgotten. Takes a processor for itself when calls are due more often than every few milliseconds.
 */
export class Pacer {
  #options: PacerOptions;
  #startMs: number;
  #said = 0;
  /** When the next call is due, where gaps say so. */
  #gapDueMs: number;
  #prevent: (() => void) | undefined = undefined;

  constructor(options: PacerOptions) {
    this.#options = options;
    this.#startMs = options.clock.now();
    this.#gapDueMs = this.#startMs;
    this.#prevent = options.clock.soon(() => this.#look());
  }

  stop(): void {
    this.#prevent?.();
    this.#prevent = undefined;
  }

  #look(): void {
    const { clock, total, gapMs, onDue, onDone } = this.#options;
    const nowMs = clock.now();
    let dueMs = this.#nextMs();
    for (; this.#said < total && dueMs <= nowMs; dueMs = this.#nextMs()) {
      this.#said++;
      if (gapMs !== undefined) this.#gapDueMs += gapMs();
      onDue(dueMs);
    }
    if (this.#said >= total) return onDone();
    const look = () => this.#look();
    const waitMs = dueMs - nowMs - LOOK_MS;
    this.#prevent = waitMs > 0 ? clock.after(waitMs, look) : clock.soon(look);
  }

  #nextMs(): number {
    const { gapMs, perSecond } = this.#options;
    if (gapMs !== undefined) return this.#gapDueMs;
    return this.#startMs + this.#said * 1_000 / perSecond;
  }
}
