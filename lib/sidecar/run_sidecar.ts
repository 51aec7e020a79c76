import { type Settings, unixPath } from "../config/mod.ts";
import { createLogger, type Logger } from "../telemetry/mod.ts";
import { clearStaleSocket } from "../transport/mod.ts";
import { BadConfiguration } from "./bad_configuration.ts";
import { type SettingsBackground, type Sidecar, startSidecar } from "./sidecar.ts";

const GOOD = 0;
const FAILED = 1;
const BAD_CONFIGURATION = 64;

/** Where the order to end the process is heard; the command line has it. */
export interface StopSignals {
  /** Has `fn` hear the signal; returns how to stop listening. */
  onSignal(fn: (signal: string) => void): () => void;
  /** Has `fn` hear each SIGHUP, which asks for files to be read anew. */
  onHangUp?(fn: () => void): () => void;
}

/** Runs a sidecar until it is told to end; resolves with the exit code when everything is closed and logged. */
export async function runSidecar(
  settings: Settings,
  { warnings, origins, signals }: SettingsBackground & {
    warnings: readonly string[];
    signals: StopSignals;
  },
): Promise<number> {
  const log = createLogger({ level: settings.logLevel, format: settings.logFormat });
  for (const warning of warnings) log.warn(warning);
  keepUp(log);
  const told = new Promise<string>((resolve) => signals.onSignal(resolve));
  let sidecar: Sidecar | undefined;
  signals.onHangUp?.(() => {
    if (sidecar === undefined) return; // it reads all files now
    const hasOne = sidecar.readPolicyNow();
    log.info(hasOne ? "Reading the policy file anew" : "There is no policy file to read anew", {
      signal: "SIGHUP",
    });
  });
  const path = unixPath(settings.grpcHost);
  if (path !== undefined) await clearStaleSocket(path);
  try {
    sidecar = startSidecar(settings, log, { warnings, ...(origins && { origins }) });
  } catch (error) {
    return await refuse(error, log);
  }
  log.info("Serving", {
    grpc_port: sidecar.grpcPort,
    ...(path === undefined ? {} : { grpc_path: path }),
    metrics_port: sidecar.metricsPort,
    ...(sidecar.adminPort !== sidecar.metricsPort && { admin_port: sidecar.adminPort }),
    backend: settings.backends.map(({ name }) => name).join(","),
    mode: settings.mode,
    methods: settings.methods.join(","),
  });
  const signal = await told;
  log.info("Shutting down", { signal, drain_timeout_ms: settings.drainTimeoutMs });
  const left = await sidecar.stop();
  if (left > 0) log.warn("Ended calls that did not finish in time", { calls: left });
  log.debug("Left behind", { alarms: sidecar.alarms });
  log.info("Stopped");
  await log.flush();
  return GOOD;
}

async function refuse(error: unknown, log: Logger): Promise<number> {
  const isBad = error instanceof BadConfiguration;
  const problems = isBad
    ? error.problems
    : [error instanceof Error ? error.message : String(error)];
  for (const problem of problems) log.error(problem);
  await log.flush();
  return isBad ? BAD_CONFIGURATION : FAILED;
}

/** A fault that escaped all handlers costs a line in the log, not every call of every caller. */
function keepUp(log: Logger): void {
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    log.error("Unhandled rejection", { stack: Deno.inspect(event.reason) });
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    log.error("Uncaught error", { stack: Deno.inspect(event.error) });
  });
}
