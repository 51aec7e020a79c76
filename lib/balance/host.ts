import { CallbackAlarm } from "../transport/mod.ts";
import type { Endpoint, Exchange, Standing } from "../upstream/mod.ts";
import { hashText } from "./rendezvous.ts";

/** One of several backends, and how it has done lately. `BalancedCluster` and `OutlierDetection` alone change it. */
export class Host {
  readonly endpoint: Endpoint;
  /** Its own share in what rendezvous hashing decides. */
  readonly hash: number;
  standing: Standing = "healthy";
  /** Bad ends of calls since the last good one. */
  badInARow = 0;
  /** Ends of calls in the interval under way. */
  good = 0;
  bad = 0;
  /** Ejections that are not forgiven yet: each makes the next one longer. */
  ejections = 0;
  /** Why it is out, in words. */
  why = "";
  /** The call that decides whether it comes back. */
  trial: Exchange | undefined = undefined;
  /** It is given calls now: it can be reached, and is in, or all but too few are out. */
  takesCalls = false;
  /** When it may come back. */
  readonly returns: CallbackAlarm;

  constructor(endpoint: Endpoint, onReturn: (host: Host) => void) {
    this.endpoint = endpoint;
    this.hash = hashText(endpoint.name);
    this.returns = new CallbackAlarm(() => onReturn(this));
  }

  /** Calls it has on its hands, waiting ones included. */
  get load(): number {
    const { inflight, pending } = this.endpoint.counters;
    return inflight + pending;
  }
}
