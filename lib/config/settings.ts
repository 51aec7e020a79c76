import type { BackendEntry, BackendKind, Routing } from "../balance/mod.ts";

export type Mode = "collapse" | "shadow" | "verify" | "off";
export type Invalidate = "service" | "off";
export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFormat = "json" | "console";

/**
 * What every other room is told. One flat record, complete and checked; a field
 * that may be unset is there and `undefined`. The variable each field comes from,
 * and what it means, stands in the option table.
 */
export interface Settings {
  /** 0 takes a free port. */
  readonly grpcPort: number;
  /** Without brackets, as `Deno.listen` takes it; or "unix:" and a path, which `unixPath` finds. */
  readonly grpcHost: string;
  /** 0 takes a free port. */
  readonly metricsPort: number;
  readonly metricsHost: string;
  readonly adminToken: string | undefined;

  readonly backends: readonly BackendEntry[];
  readonly backendTimeoutMs: number;
  readonly backendConnectTimeoutMs: number;
  readonly backendUseTls: boolean;
  readonly backendTlsCaPath: string | undefined;
  readonly backendTlsCertPath: string | undefined;
  readonly backendTlsKeyPath: string | undefined;
  readonly backendTlsServerName: string | undefined;

  readonly grpcTlsCertPath: string | undefined;
  readonly grpcTlsKeyPath: string | undefined;
  readonly grpcTlsClientCaPath: string | undefined;

  readonly backendKind: BackendKind;
  readonly backendRouting: Routing;
  readonly backendMaxConcurrent: number;
  readonly backendMaxPending: number;
  readonly backendConnections: number;
  /** Among several backends, those that fail while others do not are left out for a while. */
  readonly backendOutlierDetection: boolean;
  readonly backendAdaptiveConcurrency: boolean;

  /** 0 keeps nothing. May hold fractions of a millisecond, like every duration here. */
  readonly cacheDurationMs: number;
  readonly staleDurationMs: number;
  readonly cacheErrors: boolean;
  /** Infinity when only the bytes bound it. */
  readonly maxCacheEntries: number;
  readonly maxCacheBytes: number;
  readonly cleanupIntervalMs: number;
  /** In the order given: a base (`auto`, `schema`, `*`) and exclusions, or a list of patterns. */
  readonly methods: readonly string[];
  readonly invalidate: Invalidate;
  /** Lower case, or undefined: all metadata but the ignored. */
  readonly keyHeaders: readonly string[] | undefined;
  /** Lower case; on top of those that are always ignored. */
  readonly ignoreHeaders: readonly string[];
  readonly mode: Mode;
  /** 0 to 1. */
  readonly verifyRatio: number;
  readonly joinMaxAgeMs: number;
  readonly maxFollowers: number;
  readonly maxMessageBytes: number;
  readonly policyPath: string | undefined;
  readonly sharedCacheUrl: string | undefined;

  readonly drainDelayMs: number;
  readonly drainTimeoutMs: number;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}
