import {
  assert,
  assertEquals,
  assertGreater,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { decodeGreetingReply, HELLO_PATHS } from "../../lib/hello/mod.ts";
import { startSidecar } from "../../lib/sidecar/mod.ts";
import { besideHello, STORED_LONG } from "../support/beside.ts";
import { ask, clientOf } from "../support/client.ts";
import { GatedBackend } from "../support/gated_backend.ts";
import { LocalSidecar, logInto, settingsOf } from "../support/local_sidecar.ts";
import { freePort } from "../support/process.ts";
import { until } from "../support/waiting.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };

Deno.test("startSidecar answers calls, and the backend hears of one of many", async () => {
  await using pair = await besideHello(STORED_LONG);
  const { hello, local } = pair;
  await using client = await clientOf(local.port);
  const { getGreeting } = HELLO_PATHS;
  const equal = Array.from({ length: 20 }, () => ask(client, getGreeting, { name: "Ada" }));
  for (const reply of await Promise.all(equal)) {
    assertEquals([reply.status, decodeGreetingReply(reply.body).text], [0, "Hello, Ada"]);
  }
  assertEquals(hello.total, 1);
});

Deno.test("startSidecar takes free ports for 0, and serves both", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend);
  const { grpcPort, metricsPort } = local.sidecar;
  assert(grpcPort > 0 && metricsPort > 0 && grpcPort !== metricsPort);
  assertEquals((await local.ask("/health")).status, 200);
});

Deno.test("startSidecar runs before its backend does", async () => {
  const port = freePort();
  await using local = new LocalSidecar({ BACKEND_ADDRESS: `127.0.0.1:${port}` });
  await using client = await clientOf(local.port);
  await until(() => local.log.some((line) => line.includes("not reachable")), "the trouble");
  const { status, text } = await local.ask("/ready");
  assertEquals([status, (await local.ask("/health")).status], [503, 200]);
  assertMatch(text, /^not ready: the backend cannot be reached: .*refused/);
  const early = await ask(client, HELLO_PATHS.getGreeting, {});
  assertEquals(early.status, 14);
  assertMatch(early.message, /^collapser: the backend cannot be reached: /);
  assertEquals(local.outcomes, { hit: 0, joined: 0, led: 0, passed: 0, stale: 0, rejected: 1 });

  await using _backend = new GatedBackend({ open: true, port });
  await until(async () => (await local.ask("/ready")).status === 200, "a sidecar that is ready");
  assertEquals((await ask(client, HELLO_PATHS.getGreeting, {})).status, 0);
});

Deno.test("startSidecar is not ready soon after its backend has gone", async () => {
  const backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend);
  assertEquals(await local.ask("/ready"), { status: 200, text: "ready\n" });
  await backend[Symbol.asyncDispose]();
  await until(async () => (await local.ask("/ready")).status === 503, "not ready");
  assertEquals((await local.scrape()).get(upOf(backend)), 0);
});

Deno.test("startSidecar counts what the backend counts", async () => {
  await using pair = await besideHello(STORED_LONG);
  const { hello, local } = pair;
  await using client = await clientOf(local.port);
  const { getGreeting, createGreeting } = HELLO_PATHS;
  const slow = { name: "Ada", delayMs: 100 };
  await Promise.all([1, 2, 3].map(() => ask(client, getGreeting, slow))); // leads, joins, joins
  await ask(client, getGreeting, slow); // hits
  await ask(client, getGreeting, { failWith: { code: 5 } }); // leads, and is not kept
  assertEquals((await local.scrape()).get("collapser_cached_results"), 1);
  await ask(client, createGreeting, slow); // passes
  await ask(client, getGreeting, slow); // leads once more: the write outdated what was stored

  const series = await local.scrape();
  const withoutLabels = [...series].filter(([name]) => ORIGINALS.has(name));
  assertEquals(Object.fromEntries(withoutLabels), {
    collapser_requests_total: 7,
    collapser_collapsed_requests_total: 2,
    collapser_backend_calls_total: 4,
    collapser_cache_hits_total: 1,
    collapser_inflight_requests: 0,
    collapser_cached_results: 1,
    collapser_backend_latency_seconds_count: 4,
  });
  assertEquals(hello.total, 4);
  assertEquals(calls(series, getGreeting), { led: 3, joined: 2, hit: 1 });
  assertEquals(calls(series, createGreeting), { passed: 1 });
  assertEquals(sumOf(series, "collapser_calls_total{"), 7);
  assertEquals(sumOf(series, "collapser_responses_total{"), 7);
  assertEquals(sumOf(series, "collapser_upstream_calls_total{"), 4);
  assertEquals(sumOf(series, "collapser_call_duration_seconds_count{"), 7);
  assertEquals(series.get(`collapser_passed_total{reason="method"}`), 1);
  assertEquals(series.get(`collapser_invalidated_total{service="hello.v1.Hello"}`), 1);
  assertEquals([series.get(upOf(hello)), series.get("collapser_connections")], [1, 1]);
});

Deno.test("startSidecar shows flights and waiters while they last", async () => {
  await using backend = new GatedBackend();
  await using local = await LocalSidecar.before(backend);
  await using client = await clientOf(local.port);
  const calls = [1, 2, 3].map(() => ask(client, HELLO_PATHS.getGreeting, { name: "Ada" }));
  await until(() => local.sidecar.proxy.map.waiting === 3, "three waiters");
  const during = await local.scrape();
  assertEquals(during.get("collapser_inflight_requests"), 1);
  assertEquals(during.get("collapser_waiters"), 3);
  await backend.holds(1);
  backend.release();
  await Promise.all(calls);
  const after = await local.scrape();
  assertEquals(after.get("collapser_inflight_requests"), 0);
  assertEquals(after.get("collapser_waiters"), 0);
});

Deno.test("startSidecar keeps the deadline of each caller alone", async () => {
  await using backend = new GatedBackend();
  await using local = await LocalSidecar.before(backend);
  await using client = await clientOf(local.port);
  const method = { path: HELLO_PATHS.getGreeting, message: new Uint8Array() };
  const hurried = client.callOnce({ ...method, deadlineMs: 100 });
  await backend.holds(1);
  const patient = client.callOnce(method);
  await until(() => local.sidecar.proxy.map.waiting === 2, "both on one flight");
  const { status, message, latencyMs } = await hurried;
  assertEquals([status, message], [4, "collapser: the call's deadline has passed"]);
  assertGreater(latencyMs, 99);
  assertEquals(backend.waiting, 1);
  backend.release();
  assertEquals((await patient).status, 0);
  assertEquals(backend.calls, 1);
});

for (const variable of ["GRPC_PORT", "METRICS_PORT"]) {
  Deno.test(`startSidecar throws with ${variable} when that port is taken, and leaves nothing open`, () => {
    using taken = Deno.listen(LOOPBACK);
    const { port } = taken.addr;
    const settings = settingsOf({ BACKEND_ADDRESS: "127.0.0.1:1", [variable]: String(port) });
    const error = assertThrows(() => startSidecar(settings, logInto([])), Error);
    assertMatch(
      error.message,
      new RegExp(`^Cannot listen on 127\\.0\\.0\\.1 port ${port}: .*in use`),
    );
    assertStringIncludes(error.message, `; set ${variable} to a free port`);
  });
}

Deno.test("Sidecar.stop waits for calls in flight, and takes no more connections", async () => {
  await using backend = new GatedBackend();
  await using local = await LocalSidecar.before(backend);
  await using client = await clientOf(local.port);
  const call = ask(client, HELLO_PATHS.createGreeting, {});
  await backend.holds(1);
  const left = local.stop();
  assertEquals(await local.ask("/ready"), { status: 503, text: "not ready: shutting down\n" });
  assertEquals((await local.ask("/health")).status, 200);
  const refused = await Deno.connect({ hostname: "127.0.0.1", port: local.port })
    .then((socket) => socket.close(), (error) => error);
  assert(refused instanceof Deno.errors.ConnectionRefused);
  backend.release();
  assertEquals((await call).status, 0);
  assertEquals(await left, 0);
  assertEquals((await local.ask("/health")).status, 0);
});

Deno.test("Sidecar.stop ends with 14 what does not finish in time, and says how much that was", async () => {
  await using backend = new GatedBackend();
  await using local = await LocalSidecar.before(backend, { DRAIN_TIMEOUT: "50ms" });
  await using client = await clientOf(local.port);
  const { createGreeting, getGreeting } = HELLO_PATHS;
  const writes = [ask(client, createGreeting, {}), ask(client, createGreeting, {})];
  const reads = [ask(client, getGreeting, {}), ask(client, getGreeting, {})];
  await backend.holds(3);
  assertEquals(await local.stop(), 4);
  for (const { status, message } of await Promise.all([...writes, ...reads])) {
    assertEquals([status, message], [14, "collapser: shutting down"]);
  }
});

/** The series of the Go original that are single numbers, and the count of its histogram. */
const ORIGINALS = new Set([
  "collapser_requests_total",
  "collapser_collapsed_requests_total",
  "collapser_backend_calls_total",
  "collapser_cache_hits_total",
  "collapser_inflight_requests",
  "collapser_cached_results",
  "collapser_backend_latency_seconds_count",
]);

function upOf({ port }: { port: number }): string {
  return `collapser_backend_up{backend="127.0.0.1:${port}"}`;
}

/** Calls of a method by outcome. */
function calls(series: ReadonlyMap<string, number>, method: string): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [name, value] of series) {
    const [, outcome] = /^collapser_calls_total{.*outcome="(.*)"/.exec(name) ?? [];
    if (outcome !== undefined && name.includes(`method="${method}"`)) found[outcome] = value;
  }
  return found;
}

function sumOf(series: ReadonlyMap<string, number>, prefix: string): number {
  return [...series].reduce((sum, [name, value]) => name.startsWith(prefix) ? sum + value : sum, 0);
}
