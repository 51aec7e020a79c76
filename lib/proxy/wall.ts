import type { BackendCounters } from "./counters.ts";
import type { Exchange } from "./exchange.ts";
import { GradientLimit } from "./gradient_limit.ts";
import { PendingQueue } from "./pending_queue.ts";

export interface WallOptions {
  /** Calls under way at once (BACKEND_MAX_CONCURRENT). */
  readonly maxConcurrent: number;
  /** Calls that wait (BACKEND_MAX_PENDING). */
  readonly maxPending: number;
  /** Whether the calls under way are bounded by how long answers take, too (BACKEND_ADAPTIVE_CONCURRENCY). */
  readonly adapts?: boolean;
}

/** The wall around one backend (its bulkhead): the places for calls under way, and the queue for a place. */
export class Wall {
  #counters: BackendCounters;
  #options: WallOptions;
  #adaptive: GradientLimit | undefined;
  #queue = new PendingQueue();

  constructor(options: WallOptions, counters: BackendCounters) {
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

  enter(exchange: Exchange): void {
    if (exchange.streaming || exchange.isProbe) return;
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
    if (!exchange.counted) return;
    exchange.counted = false;
    this.#counters.inflight--;
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
    this.#queue.add(exchange);
    this.#counters.pending = this.#queue.size;
  }

  stopWaiting(exchange: Exchange): void {
    this.#queue.remove(exchange);
    this.#counters.pending = this.#queue.size;
  }
}
