import type { BackendCounters } from "../observe/mod.ts";
import type { Exchange } from "./exchange.ts";
import { GradientLimit } from "./gradient_limit.ts";
import { PendingQueue } from "./pending_queue.ts";

export interface BulkheadOptions {
  /** Calls under way at once (BACKEND_MAX_CONCURRENT). */
  readonly maxConcurrent: number;
  /** Calls that wait (BACKEND_MAX_PENDING). */
  readonly maxPending: number;
  /** Whether the calls under way are bounded by how long answers take, too (BACKEND_ADAPTIVE_CONCURRENCY). */
  readonly adapts?: boolean;
}

/** The wall around one backend (its bulkhead): the places for calls under way, and the queue for a place. */
export class Bulkhead {
  #counters: BackendCounters;
  #options: BulkheadOptions;
  #adaptive: GradientLimit | undefined;
  #queue = new PendingQueue();
  /** Calls of the methods whose number the policy bounds. */
  #byMethod = new Map<string, number>();

  constructor(options: BulkheadOptions, counters: BackendCounters) {
    this.#options = options;
    this.#counters = counters;
    this.#adaptive = options.adapts ? new GradientLimit(options.maxConcurrent) : undefined;
    counters.limit = this.#limit;
  }

  // ---- places

  get hasPlace(): boolean {
    return this.#counters.inflight < this.#limit;
  }

  /** A call that streams, or that the sidecar makes by itself, needs no place. */
  admits(exchange: Exchange): boolean {
    return exchange.streaming || exchange.isProbe || this.hasPlace;
  }

  /** Whether the policy allows one more call of its method. */
  admitsMethod({ target, streaming }: Exchange): boolean {
    const { path, policy: { maxConcurrent } } = target.method;
    return maxConcurrent === undefined || streaming ||
      (this.#byMethod.get(path) ?? 0) < maxConcurrent;
  }

  enter(exchange: Exchange): void {
    if (exchange.streaming || exchange.isProbe) return;
    this.#countMethod(exchange);
    exchange.counted = true;
    this.#counters.inflight++;
  }

  /** It was answered. */
  observe(exchange: Exchange, nowMs: number): void {
    if (this.#adaptive === undefined || !exchange.counted) return;
    this.#adaptive.observe(nowMs - exchange.startedMs, this.#counters.inflight, nowMs);
    this.#counters.limit = this.#limit;
  }

  /** It has ended, or began to stream: its place is free. */
  leave(exchange: Exchange): void {
    this.#uncountMethod(exchange);
    if (!exchange.counted) return;
    exchange.counted = false;
    this.#counters.inflight--;
  }

  #countMethod(exchange: Exchange): void {
    const { path, policy } = exchange.target.method;
    if (policy.maxConcurrent === undefined || exchange.countedByMethod) return;
    exchange.countedByMethod = true;
    this.#byMethod.set(path, (this.#byMethod.get(path) ?? 0) + 1);
  }

  #uncountMethod(exchange: Exchange): void {
    if (!exchange.countedByMethod) return;
    exchange.countedByMethod = false;
    const { path } = exchange.target.method;
    const left = this.#byMethod.get(path)! - 1;
    if (left > 0) this.#byMethod.set(path, left);
    else this.#byMethod.delete(path);
  }

  get #limit(): number {
    return this.#adaptive?.limit ?? this.#options.maxConcurrent;
  }

  // ---- the queue

  get isQueueFull(): boolean {
    return this.#queue.size >= this.#options.maxPending;
  }

  /** Who has waited longest. */
  get first(): Exchange | undefined {
    return this.#queue.first;
  }

  /** Those that wait now, so that they may leave while one goes through them. */
  waiting(): Exchange[] {
    return this.#queue.all();
  }

  wait(exchange: Exchange): void {
    this.#countMethod(exchange);
    this.#queue.add(exchange);
    this.#counters.pending = this.#queue.size;
  }

  stopWaiting(exchange: Exchange): void {
    if (!exchange.counted) this.#uncountMethod(exchange); // else it was sent, and goes on to count
    this.#queue.remove(exchange);
    this.#counters.pending = this.#queue.size;
  }
}
