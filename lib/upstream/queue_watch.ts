import { CallbackAlarm, type Timers } from "../transport/mod.ts";
import { type Bulkhead, needsPlace } from "./bulkhead.ts";
import type { ConnectionPool } from "./connection_pool.ts";
import { type Exchange, NO_DEADLINE } from "./exchange.ts";
import type { Failure } from "./failure.ts";
import type { Lack } from "./place.ts";

/**
 * A reply whose first message has come and that is quiet for so long is a stream, or waits for its own caller. It may
 * last for ever, and needs no place: others wait for it.
 */
const QUIET_MS = 100;

/** What a watch is kept over, and whom it tells. */
export interface Watched {
  readonly options: {
    readonly name: string;
    readonly maxConnections: number;
    /** Longest a call that nobody shares waits to be sent without a deadline (BACKEND_TIMEOUT). */
    readonly queueTimeoutMs: number;
  };
  readonly bulkhead: Bulkhead;
  readonly pool: ConnectionPool;
  readonly timers: Timers;
  sendWaiting(): void;
  refuse(exchange: Exchange, failure: Failure): void;
}

/**
 * Looks after the calls that wait at one backend, while there are any: what they wait for is taken back from calls that
 * may last for ever, and none waits without end or words.
 */
export class QueueWatch {
  readonly #over: Watched;
  readonly #alarm = new CallbackAlarm((nowMs) => this.#look(nowMs));

  constructor(over: Watched) {
    this.#over = over;
  }

  /** What a call that waits is short of. */
  lackOf(exchange: Exchange): Lack {
    const { bulkhead, pool } = this.#over;
    if (needsPlace(exchange) && !bulkhead.hasPlace) return "place";
    return pool.isAtStreamLimit ? "stream" : "connection";
  }

  /** A call waits. */
  begin(): void {
    if (!this.#alarm.isSet) this.#look(this.#over.timers.nowMs); // a place may be had at once
  }

  end(): void {
    this.#over.timers.cancel(this.#alarm);
  }

  /** Why a call that waits is not waited for any longer. */
  inVain(exchange: Exchange): Failure {
    const lack = this.lackOf(exchange);
    const { bulkhead, options: { name: backend, maxConnections }, timers } = this.#over;
    const limit = lack === "place" ? bulkhead.limit : maxConnections;
    return {
      kind: "queueTimeout",
      backend,
      waitedMs: timers.nowMs - exchange.place.queuedMs,
      lack,
      limit,
    };
  }

  #look(nowMs: number): void {
    const { bulkhead, timers, options: { queueTimeoutMs } } = this.#over;
    if (!bulkhead.hasPlace) this.#takeBackPlaces(nowMs);
    this.#over.sendWaiting();
    for (const exchange of bulkhead.waiting()) {
      if (nowMs - exchange.place.queuedMs < queueTimeoutMs) continue;
      const isBounded = exchange.isShared || exchange.deadlineMs !== NO_DEADLINE; // by those who wait
      if (!isBounded) this.#over.refuse(exchange, this.inVain(exchange));
    }
    if (bulkhead.first !== undefined) timers.set(this.#alarm, nowMs + QUIET_MS);
  }

  #takeBackPlaces(nowMs: number): void {
    const { bulkhead, pool } = this.#over;
    for (const session of pool.sessions()) {
      for (const exchange of session.exchanges()) {
        const { place, reply } = exchange;
        const isQuiet = reply.receivedBytes > 0 && nowMs - reply.lastByteMs >= QUIET_MS;
        if (place.state !== "held" || !isQuiet) continue;
        exchange.isStreaming = true;
        bulkhead.leave(exchange);
      }
    }
  }
}
