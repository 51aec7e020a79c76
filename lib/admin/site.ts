import { BucketsByAddress } from "./buckets_by_address.ts";
import { Events } from "./events.ts";
import { History } from "./history.ts";
import { RateLimit } from "../telemetry/mod.ts";
import type { AdminSources } from "./sources.ts";
import { statusOf } from "./status.ts";

/** Time between two samples, and two snapshots for those who listen. */
const EVERY_MS = 1_000;

/** Age up to which a snapshot answers whoever asks: one is made ten times a second at most, however often they ask. */
const FRESH_MS = 100;

/** Questions about the state, of one address: a page asks once a second, and each costs a fraction of a millisecond. */
const READS = { perSecond: 50, burst: 200 };

/** Scrapes: every few seconds from each scraper, at two milliseconds each. */
const SCRAPES = { perSecond: 50, burst: 500 };

/** Calls that change something: a person makes them. */
const WRITES = { perSecond: 5, burst: 20 };

/** Calls with a wrong token: a person mistypes one now and then, and a machine that guesses gets nowhere. */
const FAILURES = { perSecond: 0.2, burst: 5 };

/** What the admin listener remembers between requests. */
export class Site {
  readonly sources: AdminSources;
  readonly events = new Events();
  readonly history: History;
  readonly reads = new BucketsByAddress(READS);
  readonly scrapes = new BucketsByAddress(SCRAPES);
  readonly writes = new BucketsByAddress(WRITES);
  readonly failures = new BucketsByAddress(FAILURES);
  readonly #troubles = new RateLimit();
  #timer: ReturnType<typeof setInterval> | undefined;
  #lastMs = performance.now();
  #snapshot = "";
  #snapshotMs = -Infinity;

  constructor(sources: AdminSources) {
    this.sources = sources;
    this.history = new History(sources.proxy.counters, this.#lastMs);
  }

  /** Begins to take samples. */
  start(): void {
    const timer = setInterval(() => this.tick(), EVERY_MS);
    Deno.unrefTimer(timer);
    this.#timer = timer;
  }

  /** Ends the streams of those who listen, and takes no more samples. */
  stop(): void {
    clearInterval(this.#timer);
    this.events.close();
  }

  /** A connection could not be accepted. */
  unaccepted(why: string): void {
    if (this.#troubles.admit("accept") === undefined) return;
    this.sources.log.warn("Cannot accept an admin connection", { error: why });
  }

  /** The state as JSON, on one line. */
  snapshot(): string {
    const nowMs = performance.now();
    if (nowMs - this.#snapshotMs >= FRESH_MS) {
      this.#snapshot = JSON.stringify(statusOf(this.sources, this.history));
      this.#snapshotMs = nowMs;
    }
    return this.#snapshot;
  }

  /** A second has passed. */
  tick(): void {
    const nowMs = performance.now();
    const lagMs = Math.max(0, Math.round(nowMs - this.#lastMs - EVERY_MS));
    this.#lastMs = nowMs;
    const { map } = this.sources.proxy;
    this.history.take(nowMs, Date.now(), { waiters: map.waiting, flights: map.flying, lagMs });
    if (this.events.listeners === 0) return;
    this.#snapshotMs = -Infinity; // it has to hold this sample
    try {
      this.events.send(this.snapshot());
    } catch (error) { // of ours: pages stand still, and calls go on
      this.sources.log.error("Admin snapshot failed", { stack: Deno.inspect(error) });
    }
  }
}
