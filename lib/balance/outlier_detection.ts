import { CallbackAlarm, type Timers } from "../transport/mod.ts";
import type { Exchange, Recovery } from "../upstream/mod.ts";
import { type Classification, classify } from "./classify.ts";
import type { Host } from "./host.ts";

/**
 * Outlier detection in the terms of gRFC A50, with values for backends next door, of which a sidecar has few: it
 * ejects sooner and tries again sooner than A50's defaults, which are those of a fleet.
 */

/** So many bad ends in a row, with no good one between, eject. */
const CONSECUTIVE_BAD = 5;

/** How often success rates are compared, and what is needed for that: A50's defaults. */
const INTERVAL_MS = 10_000;
const MIN_HOSTS = 5;
const MIN_VOLUME = 100;
const STDEV_FACTOR = 1.9;

/** First ejection; each further one takes twice as long, up to the longest. One is forgiven in each good interval. */
const BASE_EJECTION_MS = 1_000;
const LONGEST_EJECTION_MS = 30_000;

/** At most this share of replicas is ejected at once; one always may be, where there is another. */
const MAX_EJECTED_SHARE = 0.5;

/**
 * A half-open host is given one call, and for so long no other: a call that never answers must not keep a host out. The
 * call goes on, and still counts when it is answered later.
 */
const LEASE_MS = 1_000;

/** Whoever holds the hosts, as the detection sees it. */
export interface DetectionOwner {
  readonly hosts: readonly Host[];
  /** Ejections are bounded: another host can answer in the place of one that is out. */
  readonly areReplicas: boolean;
  /** A host was ejected, or its ejection was made longer. */
  ejected(host: Host): void;
  /** A host that was ejected is healthy again. */
  returned(host: Host): void;
  /** A host may be given calls, or no longer, for another reason. */
  gateChanged(host: Host): void;
  /** Asks the backend itself how it is; the answer goes to {@linkcode OutlierDetection.recovers}. */
  asksHealth(host: Host): void;
}

/**
 * Finds hosts that fail while others do not, keeps calls away from them, and lets them come back. An ejection ends by
 * time: then the host is asked how it is, and unless it says that it is ill, or nothing at all, one call after the other
 * is tried, each for a lease of time, until one is answered.
 */
export class OutlierDetection {
  readonly #owner: DetectionOwner;
  readonly #timers: Timers;
  readonly #interval: CallbackAlarm;

  constructor(owner: DetectionOwner, timers: Timers) {
    this.#owner = owner;
    this.#timers = timers;
    this.#interval = new CallbackAlarm((nowMs) => {
      timers.set(this.#interval, nowMs + INTERVAL_MS);
      this.#compare();
    });
  }

  start(): void {
    this.#timers.set(this.#interval, this.#timers.nowMs + INTERVAL_MS);
  }

  stop(): void {
    this.#timers.cancel(this.#interval);
    for (const host of this.#owner.hosts) this.forget(host);
  }

  /** A host is one no longer. */
  forget(host: Host): void {
    this.#timers.cancel(host.ejectionEnds);
    this.#endTrials(host);
  }

  // ---- calls

  /** A call is given to the host: to a half-open one as its trial. */
  begins(host: Host, exchange: Exchange): void {
    if (host.standing !== "half-open" || exchange.isProbe) return;
    host.lease = exchange;
    host.trials.add(exchange);
    this.#timers.set(host.leaseEnds, this.#timers.nowMs + LEASE_MS);
    this.#owner.gateChanged(host);
  }

  /** The first message of a reply has begun to come, which is all that a trial is for. */
  answers(host: Host, exchange: Exchange): void {
    if (host.trials.has(exchange)) this.recovers(host, "well");
  }

  /** A call is the host's no longer, whatever the way. */
  leaves(host: Host, exchange: Exchange, nowMs: number): void {
    const end = classify(exchange, nowMs);
    if (host.trials.delete(exchange)) return this.#trialEnds(host, exchange, end);
    if (end === "neutral" || host.standing !== "healthy") return;
    if (end === "success") {
      host.good++;
      host.badInARow = 0;
      return;
    }
    host.bad++;
    host.badInARow++;
    if (host.badInARow >= CONSECUTIVE_BAD) {
      this.#eject(host, `${host.badInARow} calls in a row failed or had no answer in time`);
    }
  }

  #trialEnds(host: Host, exchange: Exchange, end: Classification): void {
    if (end !== "neutral") this.recovers(host, end === "success" ? "well" : "ill");
    else if (exchange === host.lease) this.leaseEnds(host);
  }

  /** The next call may be tried. */
  leaseEnds(host: Host): void {
    this.#timers.cancel(host.leaseEnds);
    host.lease = undefined;
    this.#owner.gateChanged(host);
  }

  #endTrials(host: Host): void {
    this.#timers.cancel(host.leaseEnds);
    host.lease = undefined;
    host.trials.clear();
  }

  // ---- out and back

  /** What is known of a host that is left out: its own word, or how a trial went. */
  recovers(host: Host, recovery: Recovery): void {
    if (host.standing === "healthy") return;
    if (recovery === "ill") return this.#keepOut(host, host.why);
    if (recovery === "unknown" && host.standing === "half-open") return;
    this.#timers.cancel(host.ejectionEnds);
    if (recovery === "unknown") {
      host.standing = "half-open";
      this.#owner.gateChanged(host);
    } else {
      this.#endTrials(host);
      host.standing = "healthy";
      host.badInARow = 0;
      host.why = "";
      this.#owner.returned(host);
    }
  }

  #eject(host: Host, why: string): void {
    if (this.#owner.areReplicas && !this.#mayEject()) return;
    this.#keepOut(host, why);
  }

  #keepOut(host: Host, why: string): void {
    if (host.standing === "healthy") host.endpoint.counters.ejections++;
    this.#endTrials(host);
    host.standing = "ejected";
    host.why = why;
    const ejectionMs = Math.min(BASE_EJECTION_MS * 2 ** host.ejections, LONGEST_EJECTION_MS);
    host.ejections++;
    this.#timers.set(host.ejectionEnds, this.#timers.nowMs + ejectionMs);
    this.#owner.ejected(host);
  }

  #mayEject(): boolean {
    const { hosts } = this.#owner;
    const out = hosts.filter(({ standing }) => standing !== "healthy").length;
    const most = Math.max(1, Math.floor(hosts.length * MAX_EJECTED_SHARE));
    return hosts.length > 1 && out < most;
  }

  /** Compares success rates (A50, "success rate algorithm"), forgives, and begins a new interval. */
  #compare(): void {
    const { hosts } = this.#owner;
    const busy = hosts.filter(({ standing, good, bad }) =>
      standing === "healthy" && good + bad >= MIN_VOLUME
    );
    if (busy.length >= MIN_HOSTS) {
      const least = leastRate(busy.map(successRate));
      for (const host of busy) {
        const rate = successRate(host);
        if (rate >= least) continue;
        this.#eject(host, `only ${Math.round(rate * 100)} % of its calls succeeded`);
      }
    }
    for (const host of hosts) {
      if (host.standing === "healthy" && host.ejections > 0) host.ejections--;
      host.good = host.bad = 0;
    }
  }
}

function successRate({ good, bad }: Host): number {
  return good / (good + bad);
}

/** The success rate below which a host is an outlier among `rates` (gRFC A50: the mean less some standard deviations). */
function leastRate(rates: readonly number[]): number {
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const variance = rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / rates.length;
  return mean - STDEV_FACTOR * Math.sqrt(variance);
}
