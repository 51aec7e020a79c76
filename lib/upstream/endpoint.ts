import type { BackendCounters } from "../observe/mod.ts";
import { authorityOf } from "./authority.ts";
import { Bulkhead, type BulkheadOptions, needsPlace } from "./bulkhead.ts";
import { ConnectionPool, type PoolOptions, type PoolOwner } from "./connection_pool.ts";
import type { EndpointGroup } from "./endpoint_group.ts";
import { type Backend, type Exchange, NO_DEADLINE } from "./exchange.ts";
import { type Failure, statusOfFailure } from "./failure.ts";
import type { Lack } from "./place.ts";
import { QueueWatch } from "./queue_watch.ts";
import { refusalReason } from "./refusal.ts";
import type { BackendReport } from "./report.ts";
import { RetryBudget } from "./retry_budget.ts";
import { Settlement } from "./settlement.ts";
import type { SharedPool } from "./shared_pool.ts";
import type { UpstreamContext } from "./upstream_context.ts";
import type { UpstreamSession } from "./upstream_session.ts";

/** Times a call that provably reached nobody is sent: the second time settles it (gRFC A6). */
const MAX_ATTEMPTS = 2;

/** What an endpoint is made with. */
export interface EndpointOptions extends PoolOptions, BulkheadOptions {
  readonly name: string;
  /** Name that the backend's certificate is expected to have, where that is not its address. */
  readonly tlsName?: string | undefined;
  /** Longest a call that nobody shares waits to be sent without a deadline (BACKEND_TIMEOUT). */
  readonly queueTimeoutMs: number;
  /** Takes the place of a bulkhead of the endpoint's own. */
  readonly pool?: SharedPool | undefined;
}

/** One backend at one address, and the bulkhead around it: calls under way, calls waiting, calls refused. */
export class Endpoint implements Backend, PoolOwner {
  readonly name: string;
  readonly counters: BackendCounters;
  /** The address could not be reached, or not any more, and that is known. */
  isDown = false;
  readonly #group: EndpointGroup | undefined;
  readonly #budget = new RetryBudget();
  readonly #context: UpstreamContext;
  readonly #pool: ConnectionPool;
  readonly #bulkhead: Bulkhead;
  readonly #options: EndpointOptions;
  readonly #queueWatch: QueueWatch;
  readonly #settlement: Settlement;
  #onEmpty: (() => void) | undefined = undefined;

  constructor(
    options: EndpointOptions,
    context: UpstreamContext,
    { counters, group }: { counters: BackendCounters; group?: EndpointGroup },
  ) {
    this.name = options.name;
    this.#options = options;
    this.counters = counters;
    this.#group = group;
    this.#context = context;
    this.#bulkhead = options.pool?.bulkhead(counters, () => this.#sendWaiting()) ??
      new Bulkhead(options, counters);
    this.#pool = new ConnectionPool(this, context, options);
    this.#queueWatch = new QueueWatch({
      ...{ options, bulkhead: this.#bulkhead, pool: this.#pool, timers: context.timers },
      sendWaiting: () => this.#sendWaiting(),
      refuse: (exchange, failure) => this.#refuse(exchange, failure),
    });
    this.#settlement = new Settlement({
      ...{ backend: this, counters, group, context },
      ...{ bulkhead: this.#bulkhead, queueWatch: this.#queueWatch },
      sendWaiting: () => this.#sendWaiting(),
    });
  }

  /** What the sidecar's own calls say in `:authority`. */
  get authority(): string {
    return authorityOf(this.#options.address, this.#options.tlsName);
  }

  /** Why no call can be sent now; "" when one can. */
  get trouble(): string {
    return this.#pool.trouble;
  }

  reports(): readonly BackendReport[] {
    return [{ counters: this.counters, trouble: this.trouble, standing: "healthy", why: "" }];
  }

  /** Connects, and keeps doing so: readiness must be known before the first call. */
  open(): void {
    this.#pool.connect();
  }

  /** Lets go of every connection, and resolves when all are gone; calls under way get 14. */
  stop(): Promise<void> {
    this.#queueWatch.end();
    const stopped = this.#pool.stop();
    this.#settleWaiting({ kind: "draining" });
    return stopped;
  }

  /** Takes no new calls; those it has end in peace, and its connections with them: then `onEmpty` hears of it. */
  retire(onEmpty: () => void): void {
    this.#onEmpty = onEmpty;
    this.handOver();
    this.#pool.retire();
    this.#settleWaiting({ kind: "unreachable", why: "it is no backend any more" });
  }

  // ---- calls begin

  start(exchange: Exchange): void {
    exchange.at = this;
    if (this.#bulkhead.admitsMethod(exchange)) return this.#place(exchange);
    const maxConcurrent = exchange.target.method.policy.maxConcurrent!;
    this.#refuse(exchange, { kind: "methodFull", backend: this.name, maxConcurrent });
  }

  /** Takes a call only to refuse it. */
  refuse(exchange: Exchange, failure: Failure): void {
    exchange.at = this;
    this.#refuse(exchange, failure);
  }

  /** Sends the call, or lets it wait, or refuses it. Whoever waits comes first, but for one that had its turn before. */
  #place(exchange: Exchange): void {
    const isOnTurn = this.#bulkhead.first === undefined || !needsPlace(exchange) ||
      exchange.attempts > 0;
    if (isOnTurn && this.#send(exchange)) return;
    if (this.#pool.isDown) {
      this.#refuse(exchange, { kind: "unreachable", why: this.#pool.trouble });
    } else if (!this.#bulkhead.mayWait(exchange)) {
      this.#refuse(exchange, { kind: "pendingFull", backend: this.name });
    } else {
      this.#bulkhead.wait(exchange, this.#nowMs);
      exchange.bodyMoved(); // all of it waits, also when it had gone out before
      this.#queueWatch.begin();
      this.#grow();
    }
  }

  lackOf(exchange: Exchange): Lack {
    return this.#queueWatch.lackOf(exchange);
  }

  /** Sends the call if there is room for it now. */
  #send(exchange: Exchange): boolean {
    if (!this.#bulkhead.admits(exchange)) return false;
    const session = this.#pool.usable;
    if (session === undefined) return false;
    if (!session.takesHead(exchange)) {
      this.settle(exchange, { kind: "headersTooLarge", whose: "request" });
      return true;
    }
    this.#bulkhead.enter(exchange);
    if (!exchange.isProbe) {
      this.counters.calls++;
      this.#budget.earn();
    }
    try {
      session.open(exchange);
    } catch (error) { // of ours: it must cost this call alone
      this.#context.observer.faultOfOurs("sending a call", error);
      this.settle(exchange, { kind: "faultOfOurs" });
    }
    return true;
  }

  #sendWaiting(): void {
    let exchange = this.#bulkhead.first;
    while (exchange !== undefined && this.#send(exchange)) exchange = this.#bulkhead.first;
    if (exchange !== undefined) this.#grow();
  }

  #grow(): void {
    const { first, hasPlace } = this.#bulkhead;
    if (hasPlace || first !== undefined && !needsPlace(first)) this.#pool.grow();
  }

  bodyGrew(exchange: Exchange): void {
    exchange.attempt?.sendBody();
    if (exchange.isStreaming && exchange.place.state !== "none") this.exchangeStreams(exchange);
  }

  // ---- calls end

  cancel(exchange: Exchange): void {
    exchange.disown();
    this.settle(exchange, { kind: "callerGone" });
  }

  settle(exchange: Exchange, failure?: Failure): void {
    this.#settlement.settle(exchange, failure);
  }

  reasonFor(exchange: Exchange, failure: Failure): Failure {
    return this.#settlement.reasonFor(exchange, failure);
  }

  #refuse(exchange: Exchange, failure: Failure): void {
    if (!exchange.isProbe && exchange.mayQueue !== "no") {
      this.counters.refused[refusalReason(failure)]++;
      this.#context.observer.turnedAway(this.name, statusOfFailure(failure).message);
    }
    this.settle(exchange, failure);
  }

  /** Calls that wait go to another endpoint where that is possible. */
  handOver(): void {
    for (const exchange of this.#bulkhead.waiting()) {
      const next = this.#elsewhere(exchange);
      if (next !== undefined) this.#settlement.moveOn(exchange, next);
    }
  }

  /** Where else a call may go; a question about this backend is nobody else's to answer. */
  #elsewhere(exchange: Exchange) {
    return exchange.isProbe ? undefined : this.#group?.elsewhere(exchange);
  }

  #settleWaiting(failure: Failure): void {
    for (const exchange of this.#bulkhead.waiting()) this.settle(exchange, failure);
  }

  refuseWaiting(failure: Failure): void {
    for (const exchange of this.#bulkhead.waiting()) this.#refuse(exchange, failure);
  }

  // ---- what sessions tell

  sessionHasRoom(session: UpstreamSession): void {
    this.#pool.ready(session);
    this.#sendWaiting();
  }

  sessionLeaves(session: UpstreamSession): void {
    this.#pool.leave(session);
  }

  sessionClosed(session: UpstreamSession, why: string): void {
    const failure: Failure = this.#pool.stopped
      ? { kind: "draining" }
      : { kind: "connectionLost", why };
    for (const exchange of session.exchanges()) this.settle(exchange, failure);
    this.#pool.closed(session, why);
  }

  repeat(exchange: Exchange, failure: Failure): void {
    if (exchange.at !== this) return; // nobody waits for it any more
    if (exchange.deadlineMs !== NO_DEADLINE && this.#nowMs >= exchange.deadlineMs) {
      this.settle(exchange, { kind: "deadline" });
    } else if (exchange.canRepeat && exchange.attempts < MAX_ATTEMPTS && this.#budget.spend()) {
      this.#settlement.moveOn(exchange, this.#elsewhere(exchange) ?? this);
    } else {
      this.settle(exchange, failure);
    }
  }

  exchangeAnswers(exchange: Exchange): void {
    if (!exchange.isProbe) this.#group?.answers(exchange);
  }

  exchangeStreams(exchange: Exchange): void {
    exchange.isStreaming = true;
    if (this.#bulkhead.needsNoPlace(exchange)) this.#sendWaiting();
  }

  // ---- what the pool tells

  poolEmptied(): void {
    this.#onEmpty?.();
  }

  poolUp(): void {
    this.counters.up = true;
    this.isDown = false;
    this.#context.observer.backendUp(this.name);
    this.#group?.reaches();
  }

  poolInDoubt(why: string): void {
    this.#losesTouch(why, true, true);
  }

  poolDown(why: string, isNews: boolean): void {
    this.isDown = true;
    this.#losesTouch(why, isNews || this.counters.up, this.#pool.isRefused);
    this.#settleWaiting({ kind: "unreachable", why });
  }

  #losesTouch(why: string, isNews: boolean, isRefused: boolean): void {
    if (isNews) this.#context.observer.backendDown(this.name, why);
    if (isRefused) this.#context.observer.backendUnreachable?.(this.name);
    this.counters.up = false;
    this.#group?.reaches();
    this.handOver();
  }

  get #nowMs(): number {
    return this.#context.timers.nowMs;
  }
}
