import { type Flight, NOT_WAITING, type Reply } from "../collapse/mod.ts";
import { STATUS } from "../grpc/mod.ts";
import { Alarm } from "../transport/mod.ts";
import { FrameLog } from "../wire/mod.ts";
import type { Call } from "./call.ts";
import type { CallContext } from "./call_context.ts";
import {
  Exchange,
  type ExchangeOwner,
  NO_DEADLINE,
  NO_STATUS,
  type ReplySource,
} from "./exchange.ts";

/**
 * A backend whose clock runs ahead of ours, or whose timeout we rounded down, ends a call this much before the
 * leader's deadline as we count it; it is still the leader's deadline that ended it.
 */
const DEADLINE_SLACK_MS = 50;

/** A log that nobody new may join keeps this many times the limit for those who read slowly. */
const LAG_FACTOR = 4;

/** A result kept longer than this moves into storage of its own (see `FrameLog.settle`). */
const SETTLE_ABOVE_MS = 1_000;

/** Stands in for a request that is not needed any more. */
const NO_BODY = new FrameLog();

/**
 * The one backend call of a flight, and the reply it gathers for all who wait. Afterwards only the reply is left:
 * thousands of them may be kept.
 */
export class SharedCall extends Alarm implements Reply, ReplySource, ExchangeOwner {
  /** Set right after it was made, since each needs the other. */
  flight!: Flight<SharedCall>;
  /** The reply as far as it has come. */
  log = NO_BODY;
  ended = false;
  status = NO_STATUS;
  #context: CallContext;
  #exchange: Exchange | undefined = undefined;
  #body: FrameLog;
  /** Deadline of whoever leads the present backend call. */
  #leaderDeadlineMs = NO_DEADLINE;
  /** How far the fastest caller has read. */
  #furthest = 0;

  constructor(context: CallContext, body: FrameLog) {
    super();
    this.#context = context;
    this.#body = body;
  }

  get heldBytes(): number {
    return this.log.heldBytes;
  }

  /** Makes the backend call with this caller's metadata and deadline. */
  start(leader: Call): void {
    const { timers, limits, backend } = this.#context;
    this.#leaderDeadlineMs = leader.deadlineMs;
    const exchange = new Exchange(this, {
      route: leader.route,
      perCall: leader.perCall,
      body: this.#body,
      deadlineMs: leader.deadlineMs,
    });
    this.#exchange = exchange;
    this.log = exchange.log;
    // Followers may have more time than the leader, or say nothing: the backend's timeout bounds them.
    timers.set(this, Math.max(leader.deadlineMs, timers.nowMs + limits.backendTimeoutMs));
    backend.start(exchange);
  }

  /** A caller has read up to `position`. */
  progressed(position: number): void {
    if (position <= this.#furthest) return;
    this.#furthest = position;
    this.#exchange?.credit(this.log.end - position);
  }

  /** Nobody waits any more. */
  cancel(): void {
    this.#context.timers.cancel(this);
    if (this.#exchange !== undefined) this.#context.backend.cancel(this.#exchange);
  }

  bodyMoved(): void {}

  replyGrew(): void {
    const { flight, log } = this;
    if (log.end > this.#context.limits.maxMessageBytes) flight.sealed = true;
    this.#relayToAll();
    if (flight.sealed && !flight.landed) this.#slide();
  }

  replyEnded(nowMs: number): void {
    const exchange = this.#exchange!;
    if (this.#leadAgain(exchange, nowMs)) return;
    const { flight, log } = this;
    const { map, limits, timers } = this.#context;
    timers.cancel(this);
    this.ended = true;
    this.status = exchange.status;
    this.#exchange = undefined;
    this.#body = NO_BODY;
    if (log.end > limits.maxMessageBytes) flight.sealed = true;
    const isGood = exchange.status === STATUS.ok ||
      limits.cacheErrors && exchange.failure === undefined;
    if (isGood && limits.cacheDurationMs > SETTLE_ABOVE_MS) log.settle();
    map.keep(flight, nowMs, isGood ? limits.cacheDurationMs : 0);
    this.#relayToAll();
  }

  /** The bound of the whole flight has come. */
  override wake(nowMs: number): void {
    if (this.#exchange === undefined) return;
    const { backend, limits } = this.#context;
    backend.cancel(this.#exchange, { kind: "backendTimeout", timeoutMs: limits.backendTimeoutMs });
    this.replyEnded(nowMs);
  }

  /** Each waiter may finish, and so leave, while it reads: from the last to the first nobody is missed. */
  #relayToAll(): void {
    const { waiters } = this.flight;
    for (let i = waiters.length - 1; i >= 0; i--) (waiters[i] as Call | undefined)?.readMore();
  }

  /**
   * The backend ended the call since the leader's deadline had come, while others with more time wait and nothing
   * has reached them: one of them leads a second call.
   */
  #leadAgain(exchange: Exchange, nowMs: number): boolean {
    const { flight } = this;
    const isLeadersDeadline = this.#leaderDeadlineMs !== NO_DEADLINE &&
      exchange.failure?.kind !== "backendTimeout" &&
      nowMs >= this.#leaderDeadlineMs - DEADLINE_SLACK_MS &&
      (exchange.status === STATUS.deadlineExceeded || exchange.status === STATUS.cancelled);
    if (!isLeadersDeadline || exchange.receivedBytes > 0 || flight.landed) return false;
    const next = this.#patientWaiter(nowMs);
    if (next === undefined || next.stream.position > 0) return false;
    this.#furthest = 0;
    this.#endTheImpatient(nowMs);
    this.start(next);
    return true;
  }

  /** The waiter with the most time left, if it has more than the leader had. */
  #patientWaiter(nowMs: number): Call | undefined {
    let best: Call | undefined;
    for (const waiter of this.flight.waiters as Call[]) {
      if (waiter.deadlineMs === NO_DEADLINE) return waiter;
      if (
        waiter.deadlineMs > nowMs + DEADLINE_SLACK_MS && waiter.deadlineMs > (best?.deadlineMs ?? 0)
      ) best = waiter;
    }
    return best;
  }

  /** Those whose time is up get the status that says so rather than the second call's. */
  #endTheImpatient(nowMs: number): void {
    for (const waiter of [...this.flight.waiters] as Call[]) {
      const { deadlineMs } = waiter;
      if (deadlineMs !== NO_DEADLINE && deadlineMs <= nowMs + DEADLINE_SLACK_MS) {
        waiter.failOwn({ kind: "deadline" });
      }
    }
  }

  /** Past its replay bound the log is a sliding window; who falls too far behind is let go alone. */
  #slide(): void {
    const { log } = this;
    const maxLagBytes = this.#context.limits.maxMessageBytes * LAG_FACTOR;
    let slowest = log.end;
    for (const waiter of [...this.flight.waiters] as Call[]) {
      if (waiter.place === NOT_WAITING) continue;
      const { position } = waiter.stream;
      if (log.end - position > maxLagBytes) waiter.failOwn({ kind: "tooSlow" });
      else slowest = Math.min(slowest, position);
    }
    log.dropBefore(slowest);
  }
}
