import { listen, type Listening } from "../../lib/transport/mod.ts";
import { until } from "../support/waiting.ts";
import { SOLE } from "./place.ts";
import { type ServedContext, ServedSession } from "./served_session.ts";

/** The soak's backend in this process: it answers by the key, and every call waits for its last reply at a gate. */
export class KeyedBackend implements AsyncDisposable, ServedContext {
  readonly refused = new Set<string>();
  readonly place = SOLE;
  /** Heads of callers' requests that came. */
  calls = 0;
  /** Calls that wait at the gate. */
  held = 0;
  readonly #gate = Promise.withResolvers<void>();
  readonly #runs = new Map<ServedSession, Promise<void>>();
  readonly #listening: Listening;

  constructor() {
    this.#listening = listen({ hostname: "127.0.0.1", port: 0 }, (socket) => {
      const session = new ServedSession(socket, this);
      this.#runs.set(session, session.run());
    }, (error) => {
      throw error;
    });
  }

  get port(): number {
    return this.#listening.port;
  }

  /** Resolves when so many calls wait. */
  async holds(calls: number): Promise<void> {
    await until(() => this.held === calls, `${calls} calls held at the backend`)
      .catch((error) => Promise.reject(new Error(`${error.message}: ${this.held} are`)));
  }

  /** Lets all go on that wait, and whoever comes. */
  release(): void {
    this.#gate.resolve();
  }

  called(): void {
    this.calls++;
  }

  async atGate(): Promise<void> {
    this.held++;
    await this.#gate.promise;
    this.held--;
  }

  closed(session: ServedSession): void {
    this.#runs.delete(session);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    this.#listening.close();
    const runs = [...this.#runs.values()];
    for (const session of this.#runs.keys()) session.abort();
    await Promise.all(runs);
  }
}
