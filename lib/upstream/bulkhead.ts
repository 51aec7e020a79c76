import type { BackendCounters } from "../observe/mod.ts";
import type { Exchange } from "./exchange.ts";
import { GradientLimit } from "./gradient_limit.ts";
import { HELD_PLACE, NO_PLACE } from "./place.ts";

/** Calls that nobody waits for, under way at once: stale results are fetched anew beside callers' calls, not before them. */
const MAX_BACKGROUND = 8;

/** How large a bulkhead is. */
export interface BulkheadOptions {
  /** Calls under way at once (BACKEND_MAX_CONCURRENT). */
  readonly maxConcurrent: number;
  /** Calls that wait (BACKEND_MAX_PENDING). */
  readonly maxPending: number;
  /** Whether the calls under way are bounded by how long answers take, too (BACKEND_ADAPTIVE_CONCURRENCY). */
  readonly adapts?: boolean;
}

/**
 * The bulkhead around one backend: the places for calls under way, and the queue for a place. A call that streams, or
 * that the sidecar makes by itself, needs no place.
 */
export class Bulkhead {
  readonly #counters: BackendCounters;
  readonly #options: BulkheadOptions;
  readonly #adaptive: GradientLimit | undefined;
  /** Calls that wait for a place, in the order they came; a Set lets go from the middle as cheaply as from the front. */
  readonly #queue = new Set<Exchange>();
  /** Calls that need no place, and wait for a stream on a connection alone. */
  readonly #placeless = new Set<Exchange>();
  /** Calls under way that nobody waits for. */
  #background = 0;
  /** Calls of the methods whose number the policy bounds. */
  readonly #byMethod = new Map<string, number>();

  constructor(options: BulkheadOptions, counters: BackendCounters) {
    this.#options = options;
    this.#counters = counters;
    this.#adaptive = options.adapts ? new GradientLimit(options.maxConcurrent) : undefined;
    counters.limit = this.limit;
  }

  // ---- places

  get hasPlace(): boolean {
    return this.#counters.inflight < this.limit;
  }

  /** Whether the call may be sent now. */
  admits(exchange: Exchange): boolean {
    if (!needsPlace(exchange)) return true;
    return this.hasPlace && (exchange.mayQueue !== "no" || this.#background < MAX_BACKGROUND);
  }

  /** Whether the policy allows one more call of its method. */
  admitsMethod({ target, isStreaming }: Exchange): boolean {
    const { path, policy: { maxConcurrent } } = target.method;
    return maxConcurrent === undefined || isStreaming ||
      (this.#byMethod.get(path) ?? 0) < maxConcurrent;
  }

  /** The call is sent. */
  enter(exchange: Exchange): void {
    this.#stopWaiting(exchange);
    if (!needsPlace(exchange)) return this.#uncountMethod(exchange);
    exchange.place = this.#countsMethod(exchange)
      ? { state: "held", queuedMs: 0, countsForMethod: true }
      : HELD_PLACE;
    if (exchange.mayQueue === "no") this.#background++;
    this.#counters.inflight++;
  }

  /** The call was answered; `latencyMs` is how long that took. */
  observe({ place }: Exchange, latencyMs: number, nowMs: number): void {
    if (this.#adaptive === undefined || place.state !== "held") return;
    this.#adaptive.observe(latencyMs, this.#counters.inflight, nowMs);
    this.#counters.limit = this.limit;
  }

  /** The call needs nothing here any more: it has ended, streams, or goes elsewhere. Returns whether a place is free. */
  leave(exchange: Exchange): boolean {
    this.#stopWaiting(exchange);
    this.#uncountMethod(exchange);
    const { state } = exchange.place;
    exchange.place = NO_PLACE;
    if (state !== "held") return false;
    if (exchange.mayQueue === "no") this.#background--;
    this.#counters.inflight--;
    return true;
  }

  /** Counts the call against what the policy allows of its method, once; returns whether it allows only so many. */
  #countsMethod({ target, place }: Exchange): boolean {
    const { path, policy } = target.method;
    if (policy.maxConcurrent === undefined || place.countsForMethod) return place.countsForMethod;
    this.#byMethod.set(path, (this.#byMethod.get(path) ?? 0) + 1);
    return true;
  }

  #uncountMethod(exchange: Exchange): void {
    const { target, place } = exchange;
    if (!place.countsForMethod) return;
    exchange.place = { ...place, countsForMethod: false };
    const { path } = target.method;
    const left = this.#byMethod.get(path)! - 1;
    if (left > 0) this.#byMethod.set(path, left);
    else this.#byMethod.delete(path);
  }

  /** Places there are now. */
  get limit(): number {
    return this.#adaptive?.limit ?? this.#options.maxConcurrent;
  }

  // ---- the queue

  /** Whether a call may wait. The sidecar's own questions are few and take nobody's turn; what nobody waits for does not. */
  mayWait({ isProbe, mayQueue }: Exchange): boolean {
    return isProbe || mayQueue !== "no" && !this.isQueueFull;
  }

  get isQueueFull(): boolean {
    return this.#counters.pending >= this.#options.maxPending;
  }

  /** The call that goes next: one that needs no place goes before those that do, else who has waited longest. */
  get first(): Exchange | undefined {
    if (this.#queue.size + this.#placeless.size === 0) return undefined; // as nearly always
    return this.#placeless.values().next().value ?? this.#queue.values().next().value;
  }

  /** The calls that wait now, so that they may leave while one goes through them. */
  waiting(): Exchange[] {
    return [...this.#placeless, ...this.#queue];
  }

  wait(exchange: Exchange, nowMs: number): void {
    const isForPlace = needsPlace(exchange);
    const countsForMethod = isForPlace && this.#countsMethod(exchange);
    exchange.place = { state: "queued", queuedMs: nowMs, countsForMethod };
    (isForPlace ? this.#queue : this.#placeless).add(exchange);
    if (!exchange.isProbe) this.#counters.pending++;
  }

  /**
   * The call streams: it gives its place back, or where it waits for one goes before those that need one. Returns whether
   * somebody may be sent for that.
   */
  needsNoPlace(exchange: Exchange): boolean {
    if (exchange.place.state !== "queued") return this.leave(exchange);
    this.#uncountMethod(exchange);
    if (!this.#queue.delete(exchange)) return false;
    this.#placeless.add(exchange);
    return true;
  }

  #stopWaiting(exchange: Exchange): void {
    if (exchange.place.state !== "queued") return;
    exchange.place = { ...exchange.place, state: "none", queuedMs: 0 };
    if (!this.#queue.delete(exchange)) this.#placeless.delete(exchange);
    if (!exchange.isProbe) this.#counters.pending--;
  }
}

/** Whether the call takes a place at all: one that streams, or that the sidecar makes by itself, takes none. */
export function needsPlace({ isStreaming, isProbe }: Exchange): boolean {
  return !isStreaming && !isProbe;
}
