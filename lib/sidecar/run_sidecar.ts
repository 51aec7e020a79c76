import type { Settings } from "../config/mod.ts";
import { createLogger } from "../telemetry/mod.ts";
import { type Sidecar, startSidecar } from "./sidecar.ts";

const GOOD = 0;
const FAILED = 1;

/** Who tells the process to end; the command line has it. */
export interface StopSignals {
  /** Returns how to stop listening. */
  onSignal(fn: (signal: string) => void): () => void;
}

/** Runs a sidecar until it is told to end; resolves with the exit code when everything is closed and logged. */
export async function runSidecar(
  settings: Settings,
  { warnings, signals }: { warnings: readonly string[]; signals: StopSignals },
): Promise<number> {
  const log = createLogger({ level: settings.logLevel, format: settings.logFormat });
  for (const warning of warnings) log.warn(warning);
  keepUp(log);
  const told = new Promise<string>((resolve) => signals.onSignal(resolve));
  let sidecar: Sidecar;
  try {
    sidecar = startSidecar(settings, log);
  } catch (error) {
    log.error(error instanceof Error ? error.message : String(error));
    await log.flush();
    return FAILED;
  }
  log.info("Serving", {
    grpc_port: sidecar.grpcPort,
    metrics_port: sidecar.metricsPort,
    backend: settings.backends.map(({ name }) => name).join(","),
    mode: settings.mode,
    methods: settings.methods.join(","),
  });
  const signal = await told;
  log.info("Shutting down", { signal, drain_timeout_ms: settings.drainTimeoutMs });
  const left = await sidecar.stop();
  if (left > 0) log.warn("Ended calls that did not finish in time", { calls: left });
  log.info("Stopped");
  await log.flush();
  return GOOD;
}

/** A fault that escaped all handlers costs a line in the log, not every call of every caller. */
function keepUp(log: ReturnType<typeof createLogger>): void {
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    log.error("Unhandled rejection", { stack: Deno.inspect(event.reason) });
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    log.error("Uncaught error", { stack: Deno.inspect(event.error) });
  });
}
