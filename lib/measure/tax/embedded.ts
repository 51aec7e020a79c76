import { type Sidecar, startSidecar } from "../../sidecar/mod.ts";
import { createLogger } from "../../telemetry/mod.ts";
import type { DemoBackend } from "../demo/mod.ts";
import type { EmbeddedParts, TaxTarget } from "./options.ts";

const LOOPBACK = "127.0.0.1";

/** A backend and a sidecar in this process, ready to be measured. */
export interface Embedded {
  readonly direct: TaxTarget;
  readonly proxies: readonly TaxTarget[];
  /** Cuts the backend off; to be called before its clients close (see `runDemo`). */
  killBackend(): void;
  stop(): Promise<void>;
}

/** The backend answers at once: what the hop costs is not to drown in what the backend takes. */
export async function startEmbedded(parts: EmbeddedParts): Promise<Embedded> {
  const backend: DemoBackend = await parts.startBackend({ host: LOOPBACK, port: 0, delayMs: 0 });
  const log = createLogger({ level: "error", format: "console" });
  let sidecar: Sidecar;
  try {
    sidecar = startSidecar(parts.settingsFor({ host: LOOPBACK, port: backend.port }), log);
  } catch (error) {
    backend.kill();
    throw error;
  }
  return {
    direct: { name: "direct", address: { host: LOOPBACK, port: backend.port } },
    proxies: [{ name: "collapser", address: { host: LOOPBACK, port: sidecar.grpcPort } }],
    killBackend: () => backend.kill(),
    async stop() {
      await sidecar.stop();
      await log.flush();
    },
  };
}
