import type { ProxyCounters, ProxyObserver } from "../observe/mod.ts";
import type { Timers } from "../transport/mod.ts";
import type { ReportRecord } from "../trust/mod.ts";
import type { Upstream } from "../upstream/mod.ts";
import type { Places } from "./places.ts";

/** What every part of a trial needs and none owns. */
export interface TrialContext {
  readonly backend: Upstream;
  readonly timers: Timers;
  readonly counters: ProxyCounters;
  readonly observer: Pick<ProxyObserver, "dependsOnCaller" | "faultOfOurs">;
  /** Where calls that nobody waits for get their turn. */
  readonly places: Places;
  readonly record: ReportRecord;
  /** For samples and jitter: at least 0, below 1. */
  readonly random: () => number;
  /** Longest that a call of the sidecar's own may take (BACKEND_TIMEOUT). */
  readonly backendTimeoutMs: number;
  /** A method was taken out, or put back: who remembers how it was has to look again. */
  readonly changed: (path: string) => void;
}
