import {
  type MethodCounters,
  OUTCOMES,
  PASS_REASONS,
  REFRESH_RESULTS,
  type Side,
} from "../observe/mod.ts";
import { ERROR_CODE } from "../wire/mod.ts";
import { addBackendMetrics } from "./backend_metrics.ts";
import { errorCodeLabel, forCodes, nameLabel } from "./labels.ts";
import { readingOf } from "./original_metrics.ts";
import type { MetricSet } from "./registry.ts";
import type { MetricsSource } from "./source.ts";
import { addTrialMetrics } from "./trial_metrics.ts";

const SIDES: readonly Side[] = ["caller", "backend"];

/**
 * The metrics with labels. Sets known beforehand (outcomes, reasons, backends) are complete from the first scrape;
 * what callers bring (methods, services) and statuses appear with their first count.
 */
export function addProxyMetrics(metrics: MetricSet, source: MetricsSource): void {
  addCallMetrics(metrics, source);
  addStaleMetrics(metrics, source);
  addSavingMetrics(metrics, source);
  addTrialMetrics(metrics, source);
  addBackendMetrics(metrics, source.counters.backends);
  addConnectionMetrics(metrics, source);
}

function addCallMetrics(metrics: MetricSet, source: MetricsSource): void {
  const { counters } = source;
  metrics.counter("collapser_calls_total", {
    help:
      "Calls by method and outcome, each once: hit (a stored result), joined (a call under way), " +
      "led (a call that others may join), passed (a call of its own), stale, rejected.",
    labels: ["method", "outcome"],
    collect(put) {
      forMethods(counters.methods, (method, { outcomes }) => {
        for (const outcome of OUTCOMES) {
          if (outcomes[outcome] > 0) put(outcomes[outcome], { method, outcome });
        }
      });
    },
  });
  metrics.counter("collapser_good_calls_total", {
    help: "Calls answered with OK, by outcome. Saved are those that are hit, joined or stale.",
    labels: ["outcome"],
    collect(put) {
      for (const outcome of OUTCOMES) put(counters.good[outcome], { outcome });
    },
  });
  metrics.counter("collapser_responses_total", {
    help: "Answers given to callers by method and gRPC status.",
    labels: ["method", "grpc_code"],
    collect(put) {
      forMethods(counters.methods, (method, { responses }) => {
        forCodes(responses, (grpc_code, count) => put(count, { method, grpc_code }));
      });
    },
  });
  metrics.histogram("collapser_call_duration_seconds", {
    help: "Time from a call's arrival to the end of its answer, by outcome, in seconds.",
    labels: ["outcome"],
    collect(put) {
      for (const outcome of OUTCOMES) put(readingOf(counters.durations[outcome]), { outcome });
    },
  });
}

/** The metrics of stale answers, and of what they set going. */
function addStaleMetrics(metrics: MetricSet, { counters }: MetricsSource): void {
  metrics.counter("collapser_stale_total", {
    help: "Calls answered with a stale result, by reason: revalidate (one call fetches it anew), " +
      "error (it could not be).",
    labels: ["method", "reason"],
    collect(put) {
      forMethods(counters.methods, (method, { outcomes: { stale }, staleForErrors: error }) => {
        for (const [reason, count] of Object.entries({ revalidate: stale - error, error })) {
          if (count > 0) put(count, { method, reason });
        }
      });
    },
  });
  metrics.counter("collapser_refresh_total", {
    help:
      "Stale results fetched anew, by result: ok, error (tried again later), skipped (no place " +
      "for it), removed (the answer is not to be kept), raced (a write came between).",
    labels: ["method", "result"],
    collect(put) {
      forMethods(counters.methods, (method, { refreshes }) => {
        for (const result of REFRESH_RESULTS) {
          if (refreshes[result] > 0) put(refreshes[result], { method, result });
        }
      });
    },
  });
}

/** The metrics of what is shared, what is not, and why not. */
function addSavingMetrics(metrics: MetricSet, source: MetricsSource): void {
  const { counters } = source;
  metrics.gauge("collapser_waiters", {
    help: "Callers waiting on flights now.",
    collect: (put) => put(source.waiters()),
  });
  metrics.gauge("collapser_cached_bytes", {
    help: "Bytes that stored results take, keys included.",
    collect: (put) => put(source.cachedBytes()),
  });
  metrics.counter("collapser_passed_total", {
    help: "Calls that passed through on their own, by reason: method (not eligible), streaming " +
      "(not exactly one request message), size, followers (too many on one flight), mode, no_store.",
    labels: ["reason"],
    collect(put) {
      for (const reason of PASS_REASONS) put(counters.passed[reason], { reason });
    },
  });
  metrics.counter("collapser_invalidated_total", {
    help: "Answered calls that may have written, which outdated the stored results of a service.",
    labels: ["service"],
    collect(put) {
      for (const [service, count] of counters.invalidated) {
        put(count, { service: nameLabel(service) });
      }
    },
  });
}

function addConnectionMetrics(metrics: MetricSet, source: MetricsSource): void {
  const { counters } = source;
  metrics.gauge("collapser_connections", {
    help: "Connections of callers that are open.",
    collect: (put) => put(counters.connections),
  });
  metrics.gauge("collapser_buffered_bytes", {
    help: "Bytes held for peers that do not take them yet, or to be sent again.",
    collect: (put) => put(source.bufferedBytes()),
  });
  metrics.counter("collapser_overfull_total", {
    help: "Calls ended or refused since COLLAPSER_MAX_BUFFERED_BYTES were held: a reply that was " +
      "not read, or a request without room; and connections (connection) that took nothing.",
    labels: ["held"],
    collect(put) {
      const { reply, request } = counters.overfull;
      put(reply, { held: "reply" });
      put(request, { held: "request" });
      put(counters.unreadConnections, { held: "connection" });
    },
  });
  metrics.counter("collapser_stalled_total", {
    help: "Calls ended since their callers read nothing of the reply for GRPC_STALL_TIMEOUT.",
    collect: (put) => put(counters.stalled),
  });
  metrics.counter("collapser_connection_errors_total", {
    help: "Connections that ended for a fault, by side (caller, backend) and HTTP/2 error code.",
    labels: ["side", "code"],
    collect(put) {
      for (const side of SIDES) {
        for (const [code, count] of counters.connectionErrors[side]) {
          put(count, { side, code: errorCodeLabel(code) });
        }
      }
    },
  });
  metrics.counter("collapser_goaway_total", {
    help: "Peers that said that they are going away, by side and HTTP/2 error code.",
    labels: ["side", "code"],
    collect(put) {
      for (const side of SIDES) {
        const { noError } = ERROR_CODE; // most farewells are for politeness' sake
        const goAways = new Map([[noError as number, 0], ...counters.goAways[side]]);
        for (const [code, count] of goAways) put(count, { side, code: errorCodeLabel(code) });
      }
    },
  });
  metrics.counter("collapser_faults_total", {
    help: "Faults of the sidecar's own, each of which has cost a call or a connection at most.",
    collect: (put) => put(counters.faults),
  });
  metrics.gauge("collapser_build_info", {
    help: "Always 1; the labels are the version of collapser, its commit, and the version of Deno.",
    labels: ["version", "commit", "deno"],
    collect: (put) => {
      const { version, commit } = source;
      put(1, { version, commit, deno: Deno.version.deno });
    },
  });
}

function forMethods(
  methods: ReadonlyMap<string, MethodCounters>,
  visit: (label: string, counters: MethodCounters) => void,
): void {
  for (const counters of methods.values()) visit(nameLabel(counters.label), counters);
}
