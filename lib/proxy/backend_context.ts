import type { Dial, Timers, Turn } from "../transport/mod.ts";
import type { HeaderCache } from "../wire/mod.ts";
import type { ProxyCounters } from "./counters.ts";
import type { ProxyObserver } from "./observer.ts";

/** What all backends share. */
export interface BackendContext {
  readonly dial: Dial;
  readonly timers: Timers;
  readonly turn: Turn;
  readonly counters: ProxyCounters;
  readonly observer: ProxyObserver;
  /** Interns what backends answer. */
  readonly replyHeaders: HeaderCache;
  /** For jitter: at least 0, below 1. */
  readonly random: () => number;
}
