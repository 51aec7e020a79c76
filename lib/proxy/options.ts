import type { ClusterOptions } from "../balance/mod.ts";
import type { KeyCodec } from "../collapse/mod.ts";
import type { CallLimits, NamedPolicy } from "../downstream/mod.ts";
import type { ProxyObserver } from "../observe/mod.ts";
import type { Dial, Resolve, Timers } from "../transport/mod.ts";

/** What the data plane is told; a setting that `config` reads has its name there. */
export interface ProxyOptions extends ClusterOptions {
  /** Over TLS, as the `dial` of the environment has it. @default false */
  readonly backendUsesTls?: boolean;
  readonly backendTimeoutMs: number;
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
