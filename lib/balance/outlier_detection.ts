import { CallbackAlarm, type Timers } from "../transport/mod.ts";
import type { Exchange } from "../upstream/mod.ts";
import type { Host } from "./host.ts";
import type { Class } from "./classify.ts";

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

/** What comes of an attempt to bring one back. */
export type Recovery = "well" | "ill" | "unknown";

/** What the detection needs of whoever holds the hosts. */
export interface DetectionOwner {
  readonly hosts: readonly Host[];
  /** Ejections are bounded: another one can answer in its place. */
  readonly areReplicas: boolean;
  /** A standing has changed. */
  ejected(host: Host): void;
  returned(host: Host): void;
  /** Asks the backend itself how it is; the answer goes to {@linkcode OutlierDetection.recovered}. */
  asksHealth(host: Host): void;
}

/** Finds backends that fail while others do not, keeps calls away from them, and lets them come back. */
export class OutlierDetection {
  #owner: DetectionOwner;
  #timers: Timers;
  #interval: CallbackAlarm;

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

  /** It is no host any more. */
  forget(host: Host): void {
    this.#timers.cancel(host.returns);
  }

  /** A call of its has ended; one that was begun before it was ejected says nothing about its coming back. */
  observe(host: Host, exchange: Exchange, sign: Class): void {
    if (exchange === host.trial) {
      host.trial = undefined;
      if (sign !== "none") return this.recovered(host, sign === "good" ? "well" : "ill");
    }
    if (sign === "none" || host.standing !== "healthy") return;
    if (sign === "good") {
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

  /** The time of an ejection is over: it is asked how it is, or its next call will tell. */
  recovered(host: Host, recovery: Recovery): void {
    if (host.standing === "healthy") return;
    if (recovery === "well") {
      host.standing = "healthy";
      host.badInARow = 0;
      host.why = "";
      this.#timers.cancel(host.returns);
      this.#owner.returned(host);
    } else if (recovery === "unknown") {
      host.standing = "half-open";
      this.#owner.returned(host);
    } else {
      this.#keepOut(host, host.why);
    }
  }

  #eject(host: Host, why: string): void {
    if (this.#owner.areReplicas && !this.#mayEject()) return;
    this.#keepOut(host, why);
  }

  #keepOut(host: Host, why: string): void {
    const isNew = host.standing === "healthy";
    host.standing = "ejected";
    host.why = why;
    const ejectionMs = Math.min(BASE_EJECTION_MS * 2 ** host.ejections, LONGEST_EJECTION_MS);
    host.ejections++;
    this.#timers.set(host.returns, this.#timers.nowMs + ejectionMs);
    if (isNew) host.endpoint.counters.ejections++;
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

/** Below it a rate is an outlier among these. */
function leastRate(rates: readonly number[]): number {
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const variance = rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / rates.length;
  return mean - STDEV_FACTOR * Math.sqrt(variance);
}
