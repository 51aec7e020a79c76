/** What callers of a method were seen to do; it decides how long a call is waited for before it passes. */
export type Habit = "unknown" | "unary" | "streaming";

/** How long what was seen is believed: one odd call of one caller must not decide for all callers, for ever. */
const BELIEVED_MS = 60_000;

/**
 * What the calls of a method were lately seen to do. The wire does not say whether a caller will send more than one
 * message. `unary` was a call that half-closed after its one message, `streaming` one that sent another, or was answered
 * before it half-closed. While both are seen the latter holds: who waits in vain for the end of a stream is kept from its
 * answer, who does not wait only shares less.
 */
export class Behaviour {
  #habit: Habit = "unknown";
  #seenMs = -Infinity;
  /** What the method's descriptor says: then nothing is learnt from calls. */
  #described: Habit | undefined = undefined;

  /** What is believed at `nowMs`. */
  at(nowMs: number): Habit {
    if (this.#described !== undefined) return this.#described;
    return nowMs - this.#seenMs < BELIEVED_MS ? this.#habit : "unknown";
  }

  /** The method's descriptor says whether callers send several messages; undefined where there is none. */
  describe(takesStream: boolean | undefined): void {
    this.#described = takesStream === undefined ? undefined : takesStream ? "streaming" : "unary";
  }

  /** A call was seen to do this. */
  saw(habit: "unary" | "streaming", nowMs: number): void {
    if (habit === "unary" && this.at(nowMs) === "streaming") return;
    this.#habit = habit;
    this.#seenMs = nowMs;
  }
}
