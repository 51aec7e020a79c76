import { MAX_BACKEND_CONNECTIONS, type Settings } from "../config/mod.ts";
import type { ProxyOptions } from "../proxy/mod.ts";

/** What the proxy is told: the settings as they are, but for `mode`, of which the proxy knows two. */
export function proxyOptions(settings: Settings): ProxyOptions {
  return {
    ...settings,
    backendMaxConnections: MAX_BACKEND_CONNECTIONS,
  };
}
