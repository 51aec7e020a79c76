import { assert, assertEquals, assertGreater, assertMatch } from "@std/assert";
import {
  BackendCounters,
  LATENCY_BUCKETS,
  MAX_LABELS,
  OTHER_LABEL,
  ProxyCounters,
} from "../../lib/observe/mod.ts";
import { createMetrics, type MetricsSource } from "../../lib/telemetry/mod.ts";
import { MAX_LABEL_CHARS } from "../../lib/telemetry/labels.ts";
import { runChild } from "./child.ts";
import { expositionTypes, parseExposition, samplesOf } from "../support/exposition.ts";

const BUCKET_LABELS = "0.0001 0.0002 0.0004 0.0008 0.0016 0.0032 0.0064 0.0128 0.0256 0.0512 " +
  "0.1024 0.2048 0.4096 0.8192 1.6384 3.2768 6.5536 13.1072 +Inf";

/** One sidecar's numbers, each different from the others. */
function filled(): ProxyCounters {
  const counters = new ProxyCounters();
  const get = counters.method("/shop.v1.Items/GetItem");
  Object.assign(get.outcomes, { hit: 1, joined: 20, led: 300 });
  for (const status of [0, 0, 0, 4, 16, 17, 99_999]) get.responses.add(status);
  const put = counters.method("/shop.v1.Items/PutItem");
  Object.assign(put.outcomes, { passed: 4_000, rejected: 50_000 });
  put.responses.add(1);
  Object.assign(counters.passed, { method: 3, streaming: 2, size: 1 });
  counters.durations.hit.observe(0.25);
  counters.durations.led.observe(40_000);
  counters.invalidated.set("shop.v1.Items", 6);
  counters.countConnectionError("caller", 1);
  counters.countConnectionError("caller", 1);
  counters.countConnectionError("backend", 11);
  counters.connections = 12;
  counters.backends.push(backend("a", 5), backend("b", 8));
  return counters;
}

function backend(name: string, calls: number): BackendCounters {
  const counters = new BackendCounters(name);
  Object.assign(counters, { calls, inflight: 2, pending: 3, up: name === "a" });
  counters.answers.add(0);
  counters.answers.add(14);
  counters.refused.pending_full = 9;
  for (const ms of [0.05, 0.1, 0.15, calls * 1_000, 20_000]) counters.latency.observe(ms);
  return counters;
}

function sourceOf(counters: ProxyCounters): MetricsSource {
  return {
    counters,
    inflight: () => 31,
    waiters: () => 32,
    cachedResults: () => 33,
    cachedBytes: () => 34,
    bufferedBytes: () => 35,
    methodsOff: () => [],
    policy: () => ({ hash: "ab", appliedAtMs: 1, isInForce: true, taken: 0, refused: 0 }),
    version: "1.2.3",
    commit: "abc",
  };
}

async function scrape(counters: ProxyCounters): Promise<string> {
  const metrics = createMetrics(sourceOf(counters));
  try {
    return await metrics.text();
  } finally {
    metrics.stop();
  }
}

Deno.test("createMetrics gives every metric its type and a help text", async () => {
  const text = await scrape(filled());
  assertEquals(Object.fromEntries(expositionTypes(text)), {
    collapser_refresh_total: "counter",
    collapser_good_calls_total: "counter",
    collapser_method_off: "gauge",
    collapser_shadow_calls_total: "counter",
    collapser_shadow_compared_total: "counter",
    collapser_shadow_saved_bytes_total: "counter",
    collapser_shadow_saved_calls_total: "counter",
    collapser_shadow_saved_seconds_total: "counter",
    collapser_verify_skipped_total: "counter",
    collapser_verify_total: "counter",
    collapser_requests_total: "counter",
    collapser_collapsed_requests_total: "counter",
    collapser_backend_calls_total: "counter",
    collapser_cache_hits_total: "counter",
    collapser_inflight_requests: "gauge",
    collapser_cached_results: "gauge",
    collapser_backend_latency_seconds: "histogram",
    collapser_calls_total: "counter",
    collapser_responses_total: "counter",
    collapser_call_duration_seconds: "histogram",
    collapser_waiters: "gauge",
    collapser_cached_bytes: "gauge",
    collapser_passed_total: "counter",
    collapser_invalidated_total: "counter",
    collapser_upstream_calls_total: "counter",
    collapser_upstream_latency_seconds: "histogram",
    collapser_backend_ejected: "gauge",
    collapser_backend_ejections_total: "counter",
    collapser_backend_inflight: "gauge",
    collapser_backend_limit: "gauge",
    collapser_backend_pending: "gauge",
    collapser_backend_rejected_total: "counter",
    collapser_backend_up: "gauge",
    collapser_connections: "gauge",
    collapser_buffered_bytes: "gauge",
    collapser_overfull_total: "counter",
    collapser_stale_total: "counter",
    collapser_stalled_total: "counter",
    collapser_config_info: "gauge",
    collapser_config_last_reload_success_timestamp_seconds: "gauge",
    collapser_config_last_reload_successful: "gauge",
    collapser_config_reloads_total: "counter",
    collapser_connection_errors_total: "counter",
    collapser_goaway_total: "counter",
    collapser_faults_total: "counter",
    collapser_build_info: "gauge",
    process_cpu_user_seconds_total: "counter",
    process_cpu_system_seconds_total: "counter",
    process_cpu_seconds_total: "counter",
    process_resident_memory_bytes: "gauge",
    process_heap_bytes: "gauge",
    process_start_time_seconds: "gauge",
    ...(Deno.build.os === "linux" ? { process_open_fds: "gauge" } : {}),
    collapser_event_loop_lag_seconds: "gauge",
  });
  for (const name of expositionTypes(text).keys()) {
    assertMatch(text, new RegExp(`^# HELP ${name} [A-Z1].*\\.$`, "m"));
  }
});

Deno.test("createMetrics serves Prometheus' text format", () => {
  const metrics = createMetrics(sourceOf(new ProxyCounters()));
  metrics.stop();
  assertEquals(metrics.contentType, "text/plain; version=0.0.4; charset=utf-8");
});

Deno.test("createMetrics gives the original's seven without labels", async () => {
  const text = await scrape(filled());
  const values: Record<string, number> = {
    collapser_requests_total: 54_321,
    collapser_collapsed_requests_total: 20,
    collapser_backend_calls_total: 13,
    collapser_cache_hits_total: 1,
    collapser_inflight_requests: 31,
    collapser_cached_results: 33,
  };
  for (const [name, value] of Object.entries(values)) {
    assertEquals(samplesOf(text, name), [`${name} ${value}`]);
  }
  // Of each backend: two up to 0.1 ms, one up to 0.2 ms, its own seconds (5 and 8), one beyond the buckets.
  const counts = [4, ...new Array(15).fill(6), 7, 8, 10];
  assertEquals(samplesOf(text, "collapser_backend_latency_seconds"), [
    ...BUCKET_LABELS.split(" ").map((le, i) =>
      `collapser_backend_latency_seconds_bucket{le="${le}"} ${counts[i]}`
    ),
    "collapser_backend_latency_seconds_sum 53.0006",
    "collapser_backend_latency_seconds_count 10",
  ]);
});

Deno.test("createMetrics gives the seven from the first scrape, at zero", async () => {
  const series = parseExposition(await scrape(new ProxyCounters()));
  for (const name of ["requests", "collapsed_requests", "backend_calls", "cache_hits"]) {
    assertEquals(series.get(`collapser_${name}_total`), 0);
  }
  assertEquals(series.get(`collapser_backend_latency_seconds_bucket{le="+Inf"}`), 0);
});

Deno.test("createMetrics labels calls by method, outcome, status and reason", async () => {
  const text = await scrape(filled());
  const get = 'method="/shop.v1.Items/GetItem"';
  const put = 'method="/shop.v1.Items/PutItem"';
  assertEquals(samplesOf(text, "collapser_calls_total"), [
    `collapser_calls_total{${get},outcome="hit"} 1`,
    `collapser_calls_total{${get},outcome="joined"} 20`,
    `collapser_calls_total{${get},outcome="led"} 300`,
    `collapser_calls_total{${put},outcome="passed"} 4000`,
    `collapser_calls_total{${put},outcome="rejected"} 50000`,
  ]);
  assertEquals(samplesOf(text, "collapser_responses_total"), [
    `collapser_responses_total{${get},grpc_code="OK"} 3`,
    `collapser_responses_total{${get},grpc_code="DeadlineExceeded"} 1`,
    `collapser_responses_total{${get},grpc_code="Unauthenticated"} 1`,
    `collapser_responses_total{${get},grpc_code="Other"} 2`,
    `collapser_responses_total{${put},grpc_code="Canceled"} 1`,
  ]);
  assertEquals(samplesOf(text, "collapser_passed_total"), [
    'collapser_passed_total{reason="method"} 3',
    'collapser_passed_total{reason="streaming"} 2',
    'collapser_passed_total{reason="size"} 1',
    'collapser_passed_total{reason="followers"} 0',
    'collapser_passed_total{reason="mode"} 0',
    'collapser_passed_total{reason="no_store"} 0',
  ]);
  assertEquals(samplesOf(text, "collapser_invalidated_total"), [
    'collapser_invalidated_total{service="shop.v1.Items"} 6',
  ]);
});

Deno.test("createMetrics gives durations as cumulative buckets in seconds", async () => {
  const text = await scrape(filled());
  const samples = samplesOf(text, "collapser_call_duration_seconds");
  assertEquals(samples.length, 6 * (LATENCY_BUCKETS.length + 3));
  assertEquals(samples.slice(0, 5), [
    'collapser_call_duration_seconds_bucket{le="0.0001",outcome="hit"} 0',
    'collapser_call_duration_seconds_bucket{le="0.0002",outcome="hit"} 0',
    'collapser_call_duration_seconds_bucket{le="0.0004",outcome="hit"} 1',
    'collapser_call_duration_seconds_bucket{le="0.0008",outcome="hit"} 1',
    'collapser_call_duration_seconds_bucket{le="0.0016",outcome="hit"} 1',
  ]);
  const series = parseExposition(text);
  const led = (suffix: string, le = "") =>
    series.get(`collapser_call_duration_seconds_${suffix}{${le}outcome="led"}`);
  assertEquals(led("bucket", 'le="13.1072",'), 0);
  assertEquals(led("bucket", 'le="+Inf",'), 1);
  assertEquals([led("sum"), led("count")], [40, 1]);
});

Deno.test("createMetrics labels what it knows of each backend", async () => {
  const text = await scrape(filled());
  assertEquals(samplesOf(text, "collapser_upstream_calls_total"), [
    'collapser_upstream_calls_total{backend="a",grpc_code="OK"} 1',
    'collapser_upstream_calls_total{backend="a",grpc_code="Unavailable"} 1',
    'collapser_upstream_calls_total{backend="b",grpc_code="OK"} 1',
    'collapser_upstream_calls_total{backend="b",grpc_code="Unavailable"} 1',
  ]);
  assertEquals(samplesOf(text, "collapser_backend_rejected_total"), [
    'collapser_backend_rejected_total{backend="a",reason="pending_full"} 9',
    'collapser_backend_rejected_total{backend="a",reason="method_full"} 0',
    'collapser_backend_rejected_total{backend="a",reason="unreachable"} 0',
    'collapser_backend_rejected_total{backend="a",reason="ejected"} 0',
    'collapser_backend_rejected_total{backend="a",reason="queue_timeout"} 0',
    'collapser_backend_rejected_total{backend="b",reason="pending_full"} 9',
    'collapser_backend_rejected_total{backend="b",reason="method_full"} 0',
    'collapser_backend_rejected_total{backend="b",reason="unreachable"} 0',
    'collapser_backend_rejected_total{backend="b",reason="ejected"} 0',
    'collapser_backend_rejected_total{backend="b",reason="queue_timeout"} 0',
  ]);
  const series = parseExposition(text);
  assertEquals(series.get('collapser_backend_inflight{backend="a"}'), 2);
  assertEquals(series.get('collapser_backend_pending{backend="b"}'), 3);
  assertEquals(series.get('collapser_backend_up{backend="a"}'), 1);
  assertEquals(series.get('collapser_backend_up{backend="b"}'), 0);
  assertEquals(series.get('collapser_upstream_latency_seconds_count{backend="a"}'), 5);
  assertEquals(series.get('collapser_upstream_latency_seconds_bucket{le="6.5536",backend="a"}'), 4);
  assertEquals(series.get('collapser_upstream_latency_seconds_bucket{le="6.5536",backend="b"}'), 3);
});

Deno.test("createMetrics gives connections, their faults, what is kept and the build", async () => {
  const text = await scrape(filled());
  const series = parseExposition(text);
  assertEquals(series.get("collapser_connections"), 12);
  assertEquals(series.get("collapser_waiters"), 32);
  assertEquals(series.get("collapser_cached_bytes"), 34);
  assertEquals(series.get("collapser_buffered_bytes"), 35);
  assertEquals(samplesOf(text, "collapser_connection_errors_total"), [
    'collapser_connection_errors_total{side="caller",code="PROTOCOL_ERROR"} 2',
    'collapser_connection_errors_total{side="backend",code="ENHANCE_YOUR_CALM"} 1',
  ]);
  assertEquals(
    series.get(`collapser_build_info{version="1.2.3",commit="abc",deno="${Deno.version.deno}"}`),
    1,
  );
});

Deno.test("createMetrics counts error codes that the RFC does not define as one", async () => {
  const counters = new ProxyCounters();
  for (const code of [99, 100, 0xffff_ffff, -1, 0]) counters.countConnectionError("caller", code);
  assertEquals(samplesOf(await scrape(counters), "collapser_connection_errors_total"), [
    'collapser_connection_errors_total{side="caller",code="other"} 4',
    'collapser_connection_errors_total{side="caller",code="NO_ERROR"} 1',
  ]);
});

Deno.test("createMetrics gives 200 methods a label and the rest one together", async () => {
  const counters = new ProxyCounters();
  for (let i = 0; i < MAX_LABELS + 100; i++) counters.method(`/a.B/M${i}`).outcomes.led++;
  const text = await scrape(counters);
  const series = parseExposition(text);
  assertEquals(samplesOf(text, "collapser_calls_total").length, MAX_LABELS + 1);
  assertEquals(series.get('collapser_calls_total{method="/a.B/M199",outcome="led"}'), 1);
  assertEquals(series.get('collapser_calls_total{method="/a.B/M200",outcome="led"}'), undefined);
  assertEquals(series.get(`collapser_calls_total{method="${OTHER_LABEL}",outcome="led"}`), 100);
  assertEquals(series.get("collapser_requests_total"), 300);
});

Deno.test("createMetrics adds names too long for a label to the others, each counter of them", async () => {
  const counters = new ProxyCounters();
  const longest = `/${"m".repeat(MAX_LABEL_CHARS - 1)}`;
  for (const path of [longest, `${longest}a`, `${longest}b`]) {
    const method = counters.method(path);
    method.outcomes.passed++;
    method.responses.add(0);
    counters.countInvalidation(path);
  }
  const series = parseExposition(await scrape(counters));
  for (
    const [other, own] of [
      [
        'calls_total{method="other",outcome="passed"}',
        `calls_total{method="${longest}",outcome="passed"}`,
      ],
      [
        'responses_total{method="other",grpc_code="OK"}',
        `responses_total{method="${longest}",grpc_code="OK"}`,
      ],
      ['invalidated_total{service="other"}', `invalidated_total{service="${longest}"}`],
    ]
  ) {
    assertEquals([series.get(`collapser_${other}`), series.get(`collapser_${own}`)], [2, 1]);
  }
});

Deno.test("createMetrics escapes what callers put into a method's name", async () => {
  const counters = new ProxyCounters();
  for (
    const path of ['/a"} 1\nforged_total 2', "/back\\slash", "/b\\", "/\r\x1b[31m", '/\u00e9,x="1"']
  ) {
    counters.method(path).outcomes.led++;
  }
  const text = await scrape(counters);
  const series = parseExposition(text);
  assertEquals(series.get("forged_total"), undefined);
  assertEquals(samplesOf(text, "collapser_calls_total"), [
    String.raw`collapser_calls_total{method="/a\"} 1\nforged_total 2",outcome="led"} 1`,
    String.raw`collapser_calls_total{method="/back\\slash",outcome="led"} 1`,
    String.raw`collapser_calls_total{method="/b\\",outcome="led"} 1`,
    'collapser_calls_total{method="/\r\x1b[31m",outcome="led"} 1',
    String.raw`collapser_calls_total{method="/é,x=\"1\"",outcome="led"} 1`,
  ]);
});

Deno.test("createMetrics gives growing counters on each of three scrapes, also when two overlap", async () => {
  const counters = filled();
  const metrics = createMetrics(sourceOf(counters));
  try {
    const before = parseExposition(await metrics.text());
    counters.method("/shop.v1.Items/GetItem").outcomes.hit += 5;
    counters.backends[0]!.latency.observe(1);
    const [second, third] = await Promise.all([metrics.text(), metrics.text()]);
    for (const after of [parseExposition(second), parseExposition(third)]) {
      assertEquals([...after.keys()], [...before.keys()]);
      assertEquals(after.get("collapser_requests_total"), 54_326);
      assertEquals(after.get("collapser_backend_latency_seconds_count"), 11);
      for (const [key, value] of before) {
        if (/_(total|bucket|count|sum)\b/.test(key)) assert(after.get(key)! >= value, key);
      }
    }
  } finally {
    metrics.stop();
  }
});

Deno.test("createMetrics measures the process", async () => {
  const series = parseExposition(await scrape(new ProxyCounters()));
  const value = (name: string) => series.get(name) ?? NaN;
  const MiB = 2 ** 20;
  assertGreater(value("process_resident_memory_bytes"), 10 * MiB);
  assertGreater(value("process_heap_bytes"), MiB);
  const startedAgo = Date.now() / 1_000 - value("process_start_time_seconds");
  assert(startedAgo > 0 && startedAgo < 3_600, `${startedAgo}`);
  assertGreater(value("process_cpu_user_seconds_total"), 0);
  const parts = value("process_cpu_user_seconds_total") + value("process_cpu_system_seconds_total");
  assert(Math.abs(value("process_cpu_seconds_total") - parts) < 0.5);
  if (Deno.build.os === "linux") assertGreater(value("process_open_fds"), 3);
});

Deno.test("createMetrics leaves out what the sidecar's permissions do not show", async () => {
  const door = (room: string) => JSON.stringify(import.meta.resolve(`../../lib/${room}/mod.ts`));
  await using child = await runChild(`
    import { createMetrics } from ${door("telemetry")};
    import { ProxyCounters } from ${door("observe")};
    const none = () => 0;
    const metrics = createMetrics({ counters: new ProxyCounters(), version: "1", commit: "abc",
      inflight: none, waiters: none, cachedResults: none, cachedBytes: none, bufferedBytes: none,
      methodsOff: () => [], policy: undefined });
    console.log(await metrics.text()); // and then ends by itself, the timer notwithstanding
  `);
  const { code, stdout } = await child.process.output();
  assertEquals(code, 0);
  const series = parseExposition(new TextDecoder().decode(stdout));
  assertEquals(series.has("process_open_fds"), false);
  assertGreater(series.get("process_resident_memory_bytes") ?? 0, 2 ** 20);
});
