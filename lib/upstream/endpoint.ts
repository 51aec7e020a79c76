import { ConnectionPool, type PoolOptions, type PoolOwner } from "./connection_pool.ts";
import type { UpstreamContext } from "./upstream_context.ts";
import type { UpstreamSession } from "./upstream_session.ts";
import type { BackendCounters } from "../observe/mod.ts";
import { type Backend, type Exchange, NO_DEADLINE } from "./exchange.ts";
import type { Failure } from "./failure.ts";
import type { BackendReport } from "./report.ts";
import { RetryBudget } from "./retry_budget.ts";
import type { SharedPool } from "./shared_pool.ts";
import { Bulkhead, type BulkheadOptions } from "./bulkhead.ts";

/** Times a call that provably reached nobody is sent: the second time settles it (gRFC A6). */
const MAX_ATTEMPTS = 2;

export interface EndpointOptions extends PoolOptions, BulkheadOptions {
  readonly name: string;
  /** Takes the place of a wall of its own. */
  readonly pool?: SharedPool | undefined;
}

/** Whoever has several endpoints. */
export interface EndpointGroup {
  /** A call of the endpoint's has ended. */
  ended(endpoint: Endpoint, exchange: Exchange, nowMs: number): void;
  /** The endpoint can be reached, or no longer. */
  reaches(endpoint: Endpoint): void;
  /** Another one may take a call that `from` was not sent, or did not look at. Returns whether one has. */
  takesOver(exchange: Exchange, from: Endpoint): boolean;
}

/** One backend at one address, and the wall around it: calls under way, calls waiting, calls refused. */
export class Endpoint implements Backend, PoolOwner {
  readonly name: string;
  readonly counters: BackendCounters;
  /** It could not be reached, or not any more, and that is known. */
  isDown = false;
  #group: EndpointGroup | undefined;
  #budget = new RetryBudget();
  #context: UpstreamContext;
  #links: ConnectionPool;
  #wall: Bulkhead;

  /** `group` is whom it belongs to when there are several. */
  constructor(
    options: EndpointOptions,
    context: UpstreamContext,
    { counters, group }: { counters: BackendCounters; group?: EndpointGroup },
  ) {
    this.name = options.name;
    this.counters = counters;
    this.#group = group;
    this.#context = context;
    this.#wall = options.pool?.wall(counters, () => this.#sendWaiting()) ??
      new Bulkhead(options, counters);
    this.#links = new ConnectionPool(this, context, options);
  }

  get trouble(): string {
    return this.#links.trouble;
  }

  get onlyName(): string {
    return this.name;
  }

  reports(): readonly BackendReport[] {
    const { counters, trouble } = this;
    return [{ counters, trouble, standing: "healthy", why: "" }];
  }

  /** Connects, and keeps doing so: readiness must be known before the first call. */
  open(): void {
    this.#links.connect();
  }

  /** Lets go of every connection; calls under way get 14. */
  stop(): void {
    this.#links.stop();
    this.#endWaiting({ kind: "draining" });
  }

  /** Takes no new calls; those it has end in peace, and its connections with them. */
  retire(): void {
    this.handOver();
    this.#links.retire();
    this.#endWaiting({ kind: "unreachable", why: "it is no backend any more" });
  }

  start(exchange: Exchange): void {
    if (!this.#wall.admitsMethod(exchange)) {
      const maxConcurrent = exchange.target.method.policy.maxConcurrent!;
      return this.refuse(exchange, { kind: "methodFull", backend: this.name, maxConcurrent });
    }
    if (this.#send(exchange)) return;
    if (this.#links.isDown) {
      this.refuse(exchange, { kind: "unreachable", why: this.#links.trouble });
    } else if (this.#wall.isQueueFull) {
      this.refuse(exchange, { kind: "pendingFull", backend: this.name });
    } else {
      this.#wall.wait(exchange);
      this.#widen();
    }
  }

  /** Ends a call that it was not sent. */
  refuse(exchange: Exchange, failure: Failure): void {
    const { refused } = this.counters;
    if (failure.kind === "pendingFull") refused.pending_full++;
    else if (failure.kind === "methodFull") refused.method_full++;
    else if (failure.kind === "ejected") refused.ejected++;
    else refused.unreachable++;
    this.#failNow(exchange, failure);
  }

  /** Calls that wait go to another backend where that is possible. */
  handOver(): void {
    for (const exchange of this.#wall.waiting()) {
      this.#wall.stopWaiting(exchange);
      if (!this.#group?.takesOver(exchange, this)) this.#wall.wait(exchange);
    }
  }

  /** Calls that wait are not sent either. */
  refuseWaiting(failure: Failure): void {
    for (const exchange of this.#wall.waiting()) {
      this.#wall.stopWaiting(exchange);
      this.refuse(exchange, failure);
    }
  }

  bodyGrew(exchange: Exchange): void {
    exchange.session?.sendBody(exchange);
    if (!exchange.streaming || !exchange.counted) return;
    this.#wall.leave(exchange);
    this.#sendWaiting();
  }

  cancel(exchange: Exchange, failure: Failure = { kind: "callerGone" }): void {
    if (exchange.ended) return;
    exchange.fail(failure);
    if (exchange.pending) {
      this.#wall.stopWaiting(exchange);
      return;
    }
    exchange.session?.cancel(exchange);
    this.exchangeEnded(exchange);
    this.#sendWaiting();
  }

  // ---- what sessions tell

  sessionHasRoom(session: UpstreamSession): void {
    this.#links.ready(session);
    this.#sendWaiting();
  }

  sessionLeaves(session: UpstreamSession): void {
    this.#links.leave(session);
  }

  sessionClosed(session: UpstreamSession, why: string): void {
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

  poolUp(): void {
    this.counters.up = true;
    this.isDown = false;
    this.#context.observer.backendUp(this.name);
    this.#group?.reaches(this);
  }

  poolInDoubt(why: string): void {
    this.counters.up = false;
    this.#context.observer.backendDown(this.name, why);
    this.#group?.reaches(this);
    this.handOver();
  }

  poolDown(why: string, isNews: boolean): void {
    if (this.counters.up || isNews) this.#context.observer.backendDown(this.name, why);
    this.counters.up = false;
    this.isDown = true;
    this.#group?.reaches(this);
    this.handOver();
    this.#endWaiting({ kind: "unreachable", why });
  }

  repeat(exchange: Exchange, failure: Failure): void {
    exchange.isRefused = false;
    if (exchange.ended) return; // nobody waits for it any more
    if (this.#hasPassed(exchange)) {
      this.#failNow(exchange, { kind: "deadline" });
    } else if (exchange.canRepeat && exchange.attempts < MAX_ATTEMPTS && this.#budget.spend()) {
      this.#wall.leave(exchange);
      exchange.session = undefined;
      exchange.stream = undefined;
      if (!this.#group?.takesOver(exchange, this)) this.start(exchange);
    } else {
      this.#failNow(exchange, failure);
    }
  }

  exchangeStreams(exchange: Exchange): void {
    exchange.streaming = true;
    this.#wall.leave(exchange);
  }

  exchangeEnded(exchange: Exchange): void {
    if (exchange.isProbe) return;
    const nowMs = this.#now();
    if (exchange.failure === undefined) this.#wall.observe(exchange, nowMs);
    this.#wall.leave(exchange);
    this.counters.answers.add(exchange.status);
    this.counters.latency.observe(nowMs - exchange.startedMs);
    this.#group?.ended(this, exchange, nowMs);
  }

  // ---- sending

  /** Sends it if there is room for it now. */
  #send(exchange: Exchange): boolean {
    if (!this.#wall.admits(exchange)) return false;
    const session = this.#links.usable;
    if (session === undefined) return false;
    if (!session.takesHead(exchange)) {
      this.#failNow(exchange, { kind: "headersTooLarge", whose: "request" });
      return true;
    }
    this.#wall.enter(exchange);
    if (!exchange.isProbe) {
      this.counters.calls++;
      this.#budget.earn();
    }
    try {
      session.open(exchange);
    } catch (error) { // of ours: it must cost this call alone
      this.#context.observer.faultOfOurs("sending a call", error);
      session.cancel(exchange);
      this.#failNow(exchange, { kind: "faultOfOurs" });
    }
    return true;
  }

  #sendWaiting(): void {
    let exchange = this.#wall.first;
    for (; exchange !== undefined && this.#send(exchange); exchange = this.#wall.first) {
      this.#wall.stopWaiting(exchange);
    }
    if (exchange !== undefined) this.#widen();
  }

  #widen(): void {
    if (this.#wall.hasPlace) this.#links.widen();
  }

  #failNow(exchange: Exchange, failure: Failure): void {
    exchange.fail(failure);
    if (exchange.attempts > 0) this.exchangeEnded(exchange);
    exchange.tell(this.#now(), this.#context.observer);
  }

  #endWaiting(failure: Failure): void {
    for (let first = this.#wall.first; first !== undefined; first = this.#wall.first) {
      this.#wall.stopWaiting(first);
      this.#failNow(first, failure);
    }
  }

  #hasPassed(exchange: Exchange): boolean {
    return exchange.deadlineMs !== NO_DEADLINE && this.#now() >= exchange.deadlineMs;
  }

  #now(): number {
    return this.#context.timers.nowMs;
  }
}
