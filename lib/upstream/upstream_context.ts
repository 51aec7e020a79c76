import type { Dial, Timers, Turn } from "../transport/mod.ts";
import type { BufferedBytes, HeaderCache } from "../wire/mod.ts";
import type { BackendInstances } from "./instances.ts";
import type { ProxyCounters, UpstreamObserver } from "../observe/mod.ts";

/** What all endpoints share. */
export interface UpstreamContext {
  readonly dial: Dial;
  readonly timers: Timers;
  readonly turn: Turn;
  readonly counters: ProxyCounters;
  readonly observer: UpstreamObserver;
  /** Interns what backends answer. */
  readonly replyHeaders: HeaderCache;
  /** What this process says to tell itself from others (`INSTANCE_SETTING`); 0 when it says nothing. */
  readonly instance: number;
  /** What backends say to tell themselves from others, where they are of this program. */
  readonly instances: BackendInstances;
  /** Counts what is held for peers. */
  readonly buffered: BufferedBytes;
  /** For jitter: at least 0, below 1. */
  readonly random: () => number;
}
