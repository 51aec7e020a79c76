import { assert, assertEquals, assertMatch } from "@std/assert";
import { HELLO_PATHS } from "../../lib/hello/mod.ts";
import { ask, clientOf } from "../support/client.ts";
import { GatedBackend } from "../support/gated_backend.ts";
import { LocalSidecar } from "../support/local_sidecar.ts";
import { until } from "../support/waiting.ts";
import { TENANTS, TenantSidecar } from "./tenant_sidecar.ts";

const { getGreeting, createGreeting } = HELLO_PATHS;
const SECRET = "alice@example.test";

async function json(local: LocalSidecar, path: string) {
  const { status, text } = await local.ask(path);
  assertEquals(status, 200, `${path}: ${text}`);
  assert(text.endsWith("\n"));
  return JSON.parse(text);
}

Deno.test("/api/flights tells which calls wait, the oldest first, and for what", async () => {
  await using backend = new GatedBackend();
  await using local = await LocalSidecar.before(backend);
  await using client = await clientOf(local.port);
  const calls = [1, 2, 3].map(() => ask(client, getGreeting, { name: SECRET }));
  await backend.holds(1);
  calls.push(ask(client, createGreeting, { name: "b" }));
  await backend.holds(2);
  await until(() => local.sidecar.proxy.map.waiting === 3, "three that wait");
  const { total, flights, passing } = await json(local, "/api/flights");
  const [{ ageMs, key, ...flight }] = flights;
  const name = `127.0.0.1:${backend.port}`;
  assertEquals(flight, {
    ...{ method: getGreeting, backend: name, waitsFor: "answer", waiters: 3, takesJoiners: true },
  });
  assert(ageMs >= 0 && key.length === 12);
  assertEquals([total, flights.length, passing.length], [1, 1, 1]);
  assertEquals([passing[0].method, passing[0].waitsFor], [createGreeting, "answer"]);
  assert(!JSON.stringify(await json(local, "/api/status")).includes(SECRET));
  backend.release();
  await Promise.all(calls);
  assertEquals(await json(local, "/api/flights"), { total: 0, flights: [], passing: [] });
});

Deno.test("/api/keys tells the hottest keys as digests", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend, { COLLAPSER_CACHE_DURATION: "1m" });
  await using client = await clientOf(local.port);
  for (let i = 0; i < 5; i++) await ask(client, getGreeting, { name: SECRET });
  for (let i = 0; i < 2; i++) await ask(client, getGreeting, { name: "other" });
  const { sinceMs, keys } = await json(local, "/api/keys");
  assertEquals(
    keys.map(({ method, calls }: { method: string; calls: number }) => [method, calls]),
    [
      [getGreeting, 5],
      [getGreeting, 2],
    ],
  );
  assert(sinceMs >= 0 && keys[0].key !== keys[1].key);
  assert(!JSON.stringify(keys).includes(SECRET));
});

Deno.test("/api/config shows every setting with its origin, no secret, and how methods were judged", async () => {
  await using backend = new GatedBackend({ open: true });
  const token = "s3cr3t-pa55word-long";
  const variables = { ADMIN_TOKEN: token, COLLAPSER_CACHE_DURATION: "1s" };
  await using local = await LocalSidecar.before(backend, variables);
  await using client = await clientOf(local.port);
  await ask(client, getGreeting);
  await ask(client, createGreeting);
  const config = await json(local, "/api/config");
  const setting = (wanted: string) =>
    config.settings.find(({ name }: { name: string }) => name === wanted);
  assertEquals(setting("ADMIN_TOKEN").value, "(set)");
  assertEquals(setting("COLLAPSER_CACHE_DURATION"), {
    ...{
      name: "COLLAPSER_CACHE_DURATION",
      group: "collapsing",
      value: "1s",
      origin: "environment",
    },
  });
  assertEquals([setting("DRAIN_TIMEOUT").value, setting("DRAIN_TIMEOUT").origin], [
    "10s",
    "default",
  ]);
  assertEquals(config.methods, [
    {
      ...{ method: getGreeting, collapses: true, why: "its name begins with get" },
      ...{ mode: "collapse", off: null },
    },
    {
      ...{ method: createGreeting, collapses: false, mode: "off", off: null },
      why: "its name does not begin with a reading verb",
    },
  ]);
  assertEquals([config.canPurge, config.warnings], [true, []]);
  for (const path of ["/api/config", "/api/status", "/api/flights", "/api/keys", "/", "/metrics"]) {
    assert(!(await local.ask(path)).text.includes(token), path);
  }
  assert(!local.log.join("\n").includes(token));
});

Deno.test("/api/status agrees with the metrics", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend, { COLLAPSER_CACHE_DURATION: "1m" });
  await using client = await clientOf(local.port);
  for (let i = 0; i < 7; i++) await ask(client, getGreeting, { name: String(i % 2) });
  await ask(client, createGreeting);
  const series = await local.scrape();
  const { methods, backends, now, passed, health } = await json(local, "/api/status");
  for (const row of methods) {
    for (const outcome of ["hit", "joined", "led", "passed"]) {
      const name = `collapser_calls_total{method="${row.method}",outcome="${outcome}"}`;
      assertEquals(row[outcome], series.get(name) ?? 0, name);
    }
  }
  assertEquals([methods[0].hit, methods[0].led, methods[1].passed], [5, 2, 1]);
  assertEquals(methods[0].codes, { OK: 7 });
  assertEquals(backends[0].calls, series.get("collapser_backend_calls_total"));
  assertEquals(now.connections, series.get("collapser_connections"));
  assertEquals([now.storedResults, now.storedBytes], [
    series.get("collapser_cached_results"),
    series.get("collapser_cached_bytes"),
  ]);
  assertEquals(passed.method, series.get('collapser_passed_total{reason="method"}'));
  assertEquals(health, { state: "healthy", words: "Healthy: the backend is reachable" });
});

Deno.test("/api/config and /api/status name in what callers differed when verify took a method out, and no value", async () => {
  await using service = await TenantSidecar.start();
  const { local } = service;
  await service.ask(TENANTS[0]);
  const isTold = async (path: string, off: unknown) => {
    const expected = { method: getGreeting, collapses: true, mode: "verify", off };
    await until(async () => { // a snapshot is told for a tenth of a second
      const [row] = (await json(local, path)).methods;
      return Object.entries(expected).every(([name, value]) =>
        JSON.stringify(row[name]) === JSON.stringify(value)
      );
    }, `${path} that says ${JSON.stringify(expected)}`);
  };
  const paths = ["/api/config", "/api/status"];
  for (const path of paths) await isTold(path, null);
  await service.takeOut();
  for (const path of paths) await isTold(path, ["x-tenant"]);
  for (const path of [...paths, "/api/report", "/api/keys", "/api/history", "/metrics"]) {
    const { text } = await local.ask(path);
    for (const tenant of TENANTS) assert(!text.includes(tenant), `${path} tells ${tenant}`);
  }
  local.sidecar.proxy.trial.switchOn(getGreeting);
  for (const path of paths) await isTold(path, null);
});

Deno.test("/api/status is down with the reason when the backend is", async () => {
  const backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend);
  await backend[Symbol.asyncDispose]();
  await until(() => !local.sidecar.proxy.readiness.ready, "a backend that is gone");
  await until(
    async () => (await json(local, "/api/status")).health.state === "down",
    "a state that says so",
  );
  const { health, backends } = await json(local, "/api/status");
  assertMatch(health.words, /^Down: the backend cannot be reached: ./);
  assert(backends[0].trouble !== "" && !backends[0].up);
});
