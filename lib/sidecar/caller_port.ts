import type { Settings } from "../config/mod.ts";
import type { Proxy } from "../proxy/mod.ts";
import type { Logger } from "../telemetry/mod.ts";
import type { CertificateWatch, Listening } from "../transport/mod.ts";
import { listenForCallers } from "./callers.ts";

/** How long until the port is asked for again that somebody else has taken in the meantime. */
const AGAIN_MS = 200;

/** What listening for callers takes. */
export interface CallerPortParts {
  readonly proxy: Proxy;
  readonly certificates: CertificateWatch | undefined;
  readonly log: Logger;
}

/**
 * Where callers connect. The port is closed while callers are better off elsewhere, so that a connection is refused at
 * once, which every client and load balancer understands, and is opened again afterwards: the same one, also where the
 * system chose it.
 */
export class CallerPort {
  readonly port: number;
  readonly #settings: Settings;
  readonly #parts: CallerPortParts;
  #listening: Listening | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #isClosed = false;

  /** Opens the port. Throws what the system says when it cannot be had. */
  constructor(settings: Settings, parts: CallerPortParts) {
    this.#parts = parts;
    this.#listening = listenForCallers(settings, parts);
    this.port = this.#listening.port;
    this.#settings = { ...settings, grpcPort: this.port };
  }

  /** Whether callers are let in, from now on. */
  welcome(isWelcome: boolean): void {
    if (this.#isClosed) return;
    const { log } = this.#parts;
    if (isWelcome) this.#open();
    else {
      log.warn("Sending callers elsewhere: the only backend is gone, and nobody new is let in");
      this.#shut();
    }
  }

  /** Lets nobody in any more; connections that were accepted live on. */
  close(): void {
    this.#isClosed = true;
    this.#shut();
  }

  #shut(): void {
    clearTimeout(this.#timer);
    this.#listening?.close();
    this.#listening = undefined;
  }

  #open(): void {
    const { log } = this.#parts;
    clearTimeout(this.#timer);
    if (this.#listening !== undefined) return;
    try {
      this.#listening = listenForCallers(this.#settings, this.#parts);
      log.info("Letting callers in again");
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      log.error("Cannot let callers in again yet", { error: why });
      this.#timer = setTimeout(() => this.#open(), AGAIN_MS);
    }
  }
}
