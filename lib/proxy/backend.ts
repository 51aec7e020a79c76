import type { Address, Dial, Timers, Turn } from "../transport/mod.ts";
import type { HeaderCache } from "../wire/mod.ts";
import { BackendLinks, type LinksOwner } from "./backend_links.ts";
import type { BackendSession } from "./backend_session.ts";
import type { BackendCounters, ProxyCounters } from "./counters.ts";
import { type Exchange, NO_DEADLINE } from "./exchange.ts";
import type { Failure } from "./failure.ts";
import type { ProxyObserver } from "./observer.ts";
import { PendingQueue } from "./pending_queue.ts";

/** Times a call that provably reached nobody is sent: the second time settles it (gRFC A6). */
const MAX_ATTEMPTS = 2;

/** What all backends share. */
export interface BackendContext {
  readonly dial: Dial;
  readonly timers: Timers;
  readonly turn: Turn;
  readonly counters: ProxyCounters;
  readonly observer: ProxyObserver;
  /** Interns what backends answer. */
  readonly replyHeaders: HeaderCache;
  /** For jitter: at least 0, below 1. */
  readonly random: () => number;
}

export interface BackendOptions {
  readonly name: string;
  readonly address: Address;
  /** Longest a connection may take to answer with its SETTINGS (BACKEND_CONNECT_TIMEOUT). */
  readonly connectTimeoutMs: number;
  /** Calls under way at once (BACKEND_MAX_CONCURRENT). */
  readonly maxConcurrent: number;
  /** Calls that wait (BACKEND_MAX_PENDING). */
  readonly maxPending: number;
}

/** Somewhere calls can be sent. */
export interface Backend {
  readonly name: string;
  /** Why no call can be sent now; "" when one can. */
  readonly trouble: string;
  /** Sends the call, now or when there is room; every end is told to the exchange's owner. */
  start(exchange: Exchange): void;
  /** More of the request is there. */
  bodyGrew(exchange: Exchange): void;
  /** Ends it for this reason, by default that nobody waits any more; its owner hears nothing. */
  cancel(exchange: Exchange, failure?: Failure): void;
}

/** One backend at one address, and the wall around it: calls under way, calls waiting, calls refused. */
export class AddressBackend implements Backend, LinksOwner {
  readonly name: string;
  readonly counters: BackendCounters;
  #options: BackendOptions;
  #context: BackendContext;
  #links: BackendLinks;
  #pending = new PendingQueue();

  constructor(options: BackendOptions, context: BackendContext, counters: BackendCounters) {
    this.name = options.name;
    this.counters = counters;
    this.#options = options;
    this.#context = context;
    this.#links = new BackendLinks(this, context, options);
  }

  get trouble(): string {
    return this.#links.trouble;
  }

  /** Connects, and keeps doing so: readiness must be known before the first call. */
  open(): void {
    this.#links.connect();
  }

  /** Lets go of every connection; calls under way get 14. */
  stop(): void {
    this.#links.stop();
    this.#failPending({ kind: "draining" });
  }

  start(exchange: Exchange): void {
    if (this.#send(exchange)) return;
    if (this.#links.isDown) {
      this.counters.refused.unreachable++;
      this.#failNow(exchange, { kind: "unreachable", why: this.#links.trouble });
    } else if (this.#pending.size >= this.#options.maxPending) {
      this.counters.refused.pending_full++;
      this.#failNow(exchange, { kind: "pendingFull", backend: this.name });
    } else {
      this.#pending.add(exchange);
      this.counters.pending = this.#pending.size;
      this.#widen();
    }
  }

  bodyGrew(exchange: Exchange): void {
    exchange.session?.sendBody(exchange);
    if (!exchange.streaming || !exchange.counted) return;
    this.#release(exchange);
    this.#sendPending();
  }

  cancel(exchange: Exchange, failure: Failure = { kind: "callerGone" }): void {
    if (exchange.ended) return;
    exchange.fail(failure);
    if (exchange.pending) {
      this.#pending.remove(exchange);
      this.counters.pending = this.#pending.size;
      return;
    }
    exchange.session?.cancel(exchange);
    this.exchangeEnded(exchange);
    this.#sendPending();
  }

  // ---- what sessions tell

  sessionHasRoom(session: BackendSession): void {
    this.#links.ready(session);
    this.#sendPending();
  }

  sessionLeaves(session: BackendSession): void {
    this.#links.leave(session);
  }

  sessionClosed(session: BackendSession, why: string): void {
    const failure: Failure = this.#links.stopped
      ? { kind: "draining" }
      : { kind: "connectionLost", why };
    for (const stream of [...session.connection.streams()]) {
      const exchange = stream.owner;
      if (exchange === undefined || exchange.ended) continue;
      exchange.fail(failure);
      this.exchangeEnded(exchange);
      exchange.tell(this.#now(), this.#context.observer);
    }
    this.#links.closed(session, why);
  }

  linksUp(): void {
    this.counters.up = true;
    this.#context.observer.backendUp(this.name);
  }

  linksInDoubt(why: string): void {
    this.counters.up = false;
    this.#context.observer.backendDown(this.name, why);
  }

  linksDown(why: string, isNews: boolean): void {
    if (this.counters.up || isNews) this.#context.observer.backendDown(this.name, why);
    this.counters.up = false;
    this.#failPending({ kind: "unreachable", why });
  }

  repeat(exchange: Exchange, failure: Failure): void {
    exchange.isRefused = false;
    if (exchange.ended) return; // nobody waits for it any more
    if (this.#hasPassed(exchange)) {
      this.#failNow(exchange, { kind: "deadline" });
    } else if (exchange.canRepeat && exchange.attempts < MAX_ATTEMPTS) {
      this.#release(exchange);
      exchange.session = undefined;
      exchange.stream = undefined;
      this.start(exchange);
    } else {
      this.#failNow(exchange, failure);
    }
  }

  exchangeStreams(exchange: Exchange): void {
    exchange.streaming = true;
    this.#release(exchange);
  }

  exchangeEnded(exchange: Exchange): void {
    this.#release(exchange);
    this.counters.answers.add(exchange.status);
    this.counters.latency.observe(this.#now() - exchange.startedMs);
  }

  // ---- sending

  /** Sends it if there is room for it now. */
  #send(exchange: Exchange): boolean {
    const { counters } = this;
    if (!exchange.streaming && counters.inflight >= this.#options.maxConcurrent) return false;
    const session = this.#links.usable;
    if (session === undefined) return false;
    if (!session.takesHead(exchange)) {
      this.#failNow(exchange, { kind: "headersTooLarge", whose: "request" });
      return true;
    }
    if (!exchange.streaming) {
      exchange.counted = true;
      counters.inflight++;
    }
    counters.calls++;
    try {
      session.open(exchange);
    } catch (error) { // of ours: it must cost this call alone
      this.#context.observer.faultOfOurs("sending a call", error);
      session.cancel(exchange);
      this.#failNow(exchange, { kind: "faultOfOurs" });
    }
    return true;
  }

  #sendPending(): void {
    while (this.#pending.size > 0) {
      const exchange = this.#pending.first!;
      if (!this.#send(exchange)) break;
      this.#pending.remove(exchange);
    }
    this.counters.pending = this.#pending.size;
    if (this.#pending.size > 0) this.#widen();
  }

  #widen(): void {
    if (this.counters.inflight < this.#options.maxConcurrent) this.#links.widen();
  }

  /** It has ended, or began to stream: its place in the wall is free. */
  #release(exchange: Exchange): void {
    if (!exchange.counted) return;
    exchange.counted = false;
    this.counters.inflight--;
  }

  #failNow(exchange: Exchange, failure: Failure): void {
    exchange.fail(failure);
    if (exchange.attempts > 0) this.exchangeEnded(exchange);
    exchange.tell(this.#now(), this.#context.observer);
  }

  #failPending(failure: Failure): void {
    for (
      let exchange = this.#pending.first;
      exchange !== undefined;
      exchange = this.#pending.first
    ) {
      this.#pending.remove(exchange);
      this.counters.pending = this.#pending.size;
      this.#failNow(exchange, failure);
    }
  }

  #hasPassed(exchange: Exchange): boolean {
    return exchange.deadlineMs !== NO_DEADLINE && this.#now() >= exchange.deadlineMs;
  }

  #now(): number {
    return this.#context.timers.nowMs;
  }
}
