import { COMPARISONS, SHADOW_OUTCOMES, SKIP_REASONS, VERIFY_RESULTS } from "../observe/mod.ts";
import { nameLabel } from "./labels.ts";
import type { MetricSet } from "./registry.ts";
import type { MetricsSource } from "./source.ts";

/** The metrics of shadow and verify: what sharing would come to, and whether it is right. */
export function addTrialMetrics(metrics: MetricSet, source: MetricsSource): void {
  addShadowMetrics(metrics, source);
  addVerifyMetrics(metrics, source);
}

function addShadowMetrics(metrics: MetricSet, { counters }: MetricsSource): void {
  metrics.counter("collapser_shadow_calls_total", {
    help: "Calls in shadow by what they would have been: hit, joined, led, passed, stale.",
    labels: ["method", "outcome"],
    collect(put) {
      for (const { label, trial } of counters.methods.values()) {
        for (const outcome of SHADOW_OUTCOMES) {
          const count = trial?.shadow[outcome] ?? 0;
          if (count > 0) put(count, { method: nameLabel(label), outcome });
        }
      }
    },
  });
  const saved = [
    ["calls", "Backend calls", "savedCalls", 1],
    ["seconds", "Seconds of backend calls", "savedMs", 1_000],
    ["bytes", "Bytes of backends' answers", "savedBytes", 1],
  ] as const;
  for (const [unit, what, field, scale] of saved) {
    metrics.counter(`collapser_shadow_saved_${unit}_total`, {
      help: `${what} that sharing would have saved, of methods in shadow.`,
      labels: ["method"],
      collect(put) {
        for (const { label, trial } of counters.methods.values()) {
          if (trial !== undefined) put(trial[field] / scale, { method: nameLabel(label) });
        }
      },
    });
  }
  metrics.counter("collapser_shadow_compared_total", {
    help: "Answers of would-be followers compared with their would-be leaders': match, reordered " +
      "(the same in another order), raced (a write came between), unstable (never the same), " +
      "mismatch (it depends on who asks).",
    labels: ["method", "result"],
    collect(put) {
      for (const { label, trial } of counters.methods.values()) {
        for (const result of COMPARISONS) {
          const count = trial?.compared[result] ?? 0;
          if (count > 0) put(count, { method: nameLabel(label), result });
        }
      }
    },
  });
}

function addVerifyMetrics(metrics: MetricSet, { counters, methodsOff }: MetricsSource): void {
  metrics.counter("collapser_verify_total", {
    help: "Followers chosen to have their question asked once more, by what that came to: as of " +
      "collapser_shadow_compared_total, or error (no answer), skipped (not asked).",
    labels: ["method", "result"],
    collect(put) {
      for (const { label, trial } of counters.methods.values()) {
        for (const result of VERIFY_RESULTS) {
          const count = trial?.verified[result] ?? 0;
          if (count > 0) put(count, { method: nameLabel(label), result });
        }
      }
    },
  });
  metrics.counter("collapser_verify_skipped_total", {
    help: "Questions not asked once more, by reason: budget (a hundredth of a backend's calls is " +
      "spent), busy (no place), size, deadline (its time was up), draining.",
    labels: ["reason"],
    collect(put) {
      for (const reason of SKIP_REASONS) put(counters.verifySkipped[reason], { reason });
    },
  });
  metrics.gauge("collapser_method_off", {
    help: "1 for a method taken out, since its answers were found to depend on who asks; 0 for " +
      "others that are verified. The first 200, as of all methods.",
    labels: ["method", "reason"],
    collect(put) {
      for (const [path, isOff] of methodsOff()) {
        const hasLabel = isOff || counters.methods.has(path);
        if (hasLabel) put(Number(isOff), { method: nameLabel(path), reason: "verify" });
      }
    },
  });
}
