/** Bounds on joining a flight. */
export interface JoinLimits {
  /** A flight older than this takes no more joiners (COLLAPSER_JOIN_MAX_AGE). */
  readonly joinMaxAgeMs: number;
  /** Waiters on one flight, beside its leader (COLLAPSER_MAX_FOLLOWERS). */
  readonly maxFollowers: number;
}

/** What bounds stored results, and flights where their head has no bounds of its own. */
export interface CollapseLimits extends JoinLimits {
  /** Results kept (COLLAPSER_MAX_CACHE_ENTRIES); Infinity where the bytes alone bound them. */
  readonly maxCacheEntries: number;
  /** Bytes kept, keys included (COLLAPSER_MAX_CACHE_BYTES). */
  readonly maxCacheBytes: number;
}
