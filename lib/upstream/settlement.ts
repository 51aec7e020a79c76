import type { BackendCounters } from "../observe/mod.ts";
import { ERROR_CODE } from "../wire/mod.ts";
import type { Bulkhead } from "./bulkhead.ts";
import type { EndpointGroup } from "./endpoint_group.ts";
import { type Backend, type Exchange, NO_DEADLINE } from "./exchange.ts";
import type { Failure } from "./failure.ts";
import type { QueueWatch } from "./queue_watch.ts";
import type { UpstreamContext } from "./upstream_context.ts";

/** A backend whose clock runs ahead of ours ends a call this much before its deadline, as we count it. */
const DEADLINE_SLACK_MS = 50;

/** Whoever has a stake in how a call at one backend ends. */
export interface Stakes {
  readonly backend: Backend;
  readonly counters: BackendCounters;
  readonly bulkhead: Bulkhead;
  readonly queueWatch: QueueWatch;
  readonly group: EndpointGroup | undefined;
  readonly context: UpstreamContext;
  /** Sends of the calls that wait those that there is room for. */
  sendWaiting(): void;
}

/** How calls end at one backend, or leave it for another: each once, whatever the way. */
export class Settlement {
  readonly #of: Stakes;

  constructor(of: Stakes) {
    this.#of = of;
  }

  /**
   * The one end of a call here, by the status that its reply has already or by a failure: the stream is let go of,
   * and bulkhead, counters, group and owner hear of it, each once. The owner hears when the read is over that brought
   * the end, so that it finds all of it.
   */
  settle(exchange: Exchange, failure: Failure | undefined): void {
    const { backend, context, sendWaiting } = this.#of;
    if (exchange.at !== backend) return; // it has ended, or went on elsewhere
    if (failure !== undefined) exchange.reply.fail(this.reasonFor(exchange, failure));
    const { attempt } = exchange;
    attempt?.abandon();
    const { nowMs } = context.timers;
    if (attempt !== undefined && !exchange.isProbe) {
      this.#count(exchange, nowMs - attempt.startedMs);
    }
    const isFree = this.#leave(exchange);
    if (attempt?.isTouched) return; // its session tells, and says when there is room
    exchange.tell(nowMs, context.observer);
    if (isFree) sendWaiting();
  }

  /** The call goes on at another backend, or once more at this one; it has no end yet. */
  moveOn(exchange: Exchange, next: Pick<Backend, "start">): void {
    exchange.attempt?.abandon();
    exchange.attempt = undefined;
    this.#leave(exchange);
    next.start(exchange);
  }

  /** The call is this backend's no longer. Returns whether its place is free now. */
  #leave(exchange: Exchange): boolean {
    const { bulkhead, group, context } = this.#of;
    const isFree = bulkhead.leave(exchange);
    exchange.at = undefined;
    exchange.servedBy = this.#of.backend.name;
    if (!exchange.isProbe) group?.leaves(exchange, context.timers.nowMs);
    return isFree;
  }

  #count(exchange: Exchange, latencyMs: number): void {
    const { bulkhead, counters, context } = this.#of;
    const { failure, status } = exchange.reply;
    if (failure === undefined) bulkhead.observe(exchange, latencyMs, context.timers.nowMs);
    counters.answers.add(status);
    counters.latency.observe(latencyMs);
  }

  /**
   * A call that was never sent was not left unanswered by the backend; and one that the backend cancels as its deadline
   * passes, a little before our own clock says so, has not been cancelled by anybody (grpc-go's server does so).
   */
  reasonFor(exchange: Exchange, failure: Failure): Failure {
    if (failure.kind === "backendReset" && failure.code === ERROR_CODE.cancel) {
      const { sentDeadlineMs } = exchange;
      const isLate = sentDeadlineMs !== NO_DEADLINE &&
        this.#of.context.timers.nowMs >= sentDeadlineMs - DEADLINE_SLACK_MS;
      return isLate ? { kind: "deadline" } : failure;
    }
    const isWrong = failure.kind === "backendTimeout" && exchange.place.state === "queued";
    return isWrong ? this.#of.queueWatch.inVain(exchange) : failure;
  }
}
