import type { ProxyCounters } from "../observe/mod.ts";

/** Where the metrics come from; read on every scrape. */
export interface MetricsSource {
  readonly counters: ProxyCounters;
  /** Flights under way. */
  inflight(): number;
  /** Callers waiting on them. */
  waiters(): number;
  cachedResults(): number;
  cachedBytes(): number;
  /** Of collapser. */
  readonly version: string;
  /** That it was built from. */
  readonly commit: string;
}
