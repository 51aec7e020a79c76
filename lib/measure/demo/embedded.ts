import { type Sidecar, startSidecar } from "../../sidecar/mod.ts";
import { createLogger } from "../../telemetry/mod.ts";
import type { Address } from "../../transport/mod.ts";

const LOOPBACK = "127.0.0.1";

/** A backend that counts. */
export interface DemoBackend {
  readonly port: number;
  /** Calls that have reached the backend since its start. */
  readonly total: number;
  /** Closes the backend and cuts its connections. */
  kill(): void;
}

/** The parts that an embedded backend and its sidecar are made from, since this room can make neither itself. */
export interface EmbeddedParts {
  startBackend(options: { host: string; port: number; delayMs: number }): Promise<DemoBackend>;
  /** Settings of a sidecar on free ports of 127.0.0.1, in front of the backend. */
  settingsFor(backend: Address): Parameters<typeof startSidecar>[0];
}

/** A backend and a sidecar in front of it, both in this process. */
export interface Embedded {
  readonly backend: DemoBackend;
  readonly sidecar: Sidecar;
  /** Address of the backend itself, and that of the sidecar. */
  readonly direct: Address;
  readonly proxied: Address;
  /**
   * Cuts off the backend; to be called before its clients close: told to go away in order, a node:http2 server on
   * Deno 2.9 may end the process.
   */
  killBackend(): void;
  /** Stops the sidecar, once all clients are closed. */
  stop(): Promise<void>;
}

/** Starts backend and sidecar on free ports. The backend takes `delayMs` for an answer. */
export async function startEmbedded(
  parts: EmbeddedParts,
  { delayMs }: { delayMs: number },
): Promise<Embedded> {
  const backend = await parts.startBackend({ host: LOOPBACK, port: 0, delayMs });
  const direct: Address = { host: LOOPBACK, port: backend.port };
  const log = createLogger({ level: "error", format: "console" });
  let sidecar: Sidecar;
  try {
    sidecar = startSidecar(parts.settingsFor(direct), log);
  } catch (error) {
    backend.kill();
    await log.flush();
    throw error;
  }
  return {
    backend,
    sidecar,
    direct,
    proxied: { host: LOOPBACK, port: sidecar.grpcPort },
    killBackend: () => backend.kill(),
    async stop() {
      await sidecar.stop();
      await log.flush();
    },
  };
}
