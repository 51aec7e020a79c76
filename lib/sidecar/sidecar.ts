import { type Admin, startAdmin } from "../admin/mod.ts";
import { type Settings, VERSION } from "../config/mod.ts";
import { Proxy } from "../proxy/mod.ts";
import { createMetrics, type Logger, loggingObserver, type Metrics } from "../telemetry/mod.ts";
import { dialTcp, listen, type Listening, Timers } from "../transport/mod.ts";
import { KEY_CODEC } from "./key_codec.ts";
import { proxyOptions } from "./proxy_options.ts";

/** A running sidecar. */
export interface Sidecar {
  /** Port that callers connect to. */
  readonly grpcPort: number;
  /** Port of /metrics, /health and /ready. */
  readonly metricsPort: number;
  readonly proxy: Proxy;
  /**
   * Ends it in order: not ready at once, after `drainDelayMs` GOAWAY to every caller, calls in flight finish within
   * `drainTimeoutMs`, what is left ends with 14. Returns how many calls that were.
   */
  stop(): Promise<number>;
}

/** Opens the ports and begins to serve. Throws what the system says when a port cannot be had, with nothing left open. */
export function startSidecar(settings: Settings, log: Logger): Sidecar {
  const timers = new Timers();
  const proxy = new Proxy(proxyOptions(settings), {
    timers,
    dial: dialTcp,
    observer: loggingObserver(log),
    codec: KEY_CODEC,
    random: Math.random,
  });
  const metrics = createMetrics({
    counters: proxy.counters,
    inflight: () => proxy.map.flying,
    waiters: () => proxy.map.waiting,
    cachedResults: () => proxy.map.stored.entries,
    cachedBytes: () => proxy.map.stored.bytes,
    version: VERSION,
  });
  const opened = openPorts(settings, { proxy, metrics, log, timers });
  proxy.open();
  return {
    grpcPort: opened.listening.port,
    metricsPort: opened.admin.port,
    proxy,
    stop: () => stopSidecar(settings, { ...opened, proxy, metrics, timers }),
  };
}

function openPorts(
  settings: Settings,
  parts: { proxy: Proxy; metrics: Metrics; log: Logger; timers: Timers },
): { listening: Listening; admin: Admin } {
  const { proxy, metrics, log, timers } = parts;
  let listening: Listening | undefined;
  try {
    listening = listen(
      { hostname: settings.grpcHost, port: settings.grpcPort },
      (socket, remote) => void proxy.serve(socket, remote),
      (error) => log.warn("Cannot accept a connection", { error: error.message }),
    );
    const admin = startAdmin({
      hostname: settings.metricsHost,
      port: settings.metricsPort,
      metrics,
      readiness: () => proxy.readiness,
      log,
    });
    return { listening, admin };
  } catch (error) {
    listening?.close();
    metrics.stop();
    proxy.close();
    timers.stop();
    throw new Error(portTrouble(settings, { grpcIsOpen: listening !== undefined, error }), {
      cause: error,
    });
  }
}

async function stopSidecar(
  settings: Settings,
  parts: { listening: Listening; admin: Admin; proxy: Proxy; metrics: Metrics; timers: Timers },
): Promise<number> {
  const { listening, admin, proxy, metrics, timers } = parts;
  proxy.announceEnd();
  if (settings.drainDelayMs > 0) {
    await new Promise((resolve) => setTimeout(resolve, settings.drainDelayMs));
  }
  listening.close();
  const left = await proxy.drain(settings.drainTimeoutMs);
  await admin.close();
  metrics.stop();
  timers.stop();
  return left;
}

function portTrouble(
  settings: Settings,
  { grpcIsOpen, error }: { grpcIsOpen: boolean; error: unknown },
): string {
  const [variable, host, port] = grpcIsOpen
    ? ["METRICS_PORT", settings.metricsHost, settings.metricsPort]
    : ["GRPC_PORT", settings.grpcHost, settings.grpcPort];
  const why = error instanceof Error ? error.message : String(error);
  return `Cannot listen on ${host} port ${port}: ${why}; set ${variable} to a free port`;
}
