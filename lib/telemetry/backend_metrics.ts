import { type BackendCounters, REFUSAL_REASONS } from "../observe/mod.ts";
import { forCodes } from "./labels.ts";
import { readingOf } from "./original_metrics.ts";
import type { MetricSet } from "./registry.ts";

/** What each backend answered, and how much it has on its hands. */
export function addBackendMetrics(metrics: MetricSet, backends: readonly BackendCounters[]): void {
  addAnswerMetrics(metrics, backends);
  addLoadMetrics(metrics, backends);
}

function addAnswerMetrics(metrics: MetricSet, backends: readonly BackendCounters[]): void {
  metrics.counter("collapser_upstream_calls_total", {
    help: "Calls that a backend was sent and that have ended, by gRPC status.",
    labels: ["backend", "grpc_code"],
    collect(put) {
      for (const { name: backend, answers } of backends) {
        forCodes(answers, (grpc_code, count) => put(count, { backend, grpc_code }));
      }
    },
  });
  metrics.histogram("collapser_upstream_latency_seconds", {
    help: "Time that a backend took to answer, in seconds.",
    labels: ["backend"],
    collect(put) {
      for (const { name: backend, latency } of backends) put(readingOf(latency), { backend });
    },
  });
}

function addLoadMetrics(metrics: MetricSet, backends: readonly BackendCounters[]): void {
  metrics.gauge("collapser_backend_inflight", {
    help: "Calls at a backend now, those that count against its limit.",
    labels: ["backend"],
    collect(put) {
      for (const { name: backend, inflight } of backends) put(inflight, { backend });
    },
  });
  metrics.gauge("collapser_backend_pending", {
    help: "Calls waiting for a place at a backend now.",
    labels: ["backend"],
    collect(put) {
      for (const { name: backend, pending } of backends) put(pending, { backend });
    },
  });
  metrics.counter("collapser_backend_rejected_total", {
    help:
      "Calls that a backend was not sent: pending_full (too many waited), method_full (the policy's maxConcurrent), unreachable, ejected.",
    labels: ["backend", "reason"],
    collect(put) {
      for (const { name: backend, refused } of backends) {
        for (const reason of REFUSAL_REASONS) put(refused[reason], { backend, reason });
      }
    },
  });
  metrics.gauge("collapser_backend_limit", {
    help:
      "Calls that may be at a backend at once: BACKEND_MAX_CONCURRENT, or less where it adapts.",
    labels: ["backend"],
    collect(put) {
      for (const { name: backend, limit } of backends) put(limit, { backend });
    },
  });
  metrics.gauge("collapser_backend_ejected", {
    help: "1 while a backend is left out for failing where others do not.",
    labels: ["backend"],
    collect(put) {
      for (const { name: backend, ejected } of backends) put(ejected ? 1 : 0, { backend });
    },
  });
  metrics.counter("collapser_backend_ejections_total", {
    help: "Times that a backend began to be left out.",
    labels: ["backend"],
    collect(put) {
      for (const { name: backend, ejections } of backends) put(ejections, { backend });
    },
  });
  metrics.gauge("collapser_backend_up", {
    help: "1 when a backend can be reached, 0 when not.",
    labels: ["backend"],
    collect(put) {
      for (const { name: backend, up } of backends) put(up ? 1 : 0, { backend });
    },
  });
}
