import type { ClusterOptions } from "../balance/mod.ts";
import type { CollapseLimits, KeyCodec } from "../collapse/mod.ts";
import type { TrialOptions } from "../trial/mod.ts";
import type { AgeOptions, CallLimits, CommonSettings, NamedPolicy } from "../downstream/mod.ts";
import type { ProxyObserver } from "../observe/mod.ts";
import type { Dial, Resolve, Timers } from "../transport/mod.ts";

/**
 * What the data plane is told: the options of its rooms, and its own. A setting has the name that the option table of
 * `config` gives it, so settings are handed on as they are.
 */
export interface ProxyOptions
  extends ClusterOptions, CollapseLimits, CommonSettings, CallLimits, AgeOptions, TrialOptions {
  /** Whether `dial` of the environment speaks TLS, and backends are told so (BACKEND_USE_TLS). */
  readonly backendUseTls: boolean;
  /** How often expired results are swept (COLLAPSER_CLEANUP_INTERVAL). */
  readonly cleanupIntervalMs: number;
  /** Which methods collapse: a base and exclusions, or a list of patterns (COLLAPSER_METHODS). */
  readonly methods: readonly string[];
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
  /** Told whether callers' connections are taken: they are not while the only backend is gone. @default nobody */
  readonly onGate?: (isOpen: boolean) => void;
}
