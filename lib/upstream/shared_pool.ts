import type { BackendCounters } from "../observe/mod.ts";
import type { Exchange } from "./exchange.ts";
import { Bulkhead, type BulkheadOptions, needsPlace } from "./bulkhead.ts";

/**
 * One pool of places and one queue for all backends, as proxies have that do not keep backends apart. It is here to be
 * measured against bulkheads (`collapser stall`), and no setting leads to it: a backend that stalls takes every place.
 *
 * The queue is first come first served over all backends, except that a call whose backend cannot be sent anything for
 * reasons of its own (no connection) does not hold up those behind it.
 */
export class SharedPool {
  #options: BulkheadOptions;
  #inflight = 0;
  /** Calls that wait, in the order they came, each with the bulkhead of its backend. */
  #waiting = new Map<Exchange, SharedBulkhead>();
  /** The call whose turn it is to be sent. */
  #turn: Exchange | undefined = undefined;
  #isDealing = false;

  /** `maxConcurrent` and `maxPending` are those of all backends together. */
  constructor(options: BulkheadOptions) {
    this.#options = options;
  }

  /** The bulkhead of one backend; `sendWaiting` sends of those that wait for it what may be sent. */
  bulkhead(counters: BackendCounters, sendWaiting: () => void): Bulkhead {
    return new SharedBulkhead(this, { options: this.#options, counters, sendWaiting });
  }

  // ---- what bulkheads ask and tell

  get hasPlace(): boolean {
    return this.#inflight < this.#options.maxConcurrent;
  }

  get isFull(): boolean {
    return this.#waiting.size >= this.#options.maxPending;
  }

  admits(exchange: Exchange): boolean {
    if (!this.hasPlace) return false;
    if (!isQueued(exchange) && this.#waiting.size === 0 || exchange === this.#turn) return true;
    this.#dealSoon();
    return false;
  }

  entered(): void {
    this.#inflight++;
  }

  left(): void {
    this.#inflight--;
    this.#dealSoon();
  }

  waits(exchange: Exchange, bulkhead: SharedBulkhead): void {
    this.#waiting.set(exchange, bulkhead);
    if (this.hasPlace) this.#dealSoon();
  }

  waitsNoLonger(exchange: Exchange): void {
    this.#waiting.delete(exchange);
  }

  /** Once whoever left is done with leaving: dealing ends and begins calls of other backends. */
  #dealSoon(): void {
    if (this.#isDealing || this.#waiting.size === 0) return;
    this.#isDealing = true;
    queueMicrotask(() => this.#deal());
  }

  #deal(): void {
    const stuck = new Set<SharedBulkhead>();
    for (const [exchange, bulkhead] of [...this.#waiting]) {
      if (!this.hasPlace) break;
      if (stuck.has(bulkhead) || !isQueued(exchange)) continue;
      this.#turn = exchange;
      bulkhead.sendWaiting();
      if (isQueued(exchange)) stuck.add(bulkhead);
    }
    this.#turn = undefined;
    this.#isDealing = false;
  }
}

/** A backend's view of the pool. */
class SharedBulkhead extends Bulkhead {
  readonly sendWaiting: () => void;
  readonly #pool: SharedPool;

  constructor(
    pool: SharedPool,
    parts: { options: BulkheadOptions; counters: BackendCounters; sendWaiting: () => void },
  ) {
    super({ ...parts.options, adapts: false }, parts.counters);
    this.#pool = pool;
    this.sendWaiting = parts.sendWaiting;
  }

  override get hasPlace(): boolean {
    return this.#pool.hasPlace;
  }

  override admits(exchange: Exchange): boolean {
    return !needsPlace(exchange) || this.#pool.admits(exchange);
  }

  override enter(exchange: Exchange): void {
    super.enter(exchange);
    this.#pool.waitsNoLonger(exchange);
    if (exchange.place.state === "held") this.#pool.entered();
  }

  override leave(exchange: Exchange): boolean {
    const wasHeld = super.leave(exchange);
    this.#pool.waitsNoLonger(exchange);
    if (wasHeld) this.#pool.left();
    return wasHeld;
  }

  override get isQueueFull(): boolean {
    return this.#pool.isFull;
  }

  override wait(exchange: Exchange, nowMs: number): void {
    super.wait(exchange, nowMs);
    if (needsPlace(exchange)) this.#pool.waits(exchange, this);
  }

  override needsNoPlace(exchange: Exchange): boolean {
    const isNews = super.needsNoPlace(exchange);
    this.#pool.waitsNoLonger(exchange);
    return isNews;
  }
}

function isQueued({ place }: Exchange): boolean {
  return place.state === "queued";
}
