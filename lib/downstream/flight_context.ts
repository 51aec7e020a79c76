import type { CollapseMap, Flight, Reply, Waiter } from "../collapse/mod.ts";
import type { UpstreamObserver } from "../observe/mod.ts";
import type { Timers } from "../transport/mod.ts";
import type { Upstream } from "../upstream/mod.ts";
import type { BufferedBytes } from "../wire/mod.ts";
import type { CallLimits } from "./call_limits.ts";
import type { FlightTime } from "./flight_time.ts";
import type { FlightWaiter } from "./flight_waiter.ts";

/** A caller in the list of those that wait for a flight. */
export type Waiting<F extends Reply> = Waiter<F> & FlightWaiter & {
  /** The answer could not be had: this stale one stands in, unless the caller takes none, or was given something (false). */
  answerStale(stale: Flight<F>): boolean;
};

/** What every flight needs and none owns. */
export interface FlightContext<F extends Reply> {
  readonly map: CollapseMap<F>;
  readonly backend: Upstream;
  readonly timers: Timers;
  readonly flightTime: FlightTime<F>;
  readonly limits: CallLimits;
  readonly observer: UpstreamObserver;
  /** Counts what is held for peers. What is stored is bounded by the store. */
  readonly buffered: BufferedBytes;
  /** For jitter: at least 0, below 1. */
  readonly random: () => number;
}
