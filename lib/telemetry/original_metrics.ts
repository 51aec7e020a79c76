import { LATENCY_BUCKETS, LatencyHistogram, type Outcome, OUTCOMES } from "../observe/mod.ts";
import type { HistogramReading, MetricSet } from "./registry.ts";
import type { MetricsSource } from "./source.ts";

/**
 * The seven metrics of the Go original under their own names and without labels, so that its dashboards and alerts go
 * on working.
 */
export function addOriginalMetrics(metrics: MetricSet, source: MetricsSource): void {
  const { counters } = source;
  metrics.counter("collapser_requests_total", {
    help: "Calls from callers, however they were answered.",
    collect: (put) => {
      const decided = OUTCOMES.reduce((sum, outcome) => sum + callsThat(source, outcome), 0);
      put(decided + counters.undecided);
    },
  });
  metrics.counter("collapser_collapsed_requests_total", {
    help: "Calls that joined one already under way and cost the backend nothing.",
    collect: (put) => put(callsThat(source, "joined")),
  });
  metrics.counter("collapser_backend_calls_total", {
    help: "Calls sent to all backends, those sent again included.",
    collect: (put) => put([...counters.everyBackend()].reduce((sum, { calls }) => sum + calls, 0)),
  });
  metrics.counter("collapser_cache_hits_total", {
    help: "Calls answered with a stored result.",
    collect: (put) => put(callsThat(source, "hit")),
  });
  metrics.gauge("collapser_inflight_requests", {
    help: "Flights under way: backend calls that equal calls may join.",
    collect: (put) => put(source.inflight()),
  });
  metrics.gauge("collapser_cached_results", {
    help: "Results stored now.",
    collect: (put) => put(source.cachedResults()),
  });
  metrics.histogram("collapser_backend_latency_seconds", {
    help: "Time that the backends took to answer, all of them together, in seconds.",
    collect: (put) =>
      put(readingOf(sumOf([...counters.everyBackend()].map(({ latency }) => latency)))),
  });
}

/** What the registry needs of one of the proxy's histograms. */
export function readingOf(histogram: LatencyHistogram): HistogramReading {
  return { bounds: LATENCY_BUCKETS, counts: histogram.counts, sum: histogram.sumSeconds };
}

function callsThat(source: MetricsSource, outcome: Outcome): number {
  let calls = 0;
  for (const { outcomes } of source.counters.all()) calls += outcomes[outcome];
  return calls;
}

function sumOf(histograms: readonly LatencyHistogram[]): LatencyHistogram {
  const sum = new LatencyHistogram();
  for (const { counts, count, sumSeconds } of histograms) {
    counts.forEach((value, bucket) => sum.counts[bucket]! += value);
    sum.count += count;
    sum.sumSeconds += sumSeconds;
  }
  return sum;
}
