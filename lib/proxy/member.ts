import { CallbackAlarm } from "../transport/mod.ts";
import type { AddressBackend } from "./backend.ts";
import type { Exchange } from "./exchange.ts";
import { hashText } from "./rendezvous.ts";

/**
 * Whether a backend is given calls: `in` is; `out` was ejected; `trial` was, and its next call decides whether it
 * comes back (half-open).
 */
export type Standing = "in" | "out" | "trial";

/** One of several backends, and how it has done lately. `Backends` and `Outliers` alone change it. */
export class Member {
  readonly backend: AddressBackend;
  /** Its own share in what rendezvous hashing decides. */
  readonly hash: number;
  standing: Standing = "in";
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

  constructor(backend: AddressBackend, onReturn: (member: Member) => void) {
    this.backend = backend;
    this.hash = hashText(backend.name);
    this.returns = new CallbackAlarm(() => onReturn(this));
  }

  /** Calls it has on its hands, waiting ones included. */
  get load(): number {
    const { inflight, pending } = this.backend.counters;
    return inflight + pending;
  }
}
