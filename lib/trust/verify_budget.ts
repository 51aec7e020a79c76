/** Calls of a backend for each re-run: one in a hundred is added at most, however high the ratio is set. */
const CALLS_PER_RUN = 100;

/** Calls saved up at most, for ten re-runs: a quiet hour must not become a burst. */
const MAX_SAVED_CALLS = 10 * CALLS_PER_RUN;

/** Re-runs that wait for one of the places; 20 of ten methods that begin at once. */
const MAX_WAITING = 200;

/** Why a re-run is not made (INTERFACE: Trust). */
export type SkipReason = "budget" | "busy";

/** A re-run that asks for a place: `first` are a method's first ones, with the control runs that they lead to. */
export interface RunRequest {
  readonly kind: "first" | "sampled";
  /** Makes the run; whoever makes it calls {@linkcode VerifyBudget.ended} once. */
  readonly start: () => void;
}

/**
 * The places of one backend for calls that no caller waits for. A run starts at once, waits for a place, or is not made;
 * none starts while callers wait for the backend.
 *
 * `first` runs stand outside the share and wait for a place; `sampled` ones are skipped where there is none.
 */
export class VerifyBudget {
  #running = 0;
  /** Calls that have not been spent on re-runs yet. */
  #savedCalls = 0;
  /** The backend's calls as of when they were last looked at, and those re-runs that have come since. */
  #seenCalls: number;
  readonly #calls: () => number;
  readonly #maxConcurrent: number;
  readonly #isBusy: () => boolean;
  readonly #waiting: RunRequest[] = [];

  /**
   * `isBusy` tells whether callers wait for the backend, or none more may be sent to it; `calls` is how many it was sent,
   * re-runs included.
   */
  constructor(
    { maxConcurrent, isBusy, calls }: {
      maxConcurrent: number;
      isBusy: () => boolean;
      calls: () => number;
    },
  ) {
    this.#maxConcurrent = maxConcurrent;
    this.#isBusy = isBusy;
    this.#calls = calls;
    this.#seenCalls = calls();
  }

  /** Whether a run is under way or waits. */
  get isUsed(): boolean {
    return this.#running > 0 || this.#waiting.length > 0;
  }

  /** Starts the run now or later, or says why it is not made. */
  ask(run: RunRequest): SkipReason | undefined {
    const isFirst = run.kind === "first";
    this.#earn();
    if (!isFirst && this.#savedCalls < CALLS_PER_RUN) return "budget";
    const hasPlace = this.#running < this.#maxConcurrent && !this.#isBusy();
    if (hasPlace && this.#waiting.length === 0) {
      if (!isFirst) this.#savedCalls -= CALLS_PER_RUN;
      this.#start(run);
      return undefined;
    }
    if (!isFirst || this.#waiting.length >= MAX_WAITING) return "busy";
    this.#waiting.push(run);
    this.turn();
    return undefined;
  }

  /** A run has ended, whatever came of it. */
  ended(): void {
    this.#running--;
    this.turn();
  }

  /** Starts those that wait, as far as there are places: to be called when callers wait no longer. */
  turn(): void {
    while (this.#waiting.length > 0 && this.#running < this.#maxConcurrent && !this.#isBusy()) {
      this.#start(this.#waiting.shift()!);
    }
  }

  /** Gives up those that wait, at a drain or when their backend goes; returns how many there were. */
  abandon(): number {
    return this.#waiting.splice(0).length;
  }

  /** Callers' calls since the last look are worth a hundredth of a re-run each. */
  #earn(): void {
    const calls = this.#calls();
    const more = Math.max(0, calls - this.#seenCalls);
    this.#seenCalls = calls;
    this.#savedCalls = Math.min(MAX_SAVED_CALLS, this.#savedCalls + more);
  }

  #start(run: RunRequest): void {
    this.#running++;
    this.#seenCalls++; // it is no caller's
    run.start();
  }
}
