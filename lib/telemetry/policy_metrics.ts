import type { MetricSet } from "./registry.ts";
import type { MetricsSource, PolicyFigures } from "./source.ts";

/** What became of the policy file; no series where there is none. */
export function addPolicyMetrics(metrics: MetricSet, { policy }: MetricsSource): void {
  if (policy === undefined) return; // a gauge without labels that nobody sets is 0, which says "refused"
  const gauge = (name: string, help: string, value: (figures: PolicyFigures) => number) =>
    metrics.gauge(name, {
      help,
      collect: (put) => put(value(policy())),
    });
  gauge(
    "collapser_config_last_reload_successful",
    "Whether the policy file, as it is now, is in force (1), or was refused and the one before it goes on (0).",
    ({ isInForce }) => isInForce ? 1 : 0,
  );
  gauge(
    "collapser_config_last_reload_success_timestamp_seconds",
    "When the policy file was last found good, in seconds since 1970.",
    ({ appliedAtMs }) => appliedAtMs / 1_000,
  );
  metrics.counter("collapser_config_reloads_total", {
    help: "Changes of the policy file that were found, by what became of them: ok or error.",
    labels: ["result"],
    collect(put) {
      const figures = policy();
      put(figures.taken, { result: "ok" });
      put(figures.refused, { result: "error" });
    },
  });
  metrics.gauge("collapser_config_info", {
    help: "1, with the beginning of the SHA-256 of the policy file in force.",
    labels: ["hash"],
    collect: (put) => put(1, { hash: policy().hash }),
  });
}
