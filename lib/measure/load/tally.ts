import { decodeGrpcMessage, STATUS } from "../../grpc/mod.ts";
import type { ClientCall } from "../client/mod.ts";
import { Histogram } from "../report/mod.ts";

/** Counts how calls ended. */
export class Tally {
  /** Calls by gRPC status. */
  readonly statuses = new Map<number, number>();
  /** Calls by what the sidecar said of them (`x-collapser`); a call of which nothing was said is not here. */
  readonly outcomes = new Map<string, number>();
  /** Latency of the calls that were answered with OK: failures are quick or slow for reasons of their own. */
  readonly latency = new Histogram();
  ended = 0;
  /** Time of the last call's end, by the client's clock. */
  lastMs = -Infinity;
  /** Message of the first failure of each status. */
  readonly messages = new Map<number, string>();

  /** Calls that ended with anything but OK. */
  get failed(): number {
    return this.ended - this.succeeded;
  }

  get succeeded(): number {
    return this.statuses.get(STATUS.ok) ?? 0;
  }

  add(call: ClientCall): void {
    this.#count(call.status, call.message);
    if (call.endedMs > this.lastMs) this.lastMs = call.endedMs;
    if (call.outcome !== "") {
      this.outcomes.set(call.outcome, (this.outcomes.get(call.outcome) ?? 0) + 1);
    }
    if (call.status === STATUS.ok) this.latency.record(call.latencyMs);
  }

  /** Counts a call that was due and not made. */
  addRefused(why: string): void {
    this.#count(STATUS.resourceExhausted, why);
  }

  outcome(name: string): number {
    return this.outcomes.get(name) ?? 0;
  }

  #count(status: number, message: string): void {
    this.ended++;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status !== STATUS.ok && message !== "" && !this.messages.has(status)) {
      this.messages.set(status, decodeGrpcMessage(message));
    }
  }
}
