/**
 * Where a call stands with its backend's bulkhead: it needs nothing of it (yet, or any more), waits for a place, or has
 * one.
 */
export type PlaceState = "none" | "queued" | "held";

/**
 * What a call that waits is short of: a place in the bulkhead, a stream on a connection whose peer limits them, or a
 * connection.
 */
export type Lack = "place" | "stream" | "connection";

/**
 * A call's place in its backend's bulkhead. A place never changes, the bulkhead gives the call another one: so nearly all
 * calls share two of them, and need no object of their own.
 */
export interface Place {
  readonly state: PlaceState;
  /** When the call began to wait; 0 where it does not wait. */
  readonly queuedMs: number;
  /** The call counts against what the policy allows of its method. */
  readonly countsForMethod: boolean;
}

/** The place of a call that needs nothing, yet or any more. */
export const NO_PLACE: Place = { state: "none", queuedMs: 0, countsForMethod: false };

/** The place of a call that has one, and whose method nothing bounds. */
export const HELD_PLACE: Place = { state: "held", queuedMs: 0, countsForMethod: false };
