/**
 * Where a call stands with its backend's bulkhead: it needs nothing of it (yet, or any more), waits for a place, or has
 * one.
 */
export type PlaceState = "none" | "queued" | "held";

/** A call's place in its backend's bulkhead, which alone changes it. */
export class Place {
  state: PlaceState = "none";
  /** The call counts against what the policy allows of its method. */
  countsForMethod = false;
}
