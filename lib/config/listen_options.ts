import { LISTEN_ADDRESS, LISTEN_HOST } from "./kinds/address.ts";
import { DURATION } from "./kinds/duration.ts";
import { optional } from "./kinds/kind.ts";
import { PORT } from "./kinds/number.ts";
import { OCTAL_MODE } from "./kinds/octal_mode.ts";
import { PATH, TOKEN } from "./kinds/text.ts";
import { option } from "./option.ts";

/** Where callers, scrapers and people connect, and what they are held to; the head of the option table. */
export const LISTEN_OPTIONS = {
  grpcPort: option("GRPC_PORT", PORT, {
    group: "listen",
    fallback: "50052",
    original: true,
    help: "where callers connect (h2c, or TLS when a certificate is set); 0 takes a free port",
  }),
  grpcHost: option("GRPC_HOST", LISTEN_ADDRESS, {
    group: "listen",
    fallback: "[::]",
    help:
      "address to listen on, both IP versions (`0.0.0.0` where IPv6 is off); or `unix:/path`, " +
      "and no port then",
  }),
  grpcSocketMode: option("GRPC_SOCKET_MODE", OCTAL_MODE, {
    group: "listen",
    fallback: "0660",
    help: "permissions of the unix socket when GRPC_HOST is one, whatever the umask",
  }),
  maxConnectionAgeMs: option("GRPC_MAX_CONNECTION_AGE", DURATION, {
    group: "listen",
    fallback: "0",
    help:
      "after so long (give or take a tenth) a caller's connection is told to go, so that pods " +
      "that are new get calls; 0 never",
  }),
  maxConnectionAgeGraceMs: option("GRPC_MAX_CONNECTION_AGE_GRACE", DURATION, {
    group: "listen",
    fallback: "30s",
    help: "after so long then it is ended, with the calls that are left",
  }),
  stallTimeoutMs: option("GRPC_STALL_TIMEOUT", DURATION, {
    group: "listen",
    fallback: "5m",
    help: "a call whose reply waits unread by its caller for so long ends with " +
      "RESOURCE_EXHAUSTED; 0 never",
  }),
  metricsPort: option("METRICS_PORT", PORT, {
    group: "listen",
    fallback: "2112",
    original: true,
    help: "admin listener: /metrics, /health, /ready, / (live page), /api/…; 0 takes a free port",
  }),
  metricsHost: option("METRICS_HOST", LISTEN_HOST, {
    group: "listen",
    fallback: "[::]",
    help: "address of the admin listener",
  }),
  adminPort: option("ADMIN_PORT", PORT, {
    group: "listen",
    sameAs: "METRICS_PORT",
    help: "a listener of its own for the page and /api; METRICS_PORT then keeps /metrics, " +
      "/health and /ready alone",
  }),
  adminHost: option("ADMIN_HOST", LISTEN_HOST, {
    group: "listen",
    sameAs: "METRICS_HOST",
    help: "address of that listener",
  }),
  adminToken: option("ADMIN_TOKEN", optional(TOKEN), {
    group: "listen",
    flagless: true,
    help: "bearer token of 16 characters or more without which no state-changing admin call exists",
  }),
  adminTokenPath: option("ADMIN_TOKEN_FILE", optional(PATH), {
    group: "listen",
    help: "file that the token is in; read again when it changes",
  }),
};
