import { assertEquals } from "@std/assert";
import { IGNORED_KEY_NAMES, isIgnoredInKey } from "../../lib/grpc/metadata.ts";

/** As the documentation of the key lists them. */
const DOCUMENTED =
  `te user-agent grpc-timeout cache-control x-collapser-debug traceparent tracestate grpc-trace-bin
  grpc-tags-bin x-request-id x-correlation-id b3 x-cloud-trace-context x-amzn-trace-id
  x-envoy-attempt-count x-envoy-expected-rq-timeout-ms uber-trace-id sentry-trace newrelic
  elastic-apm-traceparent sw8 grpc-previous-rpc-attempts
  x-b3-traceid x-b3-spanid x-b3-parentspanid x-b3-sampled x-b3-flags
  x-datadog-trace-id x-datadog-parent-id x-datadog-sampling-priority x-datadog-origin
  x-datadog-tags`.split(/\s+/);

Deno.test("IGNORED_KEY_NAMES are the documented ones, no more and no fewer", () => {
  assertEquals([...IGNORED_KEY_NAMES].sort(), DOCUMENTED.sort());
});

Deno.test("isIgnoredInKey is true for every documented name", () => {
  for (const name of DOCUMENTED) {
    assertEquals(isIgnoredInKey(name), true, name);
  }
});

Deno.test("isIgnoredInKey is false for what backends read and for look-alikes", () => {
  for (
    const name of [
      "",
      "authorization",
      "baggage",
      "x-forwarded-for",
      "grpc-accept-encoding",
      "grpc-encoding",
      "content-type",
      ":path",
      ":authority",
      "x-b3",
      "x-b3-tenant",
      "x-datadog-user",
      "ax-b3-traceid",
      "x-datadog",
      "b3-",
      "tea",
      "x-request-id2",
      "x-api-key",
    ]
  ) assertEquals(isIgnoredInKey(name), false, name);
});
