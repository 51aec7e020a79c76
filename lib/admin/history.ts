import { type Outcome, OUTCOMES, type ProxyCounters } from "../observe/mod.ts";
import { quantileMs } from "./quantile.ts";

/** Five minutes, a sample a second: what whoever opens the page in an incident wants to have seen. */
const MAX_SAMPLES = 300;

/** Rates and latencies are over this many seconds: one second of little traffic says nothing. */
const WINDOW_SAMPLES = 5;

/** Backends whose latency is kept; the metrics have all. */
const MAX_BACKENDS = 16;

/** Statuses that mean trouble rather than an answer: UNKNOWN, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, INTERNAL, UNAVAILABLE, DATA_LOSS. */
const TROUBLE: ReadonlySet<number> = new Set([2, 4, 8, 13, 14, 15]);

/** One second, as the page shows it. Rates are over the few seconds up to it. */
export interface Sample {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** Calls a second, by outcome. */
  readonly calls: Readonly<Record<Outcome, number>>;
  /** Calls a second that were answered with OK, and those of them that needed no backend call. */
  readonly good: number;
  readonly saved: number;
  /** Calls a second that ended in trouble. */
  readonly failed: number;
  /** Calls a second that were sent to backends. */
  readonly backendCalls: number;
  readonly waiters: number;
  readonly flights: number;
  /** How late the sample was taken: how long the event loop kept everybody waiting. */
  readonly lagMs: number;
  readonly backends: readonly BackendSample[];
}

export interface BackendSample {
  readonly name: string;
  /** Calls that the backend has, those that stream left out. */
  readonly inflight: number;
  /** Calls a second that the backend answered. */
  readonly calls: number;
  /** Median latency; null when the backend answered no call. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

/** The counters at one time. */
interface Reading {
  readonly nowMs: number;
  readonly calls: Record<Outcome, number>;
  readonly good: number;
  readonly saved: number;
  readonly failed: number;
  readonly backendCalls: number;
  readonly latencies: ReadonlyMap<string, Float64Array>;
  readonly inflight: ReadonlyMap<string, number>;
}

/** What the gauges say beside the counters. */
export interface Gauges {
  readonly waiters: number;
  readonly flights: number;
  readonly lagMs: number;
}

/** The last minutes, a sample a second. Reading the counters costs microseconds, and nothing else is told of it. */
export class History {
  readonly #counters: ProxyCounters;
  #readings: Reading[] = [];
  #samples: Sample[] = [];

  constructor(counters: ProxyCounters, nowMs: number) {
    this.#counters = counters;
    this.#readings.push(readingOf(counters, nowMs));
  }

  /** The samples, the oldest first. */
  get samples(): readonly Sample[] {
    return this.#samples;
  }

  get last(): Sample | undefined {
    return this.#samples.at(-1);
  }

  /** Calls of the last so many milliseconds, as far as there are samples of them. */
  callsWithin(ms: number): number {
    const seconds = Math.max(1, Math.round(ms / 1_000));
    const rates = this.#samples.slice(-seconds).map(({ calls }) =>
      Object.values(calls).reduce((sum, rate) => sum + rate, 0)
    );
    return rates.reduce((sum, rate) => sum + rate, 0);
  }

  /** Takes a sample. `nowMs` is from any beginning, `atMs` since 1970. */
  take(nowMs: number, atMs: number, gauges: Gauges): Sample {
    const now = readingOf(this.#counters, nowMs);
    const before = this.#readings[0]!;
    this.#readings.push(now);
    if (this.#readings.length > WINDOW_SAMPLES) this.#readings.shift();
    const sample = { atMs, ...gauges, ...difference(before, now) };
    this.#samples.push(sample);
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
    return sample;
  }
}

function readingOf(counters: ProxyCounters, nowMs: number): Reading {
  const calls = noCalls();
  let failed = 0;
  for (const { outcomes, responses } of counters.all()) {
    for (const outcome of OUTCOMES) calls[outcome] += outcomes[outcome];
    for (const status of TROUBLE) failed += responses.counts[status]!;
  }
  const latencies = new Map<string, Float64Array>();
  const inflight = new Map(counters.backends.map(({ name, inflight }) => [name, inflight]));
  let backendCalls = 0;
  for (const { name, calls, latency } of counters.backends) {
    backendCalls += calls;
    if (latencies.size < MAX_BACKENDS) latencies.set(name, latency.counts.slice());
  }
  const { hit, joined, stale, led, passed } = counters.good;
  const saved = hit + joined + stale;
  return {
    nowMs,
    calls,
    good: saved + led + passed,
    saved,
    failed,
    backendCalls,
    latencies,
    inflight,
  };
}

function difference(before: Reading, now: Reading): Omit<Sample, "atMs" | keyof Gauges> {
  const seconds = Math.max(0.001, (now.nowMs - before.nowMs) / 1_000);
  // A backend that has gone takes its counts along: less than before is nothing.
  const rate = (from: number, to: number) => Math.max(0, rounded((to - from) / seconds));
  const calls = noCalls();
  for (const outcome of OUTCOMES) calls[outcome] = rate(before.calls[outcome], now.calls[outcome]);
  const backends = [...now.latencies].map(([name, counts]) => {
    const earlier = before.latencies.get(name);
    const during = counts.map((count, i) => Math.max(0, count - (earlier?.[i] ?? 0)));
    return {
      name,
      inflight: now.inflight.get(name) ?? 0,
      calls: rate(0, during.reduce((sum, count) => sum + count, 0)),
      p50Ms: orNull(quantileMs(during, 0.5)),
      p99Ms: orNull(quantileMs(during, 0.99)),
    };
  });
  return {
    calls,
    good: rate(before.good, now.good),
    saved: rate(before.saved, now.saved),
    failed: rate(before.failed, now.failed),
    backendCalls: rate(before.backendCalls, now.backendCalls),
    backends,
  };
}

function noCalls(): Record<Outcome, number> {
  return { hit: 0, joined: 0, led: 0, passed: 0, stale: 0, rejected: 0 };
}

function orNull(value: number | undefined): number | null {
  return value === undefined ? null : rounded(value);
}

/** A number as exact as a person reads it, so that five minutes of samples are not megabytes. */
function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
