import { type Flight, tellsApart, type Waiter } from "../collapse/mod.ts";
import {
  endsStale,
  hasOutgrown,
  isForOneAlone,
  keptMs,
  staleIfErrorMs,
  staleMs,
  standIn,
} from "../freshness/mod.ts";
import { STATUS } from "../grpc/mod.ts";
import { Exchange, type ExchangeOwner, NO_DEADLINE } from "../upstream/mod.ts";
import { FrameLog } from "../wire/mod.ts";
import type { FlightContext, Waiting as WaitingFor } from "./flight_context.ts";
import { mostPatient, type Patience } from "./flight_time.ts";
import { type FlightTarget, type FlightWaiter, waitersOf } from "./flight_waiter.ts";
import type { MethodSettings } from "./method_settings.ts";
import { FlightReply } from "./flight_reply.ts";
import { makeRoom, slideWindow } from "./reply_window.ts";

/** A result kept longer than this moves into storage of its own (see `FrameLog.settle`). */
const SETTLE_ABOVE_MS = 1_000;

type Waiting = WaitingFor<FlightCall>;

/**
 * The one backend call of a flight, and the reply it gathers for all who wait. Afterwards only the reply is left:
 * thousands of them may be kept.
 */
export class FlightCall extends FlightReply implements ExchangeOwner {
  /** Set right after it was made, since each needs the other. */
  flight!: Flight<FlightCall>;
  /** Callers that read it as a stored result and are not done. */
  readers = 0;
  #context: FlightContext<FlightCall>;
  #exchange: Exchange | undefined = undefined;
  #target: FlightTarget | undefined = undefined;
  #leader: FlightWaiter | undefined = undefined;
  /** Accounts for what waits of the request: the leader, or when that has left another who waits. */
  #holder: Waiting | undefined = undefined;

  constructor(context: FlightContext<FlightCall>) {
    super();
    this.#context = context;
  }

  /** The backend call, until it has ended. */
  get exchange(): Exchange | undefined {
    return this.#exchange;
  }

  /** What is in force for the method, once the call was started. */
  get #settings(): MethodSettings {
    return this.#target!.method.settings;
  }

  /** Makes the backend call for `body` with this caller's metadata and deadline. */
  start(leader: Waiting, body: FrameLog): void {
    const { limits, backend, flightTime } = this.#context;
    const { route: target, perCall, deadlineMs, mayQueue } = leader;
    const exchange = new Exchange(this, {
      target,
      key: this.flight,
      perCall,
      body,
      deadlineMs,
      mayQueue,
      leastTimeoutMs: limits.backendTimeoutMs,
      timeoutMs: target.method.settings.timeoutMs,
      keepsBody: true,
    });
    this.#exchange = exchange;
    this.#target = target;
    if (target.method.trial !== undefined) this.asker = { list: target.list, perCall };
    this.#holder?.holds(0);
    this.#leader = this.#holder = leader;
    this.log = exchange.reply.log;
    flightTime.watch(this.flight, exchange);
    backend.start(exchange);
  }

  /** The backend has the call. */
  get wasSent(): boolean {
    return this.#exchange !== undefined && this.#exchange.attempts > 0;
  }

  /** A caller has read up to `position`: it is the fastest one that decides how much more the backend may send. */
  progressed(position: number): void {
    const exchange = this.#exchange;
    if (exchange?.credit(this.log.end - position)) this.#context.flightTime.credited(exchange);
  }

  /** Nobody finds the result any more: unless somebody still reads it, its storage is free. */
  forget(): void {
    if (this.readers === 0 && this.flight.waiterCount === 0) this.log.clear();
    else this.log.countIn(this.#context.buffered);
  }

  /** Somebody who read it as a stored result is done. */
  readerLeft(): void {
    if (--this.readers === 0) this.waiterLeft();
  }

  /** Somebody who waited for it is done. */
  waiterLeft(): void {
    if (this.flight.landed && !this.flight.stored) this.forget();
  }

  /** Somebody has left while others wait. What is there of its leader's, and may still be sent, is theirs from then on. */
  left(caller: Waiter<FlightCall>): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return this.waiterLeft();
    this.#account(exchange.unsentBytes);
    if (caller as Waiting !== this.#leader || exchange.deadlineMs === NO_DEADLINE) return;
    const next = mostPatient(waitersOf(this.flight));
    if (next !== undefined) exchange.deadlineMs = next.deadlineMs;
  }

  /** Nobody waits any more; the last one would have until `deadlineMs`, by which it is told who ended the call. */
  cancel(deadlineMs = NO_DEADLINE): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return this.log.clear();
    this.#exchange = this.#leader = undefined;
    exchange.deadlineMs = deadlineMs;
    this.#context.timers.cancel(exchange);
    this.#context.backend.cancel(exchange);
    exchange.release();
  }

  bodyMoved(): void {
    const exchange = this.#exchange;
    if (exchange !== undefined) this.#account(exchange.unsentBytes);
  }

  /** So much of the request waits, and somebody who waits for its answer accounts for that. */
  #account(bytes: number): void {
    if (this.#holder?.flight !== this.flight) this.#holder = this.flight.lastWaiter as Waiting;
    this.#holder?.holds(bytes);
  }

  replyGrew(): void {
    const { flight } = this;
    const exchange = this.#exchange;
    if (exchange !== undefined) this.note(exchange.reply);
    if (hasOutgrown(this.log, this.#settings)) flight.sealed = true;
    else if (exchange !== undefined) makeRoom(exchange.reply, this.#settings);
    this.#heedWords(exchange);
    this.#relayToAll();
    this.slide();
  }

  replyEnded(nowMs: number): void {
    const exchange = this.#exchange;
    if (exchange === undefined || this.#leadAgain(exchange, nowMs)) return;
    const [{ flight, log }, { reply }] = [this, exchange];
    const { map, timers } = this.#context;
    timers.cancel(exchange);
    this.ended = true;
    this.status = reply.status;
    this.backendName = exchange.servedBy;
    this.note(reply);
    this.#heedWords(exchange);
    if (this.#exchange === undefined) return; // nobody was left
    this.#account(0); // a backend may answer what it has not taken
    this.#exchange = this.#leader = this.#holder = undefined;
    exchange.clearBody();
    const fresh = this.#settings;
    this.#target!.method.counters.ledMs += nowMs - flight.startedMs;
    if (hasOutgrown(log, fresh)) flight.sealed = true;
    const isGood = !reply.isBrokenOff && (reply.status === STATUS.ok ||
      fresh.cacheErrors && reply.failure === undefined);
    const ttlMs = isGood ? keptMs(reply.cache, fresh, this.#context.random) : 0;
    if (ttlMs > SETTLE_ABOVE_MS) log.settle();
    const stale = flight.refreshes;
    const instead = standIn(
      flight,
      { status: reply.status, codes: fresh.staleIfErrorCodes },
      nowMs,
    );
    const errorMs = staleIfErrorMs(reply.cache, fresh);
    map.keep(flight, nowMs, ttlMs, staleMs(reply.cache, fresh), errorMs);
    if (stale?.stored && endsStale(reply.status)) map.stored.remove(stale);
    if (flight.stored) log.countIn(undefined);
    if (instead !== undefined) {
      for (const waiter of waitersOf(flight)) (waiter as Waiting).answerStale(instead);
    }
    this.#relayToAll();
  }

  /** Does what the reply's metadata says so far about sharing it. */
  #heedWords(exchange: Exchange | undefined): void {
    if (exchange === undefined) return;
    const { ended, failure, cache } = exchange.reply;
    const isInKey = (name: string) => tellsApart(this.#settings.inKey, name);
    if (isForOneAlone(cache, isInKey)) return this.#turnFollowersAway(exchange);
    if (cache?.isNoCache) this.flight.sealed = true;
    if (ended && failure === undefined) this.#context.map.endTrial(this.flight);
  }

  /** The answer is for the leader alone: who has been given nothing of it makes a call of its own. */
  #turnFollowersAway(exchange: Exchange): void {
    const { flight } = this;
    const { map, timers } = this.#context;
    const { hitForPassMs } = this.#settings;
    map.makePrivate(flight, hitForPassMs > 0 ? timers.nowMs + hitForPassMs : undefined);
    for (const waiter of waitersOf(this.flight)) {
      if (waiter === this.#leader || waiter.stream.position > 0) continue;
      waiter.passAfterAll(exchange.body.share());
    }
    this.#account(exchange.unsentBytes);
    if (flight.waiterCount === 0) this.cancel(); // the leader had left already
  }

  // ---- time

  /** A caller has joined. */
  joined(caller: Patience): void {
    const exchange = this.#exchange;
    if (exchange !== undefined) this.#context.flightTime.joined(caller, this.flight, exchange);
  }

  /** Whether the caller is given nothing yet. */
  holdsBack(caller: Patience): boolean {
    const exchange = this.#exchange;
    return exchange !== undefined && this.#context.flightTime.holdsBack(caller, exchange);
  }

  /** Some callers without a deadline may be out of time; others have longer. */
  timeIsUp(nowMs: number): void {
    const [exchange, flight] = [this.#exchange, this.flight];
    if (exchange === undefined) return;
    const { backend, flightTime } = this.#context;
    const late = flightTime.late(flight, exchange, nowMs);
    const failure = flightTime.silence(exchange);
    if (late.length === flight.waiterCount) return backend.settle(exchange, failure);
    const reason = exchange.at?.reasonFor(exchange, failure) ?? failure;
    const instead = standIn(flight, {
      status: STATUS.deadlineExceeded,
      codes: this.#settings.staleIfErrorCodes,
    }, nowMs);
    for (const waiter of late) {
      const isAnswered = instead !== undefined && (waiter as Waiting).answerStale(instead);
      if (!isAnswered) waiter.failOwn(reason);
    }
    flightTime.watch(flight, exchange);
  }

  /**
   * The backend ended the call for the time that it was told of, and others have longer: of those who were given nothing
   * yet one leads a second call, for them all.
   */
  #leadAgain(exchange: Exchange, nowMs: number): boolean {
    const { flightTime: time, timers } = this.#context;
    if (this.flight.landed || !time.isOver(exchange, nowMs)) return false;
    const waiters = waitersOf(this.flight);
    if (!waiters.some((each) => time.hasLonger(each, exchange, nowMs))) return false;
    timers.cancel(exchange);
    exchange.reply.log.clear(); // it starts another
    const next = mostPatient(time.dismiss(waiters, exchange, nowMs));
    if (next !== undefined) this.start(next as Waiting, exchange.body);
    return true;
  }

  faulted(): void {
    for (const waiter of waitersOf(this.flight)) waiter.failOwn({ kind: "faultOfOurs" });
  }

  /** A waiter may finish, and so leave, while it reads; the others stay where they are. */
  #relayToAll(): void {
    for (let waiter = this.flight.lastWaiter; waiter !== undefined;) {
      const { previousWaiter } = waiter;
      (waiter as Waiting).readMoreOrFail();
      waiter = previousWaiter;
    }
  }

  /** Past its replay bound the log is a sliding window; who falls too far behind is let go alone. */
  slide(): void {
    const { log, flight } = this;
    if (!flight.sealed || flight.landed) return;
    slideWindow(log, waitersOf(this.flight), this.#settings.maxMessageBytes);
  }
}
