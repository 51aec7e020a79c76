import type { ProxyCounters } from "../observe/mod.ts";

/** Where the metrics come from; read on every scrape. */
export interface MetricsSource {
  readonly counters: ProxyCounters;
  /** Flights under way. */
  inflight(): number;
  /** Callers waiting on flights. */
  waiters(): number;
  cachedResults(): number;
  cachedBytes(): number;
  /** Bytes held for peers. */
  bufferedBytes(): number;
  /** Paths of the methods that were taken out. */
  methodsOff(): Iterable<string>;
  /** Version of collapser. */
  readonly version: string;
  /** Commit that collapser was built from. */
  readonly commit: string;
}
