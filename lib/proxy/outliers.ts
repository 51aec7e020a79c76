import { CallbackAlarm, type Timers } from "../transport/mod.ts";
import type { Exchange } from "./exchange.ts";
import type { Member } from "./member.ts";
import type { Sign } from "./sign.ts";

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

/** What the detection needs of whoever holds the members. */
export interface OutliersOwner {
  readonly members: readonly Member[];
  /** Ejections are bounded: another one can answer in its place. */
  readonly areReplicas: boolean;
  /** A standing has changed. */
  ejected(member: Member): void;
  returned(member: Member): void;
  /** Asks the backend itself how it is; the answer goes to {@linkcode Outliers.recovered}. */
  asksHealth(member: Member): void;
}

/** Finds backends that fail while others do not, keeps calls away from them, and lets them come back. */
export class Outliers {
  #owner: OutliersOwner;
  #timers: Timers;
  #interval: CallbackAlarm;

  constructor(owner: OutliersOwner, timers: Timers) {
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
    for (const member of this.#owner.members) this.forget(member);
  }

  /** It is no member any more. */
  forget(member: Member): void {
    this.#timers.cancel(member.returns);
  }

  /** A call of its has ended; one that was begun before it was ejected says nothing about its coming back. */
  observe(member: Member, exchange: Exchange, sign: Sign): void {
    if (exchange === member.trial) {
      member.trial = undefined;
      if (sign !== "none") return this.recovered(member, sign === "good" ? "well" : "ill");
    }
    if (sign === "none" || member.standing !== "in") return;
    if (sign === "good") {
      member.good++;
      member.badInARow = 0;
      return;
    }
    member.bad++;
    member.badInARow++;
    if (member.badInARow >= CONSECUTIVE_BAD) {
      this.#eject(member, `${member.badInARow} calls in a row failed or had no answer in time`);
    }
  }

  /** The time of an ejection is over: it is asked how it is, or its next call will tell. */
  recovered(member: Member, recovery: Recovery): void {
    if (member.standing === "in") return;
    if (recovery === "well") {
      member.standing = "in";
      member.badInARow = 0;
      member.why = "";
      this.#timers.cancel(member.returns);
      this.#owner.returned(member);
    } else if (recovery === "unknown") {
      member.standing = "trial";
      this.#owner.returned(member);
    } else {
      this.#keepOut(member, member.why);
    }
  }

  #eject(member: Member, why: string): void {
    if (this.#owner.areReplicas && !this.#mayEject()) return;
    this.#keepOut(member, why);
  }

  #keepOut(member: Member, why: string): void {
    const isNew = member.standing === "in";
    member.standing = "out";
    member.why = why;
    const ejectionMs = Math.min(BASE_EJECTION_MS * 2 ** member.ejections, LONGEST_EJECTION_MS);
    member.ejections++;
    this.#timers.set(member.returns, this.#timers.nowMs + ejectionMs);
    if (isNew) member.backend.counters.ejections++;
    this.#owner.ejected(member);
  }

  #mayEject(): boolean {
    const { members } = this.#owner;
    const out = members.filter(({ standing }) => standing !== "in").length;
    const most = Math.max(1, Math.floor(members.length * MAX_EJECTED_SHARE));
    return members.length > 1 && out < most;
  }

  /** Compares success rates (A50, "success rate algorithm"), forgives, and begins a new interval. */
  #compare(): void {
    const { members } = this.#owner;
    const busy = members.filter(({ standing, good, bad }) =>
      standing === "in" && good + bad >= MIN_VOLUME
    );
    if (busy.length >= MIN_HOSTS) {
      const least = leastRate(busy.map(successRate));
      for (const member of busy) {
        const rate = successRate(member);
        if (rate >= least) continue;
        this.#eject(member, `only ${Math.round(rate * 100)} % of its calls succeeded`);
      }
    }
    for (const member of members) {
      if (member.standing === "in" && member.ejections > 0) member.ejections--;
      member.good = member.bad = 0;
    }
  }
}

function successRate({ good, bad }: Member): number {
  return good / (good + bad);
}

/** Below it a rate is an outlier among these. */
function leastRate(rates: readonly number[]): number {
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const variance = rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / rates.length;
  return mean - STDEV_FACTOR * Math.sqrt(variance);
}
