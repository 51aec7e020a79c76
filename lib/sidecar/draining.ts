import type { Settings } from "../config/mod.ts";
import type { Proxy } from "../proxy/mod.ts";
import type { CallerPort } from "./caller_port.ts";

/** How far a sidecar is on its way out. */
export type DrainState = "serving" | "draining" | "drained";

/**
 * The drain, which happens once, whoever asks for it first: a preStop hook by the admin port, or a signal. Not ready at
 * once; after `drainDelayMs` nobody new is let in and every caller is told to go; calls in flight finish within
 * `drainTimeoutMs`, and what is left ends with 14.
 */
export class Draining {
  readonly #settings: Pick<Settings, "drainDelayMs" | "drainTimeoutMs">;
  readonly #proxy: Proxy;
  readonly #port: CallerPort;
  #state: DrainState = "serving";
  #left: Promise<number> | undefined = undefined;

  constructor(
    settings: Pick<Settings, "drainDelayMs" | "drainTimeoutMs">,
    { proxy, port }: { proxy: Proxy; port: CallerPort },
  ) {
    this.#settings = settings;
    this.#proxy = proxy;
    this.#port = port;
  }

  get state(): DrainState {
    return this.#state;
  }

  /** Begins, if nobody has, and resolves with how many calls had to be ended once all callers are gone. */
  run(): Promise<number> {
    return this.#left ??= this.#run();
  }

  async #run(): Promise<number> {
    const { drainDelayMs, drainTimeoutMs } = this.#settings;
    this.#state = "draining";
    this.#proxy.announceEnd();
    if (drainDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, drainDelayMs));
    this.#port.close();
    const left = await this.#proxy.drain(drainTimeoutMs);
    this.#state = "drained";
    return left;
  }
}
