/**
 * Request metadata that says nothing about what is asked, only about this one asking: transport,
 * deadlines, retries, caching wishes and traces. Two calls that differ in these alone ask the same.
 * `baggage` and `x-forwarded-for` are not here, since backends do read them.
 */
export const IGNORED_KEY_NAMES: ReadonlySet<string> = new Set([
  // Transport and call definition (PROTOCOL-HTTP2 "Requests")
  "te",
  "user-agent",
  "grpc-timeout",
  // Wishes addressed to the cache itself
  "cache-control",
  "x-collapser-debug",
  // Trace context: W3C, OpenCensus, request ids
  "traceparent",
  "tracestate",
  "grpc-trace-bin",
  "grpc-tags-bin",
  "x-request-id",
  "x-correlation-id",
  // Trace context: B3, Google Cloud, AWS, Envoy, Jaeger, Sentry, New Relic, Elastic, SkyWalking
  "b3",
  "x-cloud-trace-context",
  "x-amzn-trace-id",
  "x-envoy-attempt-count",
  "x-envoy-expected-rq-timeout-ms",
  "uber-trace-id",
  "sentry-trace",
  "newrelic",
  "elastic-apm-traceparent",
  "sw8",
  // The members of B3's and Datadog's families; any other name under them might be one that a backend reads
  "x-b3-traceid",
  "x-b3-spanid",
  "x-b3-parentspanid",
  "x-b3-sampled",
  "x-b3-flags",
  "x-datadog-trace-id",
  "x-datadog-parent-id",
  "x-datadog-sampling-priority",
  "x-datadog-origin",
  "x-datadog-tags",
  // Retries (gRPC proposal A6): the second attempt asks what the first one asked
  "grpc-previous-rpc-attempts",
]);

/** Whether a request header is left out of the key by default. `name` is in lower case. */
export function isIgnoredInKey(name: string): boolean {
  return IGNORED_KEY_NAMES.has(name);
}
