import type { CollapseMap, Flight, Reply, Waiter } from "../collapse/mod.ts";
import { STATUS } from "../grpc/mod.ts";
import type { Timers } from "../transport/mod.ts";
import { type Exchange, type Failure, NO_DEADLINE } from "../upstream/mod.ts";
import type { CallLimits } from "./call_limits.ts";
import type { FlightWaiter } from "./flight_waiter.ts";

/**
 * A backend whose clock runs ahead of ours, or whose timeout we rounded down, ends a call this much before the time that
 * it was told of, as we count it. Who has no more than this left is as good as out of time.
 */
const DEADLINE_SLACK_MS = 50;

/** How long one caller waits. */
export type Patience = Pick<FlightWaiter, "deadlineMs" | "lastByteMs">;

/** What the time of every flight needs and none owns. */
export interface TimeContext<R extends Reply> {
  readonly map: CollapseMap<R>;
  readonly timers: Timers;
  readonly limits: CallLimits;
}

/**
 * The time of those who wait for a backend call of a flight: one object looks after all flights, which need none of their
 * own then. Who has a deadline has an alarm of its own. The others have
 * BACKEND_TIMEOUT until the answer begins, and again between its parts: the first of them who came is the first whose
 * time is up, so that one alarm, the exchange's, is enough for all.
 */
export class FlightTime<R extends Reply> {
  readonly #context: TimeContext<R>;

  constructor(context: TimeContext<R>) {
    this.#context = context;
  }

  /** Sets the alarm for the first caller without a deadline. */
  watch(flight: Flight<R>, exchange: Exchange): void {
    const { map, timers } = this.#context;
    let first = asked(flight.nextInLine);
    while (first !== undefined && first.deadlineMs !== NO_DEADLINE) {
      map.passOver(flight);
      first = asked(flight.nextInLine);
    }
    if (first !== undefined) timers.set(exchange, this.#givesUpMs(first, exchange));
  }

  /** A caller has joined; one without a deadline is looked after when those before it are. */
  joined({ deadlineMs }: Patience, flight: Flight<R>, exchange: Exchange): void {
    if (deadlineMs === NO_DEADLINE && !exchange.isSet) this.watch(flight, exchange);
  }

  /** The backend was given credit: somebody had read what it sent. */
  credited({ reply }: Exchange): void {
    reply.creditedMs = this.#context.timers.nowMs;
  }

  /**
   * Initial metadata is held back, until the first message or the end has come, from a caller who has longer than the
   * backend was told of: should the backend end the call for that, another call answers this caller, metadata included.
   * Whoever no second call would be made for is given it at once: who leads, and all where the leader has no deadline.
   */
  holdsBack(caller: Patience, exchange: Exchange): boolean {
    const { sentDeadlineMs, reply } = exchange;
    return sentDeadlineMs !== NO_DEADLINE && reply.receivedBytes === 0 &&
      this.#givesUpMs(caller, exchange) > sentDeadlineMs;
  }

  /** The callers without a deadline whose time is up. */
  late(flight: Flight<R>, exchange: Exchange, nowMs: number): FlightWaiter[] {
    const late: FlightWaiter[] = [];
    for (let waiter = flight.nextInLine; waiter !== undefined; waiter = waiter.nextWaiter) {
      const caller = asked(waiter)!;
      if (caller.deadlineMs !== NO_DEADLINE) continue;
      if (this.#givesUpMs(caller, exchange) > nowMs) break; // those behind it are younger
      late.push(caller);
    }
    return late;
  }

  /** The call was ended since the time was up that the backend was told of, or that its leader had to send it once more. */
  isOver({ sentDeadlineMs, reply: { failure, status } }: Exchange, nowMs: number): boolean {
    if (failure?.kind === "deadline") return true;
    return sentDeadlineMs !== NO_DEADLINE && failure?.kind !== "backendTimeout" &&
      nowMs >= sentDeadlineMs - DEADLINE_SLACK_MS &&
      (status === STATUS.deadlineExceeded || status === STATUS.cancelled);
  }

  /** Whether the caller has longer than the call that is over. */
  hasLonger(caller: Patience, exchange: Exchange, nowMs: number): boolean {
    return this.#givesUpMs(caller, exchange) > nowMs + DEADLINE_SLACK_MS;
  }

  /**
   * Ends the calls of those who have no longer, rather than give them a second call's answer, and of those who were given
   * some of the first one's. Returns the others.
   */
  dismiss<W extends FlightWaiter>(callers: readonly W[], exchange: Exchange, nowMs: number): W[] {
    const others: W[] = [];
    for (const caller of callers) {
      if (this.hasLonger(caller, exchange, nowMs)) {
        if (caller.stream.position > 0) caller.failOwn({ kind: "cutShort" });
        else others.push(caller);
      } else {
        caller.failOwn(
          caller.deadlineMs === NO_DEADLINE ? this.silence(exchange) : { kind: "deadline" },
        );
      }
    }
    return others;
  }

  /** What callers without a deadline are told when their time is up. */
  silence({ reply }: Exchange): Failure {
    const { backendTimeoutMs: timeoutMs } = this.#context.limits;
    const hasBegun = reply.receivedBytes > 0;
    return { kind: "backendTimeout", timeoutMs, hasBegun };
  }

  #givesUpMs({ deadlineMs, lastByteMs }: Patience, exchange: Exchange): number {
    if (deadlineMs !== NO_DEADLINE) return deadlineMs;
    return Math.max(lastByteMs, this.#owesSinceMs(exchange)) +
      this.#context.limits.backendTimeoutMs;
  }

  /** Since when the backend owes the next part; 0 before the first, which it owes to each from when its question came. */
  #owesSinceMs({ reply: { receivedBytes, creditedBytes, creditedMs } }: Exchange): number {
    if (receivedBytes === 0) return 0;
    // While nobody has read all that came, it is the backend that waits.
    return creditedBytes < receivedBytes ? this.#context.timers.nowMs : creditedMs;
  }
}

/**
 * The best of callers to lead a second call: one without a deadline, since the backend is then told of none, or else the one
 * with the most time.
 */
export function mostPatient<W extends FlightWaiter>(callers: Iterable<W>): W | undefined {
  let best: W | undefined;
  for (const caller of callers) {
    if (caller.deadlineMs === NO_DEADLINE) return caller;
    if (caller.deadlineMs > (best?.deadlineMs ?? 0)) best = caller;
  }
  return best;
}

/** Calls alone wait for flights. */
function asked<R extends Reply>(
  waiter: Waiter<R> | undefined,
): (Waiter<R> & FlightWaiter) | undefined {
  return waiter as (Waiter<R> & FlightWaiter) | undefined;
}
