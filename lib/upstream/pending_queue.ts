import type { Exchange } from "./exchange.ts";

/** Calls that wait for a backend, in the order they came; leaving from the middle is as cheap as from the front. */
export class PendingQueue {
  /** A Set keeps the order of insertion, and deletes in constant time. */
  #exchanges = new Set<Exchange>();

  get size(): number {
    return this.#exchanges.size;
  }

  get first(): Exchange | undefined {
    return this.#exchanges.values().next().value;
  }

  /** Those that wait now, so that they may leave while one goes through them. */
  all(): Exchange[] {
    return [...this.#exchanges];
  }

  add(exchange: Exchange): void {
    exchange.pending = true;
    this.#exchanges.add(exchange);
  }

  remove(exchange: Exchange): void {
    exchange.pending = false;
    this.#exchanges.delete(exchange);
  }
}
