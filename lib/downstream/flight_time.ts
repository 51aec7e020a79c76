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
 * The time of those who wait for one backend call of a flight. Who has a deadline has an alarm of its own. The others have
 * BACKEND_TIMEOUT until the answer begins, and again between its parts: the first of them who came is the first whose
 * time is up, so that one alarm, the exchange's, is enough for all.
 */
export class FlightTime<R extends Reply> {
  readonly #context: TimeContext<R>;
  readonly #flight: Flight<R>;
  readonly #exchange: Exchange;
  /** When the backend was last given credit: somebody had read what it sent. */
  #creditedMs = 0;

  constructor(context: TimeContext<R>, of: { flight: Flight<R>; exchange: Exchange }) {
    this.#context = context;
    this.#flight = of.flight;
    this.#exchange = of.exchange;
  }

  /** Sets the alarm for the first caller without a deadline. */
  watch(): void {
    const { map, timers } = this.#context;
    let first = asked(this.#flight.nextInLine);
    while (first !== undefined && first.deadlineMs !== NO_DEADLINE) {
      map.passOver(this.#flight);
      first = asked(this.#flight.nextInLine);
    }
    if (first !== undefined) timers.set(this.#exchange, this.#givesUpMs(first));
  }

  /** A caller has joined; one without a deadline is looked after when those before it are. */
  joined({ deadlineMs }: Patience): void {
    if (deadlineMs === NO_DEADLINE && !this.#exchange.isSet) this.watch();
  }

  credited(): void {
    this.#creditedMs = this.#context.timers.nowMs;
  }

  /**
   * Initial metadata is held back, until the first message or the end has come, from a caller who has longer than the
   * backend was told of: should the backend end the call for that, another call answers this caller, metadata included.
   * Whoever no second call would be made for is given it at once: who leads, and all where the leader has no deadline.
   */
  holdsBack(caller: Patience): boolean {
    const { sentDeadlineMs, reply } = this.#exchange;
    return sentDeadlineMs !== NO_DEADLINE && reply.receivedBytes === 0 &&
      this.#givesUpMs(caller) > sentDeadlineMs;
  }

  /** The callers without a deadline whose time is up. */
  late(nowMs: number): FlightWaiter[] {
    const late: FlightWaiter[] = [];
    for (let waiter = this.#flight.nextInLine; waiter !== undefined; waiter = waiter.nextWaiter) {
      const caller = asked(waiter)!;
      if (caller.deadlineMs !== NO_DEADLINE) continue;
      if (this.#givesUpMs(caller) > nowMs) break; // those behind it are younger
      late.push(caller);
    }
    return late;
  }

  /** The call was ended since the time was up that the backend was told of, or that its leader had to send it once more. */
  isOver(nowMs: number): boolean {
    const { sentDeadlineMs, reply: { failure, status } } = this.#exchange;
    if (failure?.kind === "deadline") return true;
    return sentDeadlineMs !== NO_DEADLINE && failure?.kind !== "backendTimeout" &&
      nowMs >= sentDeadlineMs - DEADLINE_SLACK_MS &&
      (status === STATUS.deadlineExceeded || status === STATUS.cancelled);
  }

  /** Whether the caller has longer than the call that is over. */
  hasLonger(caller: Patience, nowMs: number): boolean {
    return this.#givesUpMs(caller) > nowMs + DEADLINE_SLACK_MS;
  }

  /**
   * Ends the calls of those who have no longer, rather than give them a second call's answer, and of those who were given
   * some of the first one's. Returns the others.
   */
  dismiss<W extends FlightWaiter>(callers: readonly W[], nowMs: number): W[] {
    const others: W[] = [];
    for (const caller of callers) {
      if (this.hasLonger(caller, nowMs)) {
        if (caller.stream.position > 0) caller.failOwn({ kind: "cutShort" });
        else others.push(caller);
      } else {
        caller.failOwn(caller.deadlineMs === NO_DEADLINE ? this.silence : { kind: "deadline" });
      }
    }
    return others;
  }

  /** What callers without a deadline are told when their time is up. */
  get silence(): Failure {
    const { backendTimeoutMs: timeoutMs } = this.#context.limits;
    const hasBegun = this.#exchange.reply.receivedBytes > 0;
    return { kind: "backendTimeout", timeoutMs, hasBegun };
  }

  #givesUpMs({ deadlineMs, lastByteMs }: Patience): number {
    if (deadlineMs !== NO_DEADLINE) return deadlineMs;
    return Math.max(lastByteMs, this.#owesSinceMs) + this.#context.limits.backendTimeoutMs;
  }

  /** Since when the backend owes the next part; 0 before the first, which it owes to each from when its question came. */
  get #owesSinceMs(): number {
    const { receivedBytes, creditedBytes } = this.#exchange.reply;
    if (receivedBytes === 0) return 0;
    // While nobody has read all that came, it is the backend that waits.
    return creditedBytes < receivedBytes ? this.#context.timers.nowMs : this.#creditedMs;
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
