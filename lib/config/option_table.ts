import { BACKENDS } from "./kinds/address.ts";
import { BOOLEAN, oneOf } from "./kinds/choice.ts";
import { DURATION, POSITIVE_DURATION, STALE_DURATION } from "./kinds/duration.ts";
import { HEADER_NAMES } from "./kinds/header_names.ts";
import { optional } from "./kinds/kind.ts";
import { METHODS } from "./kinds/methods.ts";
import { count, ENTRIES, HALF_RATIO, RATIO } from "./kinds/number.ts";
import { ROUTING } from "./kinds/routing.ts";
import { SIZE } from "./kinds/size.ts";
import { CACHE_URL, HOST_NAME, PATH } from "./kinds/text.ts";
import { LISTEN_OPTIONS } from "./listen_options.ts";
import { option } from "./option.ts";

/**
 * Connections to one backend at most, whether BACKEND_CONNECTIONS asks for them or a stream limit leaves calls waiting:
 * with the usual limit of 100 or 128 streams they carry about as many calls as BACKEND_MAX_CONCURRENT lets through.
 */
export const MAX_BACKEND_CONNECTIONS = 64;

const CONNECTIONS = count({ min: 1, max: MAX_BACKEND_CONNECTIONS });
const LOG_LEVEL = oneOf(["debug", "info", "warn", "error"], new Map([["warning", "warn"]]));

/**
 * Every variable by the field of the settings that it fills, in the order of the documentation. Fields that the proxy
 * reads have the names they have in its options, and units are part of a name.
 */
export const OPTION_TABLE = {
  ...LISTEN_OPTIONS,
  backends: option("BACKEND_ADDRESS", BACKENDS, {
    group: "backend",
    required: true,
    original: true,
    help: "`host:port`, `dns:///host:port`, or `unix:/path`; several, comma separated, " +
      "optionally `name=host:port`, are shards or replicas",
  }),
  backendTimeoutMs: option("BACKEND_TIMEOUT", POSITIVE_DURATION, {
    group: "backend",
    fallback: "10s",
    original: true,
    help: "how long a caller without a deadline of its own waits for the answer of a call that " +
      "may be shared to begin, and then for it to go on; " +
      "passed calls have only their own deadline",
  }),
  backendConnectTimeoutMs: option("BACKEND_CONNECT_TIMEOUT", POSITIVE_DURATION, {
    group: "backend",
    fallback: "5s",
    help: "longest a connection may take to answer with its SETTINGS",
  }),
  backendUseTls: option("BACKEND_USE_TLS", BOOLEAN, {
    group: "backend",
    fallback: "false",
    original: true,
    help: "TLS to the backend",
  }),
  backendTlsCaPath: option("BACKEND_TLS_CA", optional(PATH), {
    group: "backend",
    help: "PEM file of a private CA that the backend's certificate is from",
  }),
  backendTlsCertPath: option("BACKEND_TLS_CERT", optional(PATH), {
    group: "backend",
    help: "PEM file of the certificate shown to the backend (mTLS)",
  }),
  backendTlsKeyPath: option("BACKEND_TLS_KEY", optional(PATH), {
    group: "backend",
    help: "PEM file of that certificate's key",
  }),
  backendTlsServerName: option("BACKEND_TLS_SERVER_NAME", optional(HOST_NAME), {
    group: "backend",
    help: "name to expect in the backend's certificate, when it is not the address",
  }),
  grpcTlsCertPath: option("GRPC_TLS_CERT", optional(PATH), {
    group: "listen",
    help: "PEM file of the certificate shown to callers: TLS instead of h2c",
  }),
  grpcTlsKeyPath: option("GRPC_TLS_KEY", optional(PATH), {
    group: "listen",
    help: "PEM file of that certificate's key",
  }),
  grpcTlsClientCaPath: option("GRPC_TLS_CLIENT_CA", optional(PATH), {
    group: "listen",
    help: "PEM file of the CA that callers' certificates must be from (mTLS)",
  }),
  backendKind: option("BACKEND_KIND", oneOf(["replicas", "shards"]), {
    group: "backend",
    fallback: "replicas",
    help: "what several addresses are: `replicas` (any can answer) or `shards` " +
      "(only one has the data; needs `header:` routing)",
  }),
  backendRouting: option("BACKEND_ROUTING", ROUTING, {
    group: "backend",
    fallback: "key",
    help: "how a call picks among several backends: `key` (rendezvous hash of the collapse key; " +
      "calls without one go to the least loaded), `header:NAME` (the named metadata is then " +
      "always in the key), `round-robin`, `least-loaded`",
  }),
  backendMaxConcurrent: option("BACKEND_MAX_CONCURRENT", count({ min: 1 }), {
    group: "backend",
    fallback: "1024",
    help:
      "calls in flight to one backend; the wall of its bulkhead. A call counts until its reply " +
      "has ended or has begun to stream: a second message either way, or a first message of the " +
      "reply and then 100 ms of quiet",
  }),
  backendMaxPending: option("BACKEND_MAX_PENDING", count({ min: 0 }), {
    group: "backend",
    fallback: "10000",
    help: "calls waiting for one backend; beyond it RESOURCE_EXHAUSTED at once",
  }),
  backendConnections: option("BACKEND_CONNECTIONS", CONNECTIONS, {
    group: "backend",
    fallback: "1",
    help: "connections to one backend (more are opened while its stream limit is reached, up to " +
      `${MAX_BACKEND_CONNECTIONS}, and given up again when idle)`,
  }),
  backendOutlierDetection: option("BACKEND_OUTLIER_DETECTION", BOOLEAN, {
    group: "backend",
    fallback: "true",
    help: "of several backends, leave out for a while the one that fails while others do not",
  }),
  backendAdaptiveConcurrency: option("BACKEND_ADAPTIVE_CONCURRENCY", BOOLEAN, {
    group: "backend",
    fallback: "false",
    help: "give a backend fewer calls at once than BACKEND_MAX_CONCURRENT while its answers " +
      "take longer than they used to",
  }),
  cacheDurationMs: option("COLLAPSER_CACHE_DURATION", DURATION, {
    group: "collapsing",
    fallback: "100ms",
    original: true,
    help: "how long a good result answers repeats; 0 switches it off",
  }),
  staleDurationMs: option("COLLAPSER_STALE_DURATION", STALE_DURATION, {
    group: "collapsing",
    fallback: "0",
    help: "how long after that a stale result may answer while one refresh runs, `1h` at most",
  }),
  staleIfErrorMs: option("COLLAPSER_STALE_IF_ERROR", STALE_DURATION, {
    group: "collapsing",
    fallback: "0",
    help: "how long after that a stale result may answer when the backend cannot (UNAVAILABLE, " +
      "DEADLINE_EXCEEDED or RESOURCE_EXHAUSTED from it, or a refusal of the sidecar's own), `1h` at most",
  }),
  ttlJitter: option("COLLAPSER_TTL_JITTER", HALF_RATIO, {
    group: "collapsing",
    fallback: "0.1",
    help: "share by which a result's time is shortened at random, when that time is 1 s or more; " +
      "0 to 0.5",
  }),
  hitForPassMs: option("COLLAPSER_HIT_FOR_PASS", DURATION, {
    group: "collapsing",
    fallback: "10s",
    help: "how long a key whose answer was private passes through; 0 switches it off",
  }),
  cacheErrors: option("COLLAPSER_CACHE_ERRORS", BOOLEAN, {
    group: "collapsing",
    fallback: "false",
    original: true,
    help: "keep error results too",
  }),
  maxCacheEntries: option("COLLAPSER_MAX_CACHE_ENTRIES", ENTRIES, {
    group: "collapsing",
    fallback: "10000",
    original: true,
    help: "results kept; least recently used leave first. 0: as many as the bytes allow",
  }),
  maxCacheBytes: option("COLLAPSER_MAX_CACHE_BYTES", SIZE, {
    group: "collapsing",
    fallback: "64MiB",
    help: "bytes kept, keys included",
  }),
  cleanupIntervalMs: option("COLLAPSER_CLEANUP_INTERVAL", POSITIVE_DURATION, {
    group: "collapsing",
    fallback: "1s",
    original: true,
    help: "how often expired results are swept",
  }),
  methods: option("COLLAPSER_METHODS", METHODS, {
    group: "collapsing",
    fallback: "auto",
    help: "which methods collapse: `auto`, `schema`, `*` (all, as the original), or a list of " +
      "`/pkg.Service/Method`, `/pkg.Service/*`, with `!` to exclude; `auto` and `schema` take both (`auto,/pkg.S/M,!/pkg.S/X`)",
  }),
  invalidate: option("COLLAPSER_INVALIDATE", oneOf(["service", "package", "backend", "off"]), {
    group: "collapsing",
    fallback: "service",
    help: "`service`: with each message, and with the end, of an answer to a call that is not " +
      "eligible, stored results and flights of its service that are older serve nobody new, before " +
      "that answer is handed on: a caller sees its own write, and what a watch told it of; `package` " +
      "and `backend` reach further, for APIs that write by one service and read by another; `off` " +
      "as the original",
  }),
  keyHeaders: option("COLLAPSER_KEY_HEADERS", optional(HEADER_NAMES), {
    group: "key",
    original: true,
    help: "when set, only these request metadata names are part of the key; when unset, all are " +
      "but the ignored ones",
  }),
  ignoreHeaders: option("COLLAPSER_IGNORE_HEADERS", HEADER_NAMES, {
    group: "key",
    help: "further names to leave out of the key",
  }),
  mode: option("COLLAPSER_MODE", oneOf(["collapse", "shadow", "verify", "off"]), {
    group: "collapsing",
    fallback: "collapse",
    help: "`collapse`, `shadow` (serve everyone apart, count what would have collapsed), " +
      "`verify` (collapse, and compare a sample with a call of its own), `off`",
  }),
  verifyRatio: option("COLLAPSER_VERIFY_RATIO", RATIO, {
    group: "collapsing",
    fallback: "0.01",
    help:
      "share of the calls answered with another's answer that `verify` re-runs; a method's first " +
      "20 always",
  }),
  verifyMaxConcurrent: option("COLLAPSER_VERIFY_MAX_CONCURRENT", count({ min: 1 }), {
    group: "collapsing",
    fallback: "2",
    help: "such re-runs at once for one backend",
  }),
  joinMaxAgeMs: option("COLLAPSER_JOIN_MAX_AGE", DURATION, {
    group: "collapsing",
    sameAs: "BACKEND_TIMEOUT",
    help: "a flight older than this takes no more joiners: the next caller leads a new one",
  }),
  maxFollowers: option("COLLAPSER_MAX_FOLLOWERS", count({ min: 0 }), {
    group: "collapsing",
    fallback: "100000",
    help: "waiters on one flight; more go through on their own",
  }),
  maxMessageBytes: option("COLLAPSER_MAX_MESSAGE_BYTES", SIZE, {
    group: "collapsing",
    fallback: "4MiB",
    help: "largest request message, and largest reply in all its messages, that is collapsed. A " +
      "larger request passes; a flight that outgrows it takes no more joiners, keeps feeding " +
      "those it has, and is not stored",
  }),
  maxBufferedBytes: option("COLLAPSER_MAX_BUFFERED_BYTES", SIZE, {
    group: "collapsing",
    fallback: "256MiB",
    help: "all that is held for peers that do not take it or to be sent again: unread replies, " +
      "requests under way; over it the slowest readers end with RESOURCE_EXHAUSTED, and so do " +
      "new calls that need more",
  }),
  policyPath: option("COLLAPSER_CONFIG", optional(PATH), {
    group: "collapsing",
    help:
      "path of a JSON policy file: per-method settings in the `methodConfig` form of the gRPC " +
      "service config, reloaded when it changes",
  }),
  sharedCacheUrl: option("COLLAPSER_SHARED_CACHE", optional(CACHE_URL), {
    group: "collapsing",
    help: "`redis://…`/`valkey://…`: collapse across replicas too",
  }),
  drainDelayMs: option("DRAIN_DELAY", DURATION, {
    group: "lifetime",
    fallback: "0s",
    help: "on a signal, how long to go on serving while already not ready",
  }),
  drainTimeoutMs: option("DRAIN_TIMEOUT", DURATION, {
    group: "lifetime",
    fallback: "10s",
    help: "longest a shutdown then waits for calls in flight",
  }),
  logLevel: option("LOG_LEVEL", LOG_LEVEL, {
    group: "logging",
    fallback: "info",
    original: true,
    help: "least weight that is written: `debug`, `info`, `warn` or `error`",
  }),
  logFormat: option("LOG_FORMAT", oneOf(["json", "console"]), {
    group: "logging",
    fallback: "json",
    original: true,
    help: "`json`, an object a line for machines, or `console`, for people",
  }),
};
