import { CallbackAlarm } from "../transport/mod.ts";
import type { Endpoint, Exchange, Standing } from "../upstream/mod.ts";
import { hashText } from "./rendezvous.ts";

/** One of several backends, and how it has done lately. `OutlierDetection` alone changes that. */
export class Host {
  readonly endpoint: Endpoint;
  /** The host's own share in what rendezvous hashing decides. */
  readonly hash: number;
  standing: Standing = "healthy";
  /** Bad ends of calls since the last good one. */
  badInARow = 0;
  /** Ends of calls in the interval under way. */
  good = 0;
  bad = 0;
  /** Ejections that are not forgiven yet: each makes the next one longer. */
  ejections = 0;
  /** Why the host is left out, in words. */
  why = "";
  /** The call that was given to a half-open host last; no other one is while the lease runs. */
  lease: Exchange | undefined = undefined;
  /** The calls given to a half-open host that may still show how it is, that of the lease included. */
  readonly trials = new Set<Exchange>();
  /** Wakes when an ejection is over. */
  readonly ejectionEnds: CallbackAlarm;
  /** Wakes when a lease is over. */
  readonly leaseEnds: CallbackAlarm;
  /** Calls are placed here now: the host can be reached, and is not left out, or all but too few are. */
  takesCalls = false;

  constructor(
    endpoint: Endpoint,
    on: { ejectionEnd: (host: Host) => void; leaseEnd: (host: Host) => void },
  ) {
    this.endpoint = endpoint;
    this.hash = hashText(endpoint.name);
    this.ejectionEnds = new CallbackAlarm(() => on.ejectionEnd(this));
    this.leaseEnds = new CallbackAlarm(() => on.leaseEnd(this));
  }

  /** Calls the host has on its hands, waiting ones included. */
  get load(): number {
    const { inflight, pending } = this.endpoint.counters;
    return inflight + pending;
  }

  /** No call is given to it: it was ejected, or is half-open and another call has the lease. */
  get isLeftOut(): boolean {
    return this.standing === "ejected" || this.standing === "half-open" && this.lease !== undefined;
  }
}
