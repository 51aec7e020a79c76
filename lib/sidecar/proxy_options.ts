import type { Backend, Settings } from "../config/mod.ts";
import type { ProxyOptions } from "../proxy/mod.ts";

/** What the proxy needs of the settings. */
export function proxyOptions(settings: Settings): ProxyOptions {
  const [backend] = settings.backends;
  if (backend === undefined) {
    throw new Error("Cannot start without a backend: the settings were not checked");
  }
  return {
    backend: { name: backend.name, address: addressOf(backend), usesTls: settings.backendUseTls },
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

function addressOf({ kind, host, port, path }: Backend): ProxyOptions["backend"]["address"] {
  return kind === "unix" ? { host, port, path } : { host, port };
}
