import { assert, assertEquals } from "@std/assert";
import { readSettings } from "../../lib/config/read_settings.ts";
import { MINIMUM, problemsOf, read, settingsOf } from "./support.ts";

Deno.test("readSettings fills in every default", () => {
  assertEquals(settingsOf(), {
    grpcPort: 50_052,
    grpcHost: "::",
    grpcSocketMode: 0o660,
    metricsPort: 2_112,
    metricsHost: "::",
    adminPort: 2_112,
    adminHost: "::",
    adminToken: undefined,
    adminTokenPath: undefined,
    backends: [
      { name: "db:50051", address: { host: "db", port: 50_051 }, resolves: false },
    ],
    backendTimeoutMs: 10_000,
    backendConnectTimeoutMs: 5_000,
    backendUseTls: false,
    backendTlsCaPath: undefined,
    backendTlsCertPath: undefined,
    backendTlsKeyPath: undefined,
    backendTlsServerName: undefined,
    grpcTlsCertPath: undefined,
    grpcTlsKeyPath: undefined,
    grpcTlsClientCaPath: undefined,
    backendKind: "replicas",
    stallTimeoutMs: 300_000,
    maxBufferedBytes: 268_435_456,
    backendRouting: { by: "key" },
    backendMaxConcurrent: 1_024,
    backendMaxPending: 10_000,
    backendConnections: 1,
    backendOutlierDetection: true,
    backendAdaptiveConcurrency: false,
    cacheDurationMs: 100,
    maxConnectionAgeMs: 0,
    maxConnectionAgeGraceMs: 30_000,
    staleDurationMs: 0,
    staleIfErrorMs: 0,
    ttlJitter: 0.1,
    hitForPassMs: 10_000,
    cacheErrors: false,
    maxCacheEntries: 10_000,
    maxCacheBytes: 67_108_864,
    cleanupIntervalMs: 1_000,
    methods: ["auto"],
    invalidate: "service",
    keyHeaders: undefined,
    ignoreHeaders: [],
    mode: "collapse",
    verifyRatio: 0.01,
    verifyMaxConcurrent: 2,
    joinMaxAgeMs: 10_000,
    maxFollowers: 100_000,
    maxMessageBytes: 4_194_304,
    policyPath: undefined,
    sharedCacheUrl: undefined,
    drainDelayMs: 0,
    drainTimeoutMs: 10_000,
    logLevel: "info",
    logFormat: "json",
  });
});

Deno.test("readSettings reads each variable into its setting", () => {
  const settings = settingsOf({
    GRPC_PORT: "0",
    GRPC_HOST: "127.0.0.1",
    METRICS_PORT: "9090",
    METRICS_HOST: "[::1]",
    BACKEND_ADDRESS: "a=dns:///db:1",
    BACKEND_TIMEOUT: "1m30s",
    BACKEND_CONNECT_TIMEOUT: "1s",
    BACKEND_MAX_CONCURRENT: "2",
    BACKEND_MAX_PENDING: "0",
    COLLAPSER_CACHE_DURATION: "0",
    COLLAPSER_HIT_FOR_PASS: "0",
    COLLAPSER_CACHE_ERRORS: "T",
    COLLAPSER_MAX_CACHE_ENTRIES: "0",
    COLLAPSER_MAX_CACHE_BYTES: "1KB",
    COLLAPSER_CLEANUP_INTERVAL: "2s",
    COLLAPSER_METHODS: "*,!/a.B/C",
    COLLAPSER_INVALIDATE: "off",
    COLLAPSER_KEY_HEADERS: "Authorization",
    COLLAPSER_IGNORE_HEADERS: "x-a,X-B",
    COLLAPSER_MODE: "off",
    COLLAPSER_JOIN_MAX_AGE: "3s",
    COLLAPSER_MAX_FOLLOWERS: "5",
    COLLAPSER_MAX_MESSAGE_BYTES: "64KiB",
    DRAIN_DELAY: "5s",
    DRAIN_TIMEOUT: "0",
    LOG_LEVEL: "WARNING",
    LOG_FORMAT: "Console",
  });
  assertEquals(settings, {
    ...settingsOf(),
    grpcPort: 0,
    grpcHost: "127.0.0.1",
    metricsPort: 9_090,
    metricsHost: "::1",
    adminPort: 9_090,
    adminHost: "::1",
    backends: [{ name: "a", address: { host: "db", port: 1 }, resolves: true }],
    backendTimeoutMs: 90_000,
    backendConnectTimeoutMs: 1_000,
    backendMaxConcurrent: 2,
    backendMaxPending: 0,
    cacheDurationMs: 0,
    hitForPassMs: 0,
    cacheErrors: true,
    maxCacheEntries: Infinity,
    maxCacheBytes: 1_000,
    cleanupIntervalMs: 2_000,
    methods: ["*", "!/a.B/C"],
    invalidate: "off",
    keyHeaders: ["authorization"],
    ignoreHeaders: ["x-a", "x-b"],
    mode: "off",
    joinMaxAgeMs: 3_000,
    maxFollowers: 5,
    maxMessageBytes: 65_536,
    drainDelayMs: 5_000,
    drainTimeoutMs: 0,
    logLevel: "warn",
    logFormat: "console",
  });
});

Deno.test("readSettings reads what backends are and how each side speaks TLS into settings", () => {
  const settings = settingsOf({
    ADMIN_TOKEN: "t".repeat(16),
    BACKEND_USE_TLS: "1",
    BACKEND_TLS_CA: "a",
    BACKEND_TLS_CERT: "b",
    BACKEND_TLS_KEY: "c",
    BACKEND_TLS_SERVER_NAME: "d",
    GRPC_TLS_CERT: "e",
    GRPC_TLS_KEY: "f",
    GRPC_TLS_CLIENT_CA: "g",
    BACKEND_KIND: "shards",
    BACKEND_ROUTING: "header:x-shard",
    BACKEND_CONNECTIONS: "3",
    BACKEND_OUTLIER_DETECTION: "false",
    BACKEND_ADAPTIVE_CONCURRENCY: "true",
    COLLAPSER_CONFIG: "h",
  });
  assertEquals(settings, {
    ...settingsOf(),
    adminToken: "t".repeat(16),
    backendUseTls: true,
    backendTlsCaPath: "a",
    backendTlsCertPath: "b",
    backendTlsKeyPath: "c",
    backendTlsServerName: "d",
    grpcTlsCertPath: "e",
    grpcTlsKeyPath: "f",
    grpcTlsClientCaPath: "g",
    backendKind: "shards",
    backendRouting: { by: "header", name: "x-shard" },
    backendConnections: 3,
    backendOutlierDetection: false,
    backendAdaptiveConcurrency: true,
    policyPath: "h",
  });
});

Deno.test("readSettings lets a flag win over its variable and says where each value is from", () => {
  const reading = read({ ...MINIMUM, BACKEND_TIMEOUT: "1s", DRAIN_DELAY: "1s" }, [
    "--backend-timeout=2s",
    "--collapser-cache-errors",
    "--grpc-port",
    "1",
    "--grpc-port",
    "2",
  ]);
  assert("settings" in reading);
  assertEquals(reading.settings.backendTimeoutMs, 2_000);
  assertEquals(reading.settings.cacheErrors, true);
  assertEquals(reading.settings.grpcPort, 2);
  const origins = ["BACKEND_TIMEOUT", "DRAIN_DELAY", "DRAIN_TIMEOUT"];
  assertEquals(origins.map((name) => reading.origins.get(name)), [
    "flag",
    "environment",
    "default",
  ]);
});

Deno.test("readSettings takes the join age from BACKEND_TIMEOUT unless it is given", () => {
  assertEquals(settingsOf({ BACKEND_TIMEOUT: "3s" }).joinMaxAgeMs, 3_000);
  assertEquals(
    settingsOf({ BACKEND_TIMEOUT: "3s", COLLAPSER_JOIN_MAX_AGE: "1s" }).joinMaxAgeMs,
    1_000,
  );
});

Deno.test("readSettings ignores space around a value and takes an empty one for none", () => {
  const reading = read({ BACKEND_ADDRESS: " db:1\n", GRPC_PORT: "", LOG_LEVEL: "  " });
  assert("settings" in reading);
  assertEquals(reading.settings.backends[0]?.address.host, "db");
  assertEquals(reading.settings.grpcPort, 50_052);
  assertEquals(reading.origins.get("LOG_LEVEL"), "default");
});

Deno.test("readSettings lets an empty flag undo a variable", () => {
  const reading = read({ ...MINIMUM, COLLAPSER_KEY_HEADERS: "a" }, ["--collapser-key-headers="]);
  assert("settings" in reading);
  assertEquals(reading.settings.keyHeaders, undefined);
  assertEquals(reading.origins.get("COLLAPSER_KEY_HEADERS"), "default");
});

Deno.test("readSettings cannot do without BACKEND_ADDRESS", () => {
  assertEquals(readSettings(() => undefined), {
    problems: [
      "Cannot start without BACKEND_ADDRESS: expected the service to stand beside, " +
      "such as 127.0.0.1:50051",
    ],
    warnings: [],
  });
});

Deno.test("readSettings reports all problems at once, by variable or flag, value and reason", () => {
  const reading = read({
    GRPC_PORT: "99999",
    BACKEND_TIMEOUT: "fast",
    BACKEND_USE_TLS: "perhaps",
    COLLAPSER_CACHE_DURATION: "-1s",
    COLLAPSER_MODE: "sometimes",
    COLLAPSER_MAX_CACHE_BYTES: "64Mouse",
    COLLAPSER_JOIN_MAX_AGE: "old",
    LOG_LEVL: "info",
  }, ["--backend-routing", "anywhere", "--log-level=loud", "--wat"]);
  assertEquals(reading, {
    problems: [
      "Cannot read --wat: no such flag; the nearest is --help",
      'Cannot parse GRPC_PORT "99999": expected a port from 0 to 65535',
      "Cannot start without BACKEND_ADDRESS: expected the service to stand beside, " +
      "such as 127.0.0.1:50051",
      'Cannot parse BACKEND_TIMEOUT "fast": expected a duration such as 100ms',
      'Cannot parse BACKEND_USE_TLS "perhaps": expected true or false',
      'Cannot parse --backend-routing "anywhere": ' +
      "expected key, header:NAME, round-robin or least-loaded",
      'Cannot parse COLLAPSER_CACHE_DURATION "-1s": ' +
      "expected a duration of 0 or more, such as 100ms",
      'Cannot parse COLLAPSER_MAX_CACHE_BYTES "64Mouse": ' +
      "expected a size such as 64KiB, 1MiB or plain bytes",
      'Cannot parse COLLAPSER_MODE "sometimes": expected collapse, shadow, verify or off',
      'Cannot parse COLLAPSER_JOIN_MAX_AGE "old": expected a duration such as 100ms',
      'Cannot parse --log-level "loud": expected debug, info, warn or error',
    ],
    warnings: ["Cannot use LOG_LEVL: no such variable; the nearest is LOG_LEVEL"],
  });
});

Deno.test("readSettings never repeats a secret", () => {
  const problems = problemsOf({
    ADMIN_TOKEN: "hunter2 hunter2",
    COLLAPSER_SHARED_CACHE: "http://me:hunter2@cache",
  });
  assertEquals(problems, [
    "Cannot parse ADMIN_TOKEN: expected visible ASCII characters and no spaces",
    "Cannot parse COLLAPSER_SHARED_CACHE: expected a URL such as redis://host:6379",
  ]);
});
