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

/** A call's place in its backend's bulkhead, which alone changes it. */
export class Place {
  state: PlaceState = "none";
  /** When the call began to wait. */
  queuedMs = 0;
  /** The call counts against what the policy allows of its method. */
  countsForMethod = false;
}
