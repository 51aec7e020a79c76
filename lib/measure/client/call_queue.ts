import type { ClientCall } from "./call.ts";

/** Slots at the front that may be empty before the rest is moved up. */
const MAX_GAP = 1_024;

/** Calls that wait for room on a connection, first come first served; those that ended meanwhile are skipped. */
export class CallQueue {
  #calls: (ClientCall | undefined)[] = [];
  #first = 0;

  /** Calls in the queue, ended ones included. */
  get size(): number {
    return this.#calls.length - this.#first;
  }

  add(call: ClientCall): void {
    this.#calls.push(call);
  }

  take(): ClientCall | undefined {
    while (this.#first < this.#calls.length) {
      const call = this.#calls[this.#first]!;
      this.#calls[this.#first++] = undefined;
      if (this.#first === this.#calls.length) this.#reset();
      else if (this.#first >= MAX_GAP && this.#first * 2 > this.#calls.length) this.#moveUp();
      if (!call.ended) return call;
    }
    return undefined;
  }

  /** Empties the queue and returns the calls in it that have not ended. */
  takeAll(): ClientCall[] {
    const calls: ClientCall[] = [];
    for (let call = this.take(); call !== undefined; call = this.take()) calls.push(call);
    return calls;
  }

  #reset(): void {
    this.#calls = [];
    this.#first = 0;
  }

  #moveUp(): void {
    this.#calls = this.#calls.slice(this.#first);
    this.#first = 0;
  }
}
