import type { KeyCodec } from "../collapse/mod.ts";
import type { Dial, Resolve, Timers } from "../transport/mod.ts";
import type { CallLimits } from "./call_context.ts";
import type { NamedPolicy } from "./method_table.ts";
import type { BackendEntry } from "./name_watch.ts";
import type { ProxyObserver } from "./observer.ts";
import type { Routing } from "./placement.ts";

export interface ProxyOptions {
  /** At least one. */
  readonly backends: readonly BackendEntry[];
  /** Over TLS, as the `dial` of the environment has it. @default false */
  readonly backendUsesTls?: boolean;
  readonly backendKind: "replicas" | "shards";
  readonly backendRouting: Routing;
  readonly backendConnections: number;
  readonly backendOutlierDetection: boolean;
  readonly backendAdaptiveConcurrency: boolean;
  readonly backendTimeoutMs: number;
  readonly backendConnectTimeoutMs: number;
  readonly backendMaxConcurrent: number;
  readonly backendMaxPending: number;
  readonly cacheDurationMs: number;
  readonly cacheErrors: boolean;
  readonly maxCacheEntries: number;
  readonly maxCacheBytes: number;
  readonly cleanupIntervalMs: number;
  readonly methods: readonly string[];
  readonly invalidate: "service" | "off";
  readonly keyHeaders: readonly string[] | undefined;
  readonly ignoreHeaders: readonly string[];
  readonly mode: "collapse" | "off";
  readonly joinMaxAgeMs: number;
  readonly maxFollowers: number;
  readonly maxMessageBytes: number;
  /**
   * One pool for all backends in place of a wall around each, to measure what the walls are worth: `backendMaxConcurrent`
   * and `backendMaxPending` are then those of all together. @default false
   */
  readonly sharedPool?: boolean;
  /** Whether the backend is asked for its descriptors, where `methods` heeds them. @default false */
  readonly asksDescriptors?: boolean;
  /** What the policy file says of methods. @default none */
  readonly policies?: readonly NamedPolicy[];
}

/** What the proxy is given by whoever runs it. */
export interface ProxyEnvironment {
  readonly timers: Timers;
  readonly dial: Dial;
  readonly resolve: Resolve;
  readonly observer: ProxyObserver;
  readonly codec: KeyCodec;
  readonly random: () => number;
}

/** What each call is held to. */
export function limitsOf(options: ProxyOptions): CallLimits {
  return {
    backendTimeoutMs: options.backendTimeoutMs,
    cacheDurationMs: options.cacheDurationMs,
    cacheErrors: options.cacheErrors,
    maxMessageBytes: options.maxMessageBytes,
    invalidates: options.invalidate === "service",
  };
}
