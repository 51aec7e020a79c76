import type { Freshness } from "../../lib/downstream/call_limits.ts";

/** Nothing is kept, and nothing is private for longer than its flight. */
export const NOTHING_KEPT: Freshness = {
  cacheDurationMs: 0,
  staleDurationMs: 0,
  staleIfErrorMs: 0,
  ttlJitter: 0,
  hitForPassMs: 0,
  cacheErrors: false,
};
