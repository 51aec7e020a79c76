import type { Settings } from "../config/mod.ts";
import type { ProxyOptions } from "../proxy/mod.ts";

/** What the proxy needs of the settings. */
export function proxyOptions(settings: Settings): ProxyOptions {
  if (settings.backends.length === 0) {
    throw new Error("Cannot start without a backend: the settings were not checked");
  }
  return {
    backends: settings.backends,
    backendUseTls: settings.backendUseTls,
    backendKind: settings.backendKind,
    backendRouting: settings.backendRouting,
    backendConnections: settings.backendConnections,
    backendOutlierDetection: settings.backendOutlierDetection,
    backendAdaptiveConcurrency: settings.backendAdaptiveConcurrency,
    backendTimeoutMs: settings.backendTimeoutMs,
    backendConnectTimeoutMs: settings.backendConnectTimeoutMs,
    backendMaxConcurrent: settings.backendMaxConcurrent,
    backendMaxPending: settings.backendMaxPending,
    cacheDurationMs: settings.cacheDurationMs,
    cacheErrors: settings.cacheErrors,
    maxCacheEntries: settings.maxCacheEntries,
    maxCacheBytes: settings.maxCacheBytes,
    cleanupIntervalMs: settings.cleanupIntervalMs,
    methods: settings.methods,
    invalidate: settings.invalidate,
    keyHeaders: settings.keyHeaders,
    ignoreHeaders: settings.ignoreHeaders,
    mode: settings.mode === "off" ? "off" : "collapse",
    joinMaxAgeMs: settings.joinMaxAgeMs,
    maxFollowers: settings.maxFollowers,
    maxMessageBytes: settings.maxMessageBytes,
  };
}
