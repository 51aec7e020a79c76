import { type Admin, PagesRefused, startAdmin } from "../admin/mod.ts";
import { COMMIT, type Origin, type PolicyStatus, type Settings, VERSION } from "../config/mod.ts";
import { Proxy } from "../proxy/mod.ts";
import { createMetrics, type Logger, loggingObserver, type Metrics } from "../telemetry/mod.ts";
import { dialPlain, dialTls, resolveHost, Timers } from "../transport/mod.ts";
import { CallerPort } from "./caller_port.ts";
import { callersTrouble } from "./callers.ts";
import { Draining } from "./draining.ts";
import { openFiles, type SidecarFiles } from "./files.ts";
import { KEY_CODEC } from "./key_codec.ts";
import { proxyOptions } from "./proxy_options.ts";

/** Longest that the end waits for what was written to backends, a last RST_STREAM say, to be sent. */
const BACKENDS_CLOSE_MS = 1_000;

/** Where the settings are from, and what is to be said of them: for people who look at the admin page. */
export interface SettingsBackground {
  /** Variable -> where its value is from. */
  readonly origins?: ReadonlyMap<string, Origin>;
  readonly warnings?: readonly string[];
}

/** A running sidecar. */
export interface Sidecar {
  /** Port that callers connect to; 0 when they use a unix socket. */
  readonly grpcPort: number;
  /** Port of /metrics, /health and /ready. */
  readonly metricsPort: number;
  /** Port of the live page and /api: the same unless ADMIN_PORT is another. */
  readonly adminPort: number;
  readonly proxy: Proxy;
  /** Looks at the policy file at once; false when there is none. */
  readPolicyNow(): boolean;
  /** Alarms that are set now: none once the sidecar has stopped, unless one was forgotten. */
  readonly alarms: number;
  /**
   * Ends the sidecar in order: not ready at once, after `drainDelayMs` GOAWAY to every caller, calls in flight finish
   * within `drainTimeoutMs`, what is left ends with 14. Returns how many calls that were.
   */
  stop(): Promise<number>;
}

/** Wishes for a sidecar that no setting leads to. */
export interface SidecarExtras extends SettingsBackground {
  /** Whether the backend is asked for its descriptors, where COLLAPSER_METHODS heeds them. @default true */
  readonly asksDescriptors?: boolean;
  /** One pool for all backends, of the size that the settings give to each. @default false */
  readonly sharedPool?: boolean;
}

/**
 * Opens the ports and begins to serve. Throws {@linkcode BadConfiguration} for files that cannot be used, and
 * what the system says when a port cannot be had, with nothing left open.
 */
export function startSidecar(
  settings: Settings,
  log: Logger,
  { sharedPool = false, asksDescriptors = true, ...background }: SidecarExtras = {},
): Sidecar {
  const timers = new Timers();
  const files = openFiles(settings, { timers, log });
  const { certificates: { backend }, policy } = files;
  const policies = policy?.policies ?? [];
  const extras = { policies, sharedPool, asksDescriptors };
  const proxy = new Proxy({ ...proxyOptions(settings), ...extras }, {
    timers,
    onGate: (isOpen) => opened.port.welcome(isOpen), // not before `open`
    dial: backend === undefined ? dialPlain : dialTls({
      certificates: () => backend.current,
      serverName: settings.backendTlsServerName,
    }),
    resolve: resolveHost,
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
    bufferedBytes: () => proxy.buffered.bytes,
    methodsOff: () => proxy.trial.methods.verified(),
    policy: policy === undefined ? undefined : () => figuresOf(policy.status),
    version: VERSION,
    commit: COMMIT,
  });
  const opened = openPorts(settings, { proxy, metrics, log, timers, files, background });
  policy?.follow((policies) => proxy.setPolicies(policies));
  proxy.open();
  return {
    grpcPort: opened.port.port,
    metricsPort: opened.admin.port,
    adminPort: opened.admin.pagePort,
    proxy,
    readPolicyNow() {
      policy?.readNow();
      return policy !== undefined;
    },
    get alarms() {
      return timers.pending;
    },
    stop: () => stopSidecar({ ...opened, proxy, metrics, timers, files }),
  };
}

function openPorts(
  settings: Settings,
  parts: {
    proxy: Proxy;
    metrics: Metrics;
    log: Logger;
    timers: Timers;
    files: SidecarFiles;
    background: SettingsBackground;
  },
): { draining: Draining; port: CallerPort; admin: Admin } {
  const { proxy, metrics, log, timers, files, background } = parts;
  const { origins = new Map(), warnings = [] } = background;
  let port: CallerPort | undefined;
  try {
    port = new CallerPort(settings, {
      proxy,
      certificates: files.certificates.callers,
      log,
    });
    const draining = new Draining(settings, { proxy, port });
    const admin = startAdmin({
      hostname: settings.metricsHost,
      port: settings.metricsPort,
      ...(hasOwnPages(settings) &&
        { pages: { hostname: settings.adminHost, port: settings.adminPort } }),
      metrics,
      readiness: () => proxy.readiness,
      proxy,
      configuration: { settings, origins, warnings },
      adminToken: () => files.adminToken.current,
      policy: () => files.policy?.status,
      drain: {
        get state() {
          return draining.state;
        },
        begin: () => void draining.run().then((left) => log.info("Drained", { calls_ended: left })),
      },
      version: VERSION,
      commit: COMMIT,
      log,
    });
    return { draining, port, admin };
  } catch (error) {
    port?.close();
    metrics.stop();
    proxy.close();
    void files.stop();
    timers.stop();
    throw new Error(portTrouble(settings, { grpcIsOpen: port !== undefined, error }), {
      cause: error,
    });
  }
}

/** What is counted of the policy file. */
function figuresOf({ file: { problems }, hash, appliedAtMs, taken, refused }: PolicyStatus) {
  return { hash, appliedAtMs, taken, refused, isInForce: problems.length === 0 };
}

/** Whether the page and /api have a listener of their own. */
function hasOwnPages({ adminHost, adminPort, metricsHost, metricsPort }: Settings): boolean {
  return adminPort !== metricsPort || adminHost !== metricsHost;
}

async function stopSidecar(
  parts: {
    draining: Draining;
    admin: Admin;
    proxy: Proxy;
    metrics: Metrics;
    timers: Timers;
    files: SidecarFiles;
  },
): Promise<number> {
  const { draining, admin, proxy, metrics, timers, files } = parts;
  const left = await draining.run();
  await Promise.all([atMost(BACKENDS_CLOSE_MS, proxy.closed), files.stop(), admin.close()]);
  metrics.stop();
  timers.stop();
  return left;
}

/** Resolves with `work`, or when `ms` are over. */
async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, late]);
  clearTimeout(timer);
}

function portTrouble(
  settings: Settings,
  { grpcIsOpen, error }: { grpcIsOpen: boolean; error: unknown },
): string {
  const why = error instanceof Error ? error.message : String(error);
  if (!grpcIsOpen) return callersTrouble(settings, why);
  const { metricsHost, metricsPort, adminHost, adminPort } = settings;
  if (error instanceof PagesRefused) {
    return `Cannot listen on ${adminHost} port ${adminPort}: ${why}; set ADMIN_PORT to a free port`;
  }
  return `Cannot listen on ${metricsHost} port ${metricsPort}: ${why}; set METRICS_PORT to a free port`;
}
