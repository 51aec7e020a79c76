import { LoopLag } from "./loop_lag.ts";
import { addOriginalMetrics } from "./original_metrics.ts";
import { addPolicyMetrics } from "./policy_metrics.ts";
import { addProcessMetrics } from "./process_metrics.ts";
import { addProxyMetrics } from "./proxy_metrics.ts";
import { MetricSet } from "./registry.ts";
import type { MetricsSource } from "./source.ts";

/** All metrics of one sidecar. */
export interface Metrics {
  /** Everything in Prometheus' text format, as of now. */
  text(): Promise<string>;
  /** Content type of the text. */
  readonly contentType: string;
  /** Lets go of the timer behind the event loop's lag. */
  stop(): void;
}

/** Every metric that `source` can give, and the process's, in a registry of their own. */
export function createMetrics(source: MetricsSource): Metrics {
  const metrics = new MetricSet();
  const lag = new LoopLag();
  addOriginalMetrics(metrics, source);
  addProxyMetrics(metrics, source);
  addPolicyMetrics(metrics, source);
  addProcessMetrics(metrics, lag);
  return {
    text: () => metrics.text(),
    contentType: metrics.contentType,
    stop: () => lag.stop(),
  };
}
