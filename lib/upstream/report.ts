import type { BackendCounters } from "../observe/mod.ts";

/**
 * Whether a backend is given calls: one that is `healthy` is; one that is `ejected` is left out; of one that is
 * `half-open` the next call decides whether it comes back.
 */
export type Standing = "healthy" | "ejected" | "half-open";

/** A backend, and how it stands with those who send calls to it. */
export interface BackendReport {
  readonly counters: BackendCounters;
  /** Why no call can be sent; "" when one can. */
  readonly trouble: string;
  readonly standing: Standing;
  /** Why the backend is left out; "" while it is not. */
  readonly why: string;
}
