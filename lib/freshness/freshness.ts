/** What becomes of an answer for those who come later: of all methods, or of one whose policy says so. */
export interface Freshness {
  /** How long a good result answers repeats; 0 keeps nothing (COLLAPSER_CACHE_DURATION). */
  readonly cacheDurationMs: number;
  /** How long after that a good result may answer stale, while it is fetched anew; 0 not at all (COLLAPSER_STALE_DURATION). */
  readonly staleDurationMs: number;
  /** How long after that it may answer where the backend cannot; 0 not at all (COLLAPSER_STALE_IF_ERROR). */
  readonly staleIfErrorMs: number;
  /** Statuses for which it may; undefined for the usual ones: UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED. */
  readonly staleIfErrorCodes?: readonly number[] | undefined;
  /** Share by which a time of a second or more is shortened at random (COLLAPSER_TTL_JITTER). */
  readonly ttlJitter: number;
  /** How long a key whose answer was private passes through; 0 is not at all (COLLAPSER_HIT_FOR_PASS). */
  readonly hitForPassMs: number;
  /** Whether error results are kept too (COLLAPSER_CACHE_ERRORS). */
  readonly cacheErrors: boolean;
}

/** What holds for a method: what its policy says, and `all` where it says nothing. */
export function freshnessOf(policy: Partial<Freshness>, all: Freshness): Freshness {
  return {
    cacheDurationMs: policy.cacheDurationMs ?? all.cacheDurationMs,
    staleDurationMs: policy.staleDurationMs ?? all.staleDurationMs,
    staleIfErrorMs: policy.staleIfErrorMs ?? all.staleIfErrorMs,
    staleIfErrorCodes: policy.staleIfErrorCodes ?? all.staleIfErrorCodes,
    ttlJitter: policy.ttlJitter ?? all.ttlJitter,
    hitForPassMs: policy.hitForPassMs ?? all.hitForPassMs,
    cacheErrors: policy.cacheErrors ?? all.cacheErrors,
  };
}
