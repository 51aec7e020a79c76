import { assertEquals, assertThrows } from "@std/assert";
import { proxyOptions } from "../../lib/sidecar/proxy_options.ts";
import { settingsOf } from "../support/local_sidecar.ts";

Deno.test("proxyOptions hands on what was set", () => {
  const settings = settingsOf({
    BACKEND_ADDRESS: "near=db.test:7001,far=dns:///db.far.test:7002",
    BACKEND_KIND: "shards",
    BACKEND_ROUTING: "header:x-shard",
    BACKEND_CONNECTIONS: "3",
    BACKEND_OUTLIER_DETECTION: "false",
    BACKEND_ADAPTIVE_CONCURRENCY: "true",
    BACKEND_TIMEOUT: "3s",
    BACKEND_CONNECT_TIMEOUT: "4s",
    BACKEND_MAX_CONCURRENT: "5",
    BACKEND_MAX_PENDING: "6",
    COLLAPSER_CACHE_DURATION: "7ms",
    COLLAPSER_CACHE_ERRORS: "true",
    COLLAPSER_MAX_CACHE_ENTRIES: "8",
    COLLAPSER_MAX_CACHE_BYTES: "9MiB",
    COLLAPSER_CLEANUP_INTERVAL: "10s",
    COLLAPSER_METHODS: "auto,!/a.B/GetC",
    COLLAPSER_INVALIDATE: "off",
    COLLAPSER_KEY_HEADERS: "authorization",
    COLLAPSER_IGNORE_HEADERS: "baggage",
    COLLAPSER_MODE: "off",
    COLLAPSER_JOIN_MAX_AGE: "2s",
    COLLAPSER_MAX_FOLLOWERS: "12",
    COLLAPSER_MAX_MESSAGE_BYTES: "13KiB",
  });
  assertEquals(proxyOptions(settings), {
    backends: [
      { name: "near", address: { host: "db.test", port: 7001 }, resolves: false },
      { name: "far", address: { host: "db.far.test", port: 7002 }, resolves: true },
    ],
    backendUseTls: false,
    backendKind: "shards",
    backendRouting: { by: "header", name: "x-shard" },
    backendConnections: 3,
    backendOutlierDetection: false,
    backendAdaptiveConcurrency: true,
    backendTimeoutMs: 3_000,
    backendConnectTimeoutMs: 4_000,
    backendMaxConcurrent: 5,
    backendMaxPending: 6,
    cacheDurationMs: 7,
    cacheErrors: true,
    maxCacheEntries: 8,
    maxCacheBytes: 9 * 2 ** 20,
    cleanupIntervalMs: 10_000,
    methods: ["auto", "!/a.B/GetC"],
    invalidate: "off",
    keyHeaders: ["authorization"],
    ignoreHeaders: ["baggage"],
    mode: "off",
    joinMaxAgeMs: 2_000,
    maxFollowers: 12,
    maxMessageBytes: 13 * 2 ** 10,
  });
});

Deno.test("proxyOptions collapses unless that is off", () => {
  assertEquals(proxyOptions(settingsOf({ BACKEND_ADDRESS: "db.test:1" })).mode, "collapse");
});

Deno.test("proxyOptions hands on the path of a unix socket, and whether there is TLS", () => {
  const settings = settingsOf({ BACKEND_ADDRESS: "db=unix:/run/db.sock", BACKEND_USE_TLS: "true" });
  const { backends, backendUseTls } = proxyOptions(settings);
  assertEquals(backends, [{ name: "db", address: { host: "", port: 0, path: "/run/db.sock" } }]);
  assertEquals(backendUseTls, true);
});

Deno.test("proxyOptions throws for settings that nobody checked", () => {
  const settings = { ...settingsOf({ BACKEND_ADDRESS: "db.test:1" }), backends: [] };
  assertThrows(() => proxyOptions(settings), Error, "the settings were not checked");
});
