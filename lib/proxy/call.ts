import { bodyKey, type Flight, Waiter } from "../collapse/mod.ts";
import type { Stream } from "../connection/mod.ts";
import { MALFORMED_TIMEOUT, MessageScanner, parseTimeout, STATUS } from "../grpc/mod.ts";
import { CallbackAlarm } from "../transport/mod.ts";
import { type Field, FrameLog } from "../wire/mod.ts";
import type { CallerSession } from "./caller_session.ts";
import type { Outcome, PassReason } from "./counters.ts";
import { joinData, withDebugTrailer } from "./debug_log.ts";
import { Exchange, type ExchangeOwner, NO_DEADLINE, type ReplySource } from "./exchange.ts";
import { type Failure, statusOfFailure } from "./failure.ts";
import { ownHealthReply } from "./own_health.ts";
import { failureReply, failureTrailers } from "./reply_fields.ts";
import type { RequestRoute } from "./request_route.ts";
import { SharedCall } from "./shared_call.ts";

/** A call of a method that nothing is known of passes when it has been silent this long: it may be a stream. */
const QUIET_UNKNOWN_MS = 10;

/** One of a method that was seen to half-close after its one message is given this long. */
const QUIET_UNARY_MS = 1_000;

/** An alarm that comes this late tells of a busy loop, behind which the caller's bytes may lie unread. */
const BUSY_LATENESS_MS = 5;

/**
 * Where a call stands: its one message is awaited; it reads what a flight has gathered or has left behind; it has a
 * backend call of its own; it is over.
 */
type Phase = "gathering" | "reading" | "passing" | "done";

/** A caller's call, from its head to the end of its reply. */
export class Call extends Waiter<SharedCall> implements ExchangeOwner {
  readonly session: CallerSession;
  readonly stream: Stream<Call>;
  readonly route: RequestRoute;
  readonly perCall: readonly Field[];
  /** When the caller gives up, by the transport's clock. */
  deadlineMs = NO_DEADLINE;
  #phase: Phase = "gathering";
  #outcome: Outcome | undefined = undefined;
  #receivedMs: number;
  #lastByteMs: number;
  #alarm: CallbackAlarm | undefined = undefined;
  /** The request's DATA, when it did not come whole in one frame. */
  #body: FrameLog | undefined = undefined;
  #scanner: MessageScanner | undefined = undefined;
  /** What it reads, where that is not its flight's. */
  #source: ReplySource | undefined = undefined;
  /** The stored result that it reads. */
  #stored: SharedCall | undefined = undefined;
  /** The backend call it has of its own. */
  #exchange: Exchange | undefined = undefined;
  #debugLog: FrameLog | undefined = undefined;
  #wantsDebug = false;
  #cacheControl = "";
  /** DATA bytes taken from the caller while passing, and those it was given credit for. */
  #takenBytes = 0;
  #creditedBytes = 0;

  constructor(
    session: CallerSession,
    stream: Stream<Call>,
    head: { route: RequestRoute; perCall: readonly Field[]; nowMs: number },
  ) {
    super();
    this.session = session;
    this.stream = stream;
    this.route = head.route;
    this.perCall = head.perCall;
    this.#receivedMs = head.nowMs;
    this.#lastByteMs = head.nowMs;
  }

  get isGathering(): boolean {
    return this.#phase === "gathering";
  }

  get isOver(): boolean {
    return this.#phase === "done";
  }

  // ---- the request

  /** The head is in: the message is awaited, or the call passes at once. */
  begin(endStream: boolean): void {
    if (this.perCall.length > 0 && !this.#readPerCall()) return;
    const { keyHead, method, asksHealth } = this.route;
    if (endStream) this.#pass(this.#passReason(), true); // no message is not the same as an empty one
    else if (keyHead === undefined && !asksHealth) this.#pass(this.#passReason());
    else if (method.behaviour === "streaming") this.#pass("streaming");
    else this.session.awaitMessage(this);
  }

  /** DATA of the request. */
  data(bytes: Uint8Array, from: number, to: number, endStream: boolean): void {
    if (this.#phase === "gathering") this.#gather(bytes, from, to, endStream);
    else if (this.#phase === "passing") this.#passOn(bytes, from, to, endStream);
  }

  /** The request's only DATA, and one whole message: the common case, in which only a leader copies anything. */
  answer(bytes: Uint8Array, from: number, to: number): void {
    const { context, connection } = this.session;
    const { keyHead, method } = this.route;
    if (keyHead === undefined) return this.#answerHealth(bytes, from, to);
    if (method.behaviour === "unknown") method.behaviour = "unary";
    if (to - from > context.limits.maxMessageBytes) return this.#passWhole(bytes, from, to, "size");
    if (this.#cacheControl.includes("no-store")) {
      return this.#passWhole(bytes, from, to, "no_store");
    }
    const key = bodyKey(bytes, from, to, context.codec);
    const isFresh = this.#cacheControl !== "" && this.#cacheControl.includes("no-cache");
    const flight = isFresh ? undefined : context.map.lookUp(keyHead, key, connection.nowMs);
    if (flight === undefined) {
      const isPrivate = !isFresh && context.map.isPrivate(keyHead, key, connection.nowMs);
      if (isPrivate) this.#passWhole(bytes, from, to, "no_store");
      else this.#lead(key, this.#wholeBody(bytes, from, to));
    } else if (flight.stored) this.#readStored(flight);
    else if (context.map.isFull(flight)) this.#passWhole(bytes, from, to, "followers");
    else this.#join(flight);
  }

  #gather(bytes: Uint8Array, from: number, to: number, endStream: boolean): void {
    const { connection, context } = this.session;
    const body = this.#body ??= new FrameLog();
    const scanner = this.#scanner ??= new MessageScanner();
    this.#lastByteMs = connection.nowMs;
    body.appendData(bytes, from, to, endStream);
    scanner.scan(bytes, from, to);
    connection.consumed(this.stream, to - from); // what is gathered is bounded just below
    const { method } = this.route;
    if (scanner.started > 1) {
      method.behaviour = "streaming";
      this.#pass("streaming");
    } else if (scanner.messageBytes > context.limits.maxMessageBytes) {
      this.#pass("size");
    } else if (endStream && scanner.messages === 1 && !scanner.partial) {
      const whole = joinData(body);
      this.answer(whole, 0, whole.length);
    } else if (endStream) {
      this.#pass("streaming");
    }
  }

  /** Fields that belong to this call alone and mean something to us; false when the call is over by one of them. */
  #readPerCall(): boolean {
    for (const { name, value } of this.perCall) {
      if (name === "grpc-timeout") {
        const timeoutMs = parseTimeout(value);
        if (timeoutMs === MALFORMED_TIMEOUT) {
          return this.#refuse({ kind: "malformedTimeout", value });
        }
        if (timeoutMs === 0) return this.#refuse({ kind: "deadline" });
        this.deadlineMs = this.#receivedMs + timeoutMs;
      } else if (name === "cache-control") {
        this.#cacheControl += value.toLowerCase();
      } else if (name === "x-collapser-debug") {
        this.#wantsDebug = value === "1";
      }
    }
    return true;
  }

  /** Turns the call away before anything was done for it. */
  #refuse(failure: Failure): false {
    this.failOwn(failure);
    return false;
  }

  #wholeBody(bytes: Uint8Array, from: number, to: number): FrameLog {
    if (this.#body !== undefined) return this.#body;
    const body = new FrameLog();
    body.appendData(bytes, from, to, true);
    return this.#body = body;
  }

  #answerHealth(bytes: Uint8Array, from: number, to: number): void {
    const { context, connection } = this.session;
    const reply = ownHealthReply(bytes.subarray(from, to), context.isServing());
    if (reply === undefined) return this.#passWhole(bytes, from, to, "method");
    this.#decide("passed", "method");
    this.#phase = "reading";
    connection.relay(this.stream, reply);
    this.#finish(STATUS.ok);
  }

  // ---- sharing

  #lead(key: string, body: FrameLog): void {
    const { context, connection } = this.session;
    this.#decide("led");
    this.#phase = "reading";
    this.#armDeadline();
    const shared = new SharedCall(context);
    const flight = context.map.lead(this.route.keyHead!, key, {
      reply: shared,
      nowMs: connection.nowMs,
    });
    shared.flight = flight;
    context.map.join(flight, this);
    shared.start(this, body);
  }

  #join(flight: Flight<SharedCall>): void {
    this.#outcome = "joined"; // counted when it has come to that: the answer may turn out to be private
    this.#phase = "reading";
    this.#armDeadline();
    this.session.context.map.join(flight, this);
    if (flight.reply.log.end > 0) this.readMore();
  }

  #readStored(flight: Flight<SharedCall>): void {
    this.#decide("hit");
    this.#phase = "reading";
    this.#body = undefined;
    this.#source = this.#stored = flight.reply;
    flight.reply.readers++; // until it is done: now, unless its window is too small for the whole reply
    this.readMore();
    if (!this.isOver) this.#armDeadline();
  }

  /** The answer it waited for turned out to be another caller's alone; nothing of it was read. */
  passAfterAll(body: FrameLog): void {
    this.session.context.map.leave(this);
    this.#body = body;
    this.#pass("no_store");
  }

  /** Relays what there is of the reply and has not been relayed. */
  readMore(): void {
    if (this.#phase === "done") return;
    const { stream, session, flight } = this;
    const source = flight === undefined ? this.#source! : flight.reply;
    const log = this.#wantsDebug && source.ended ? this.#logWithDebug(source) : source.log;
    session.connection.relay(stream, log);
    session.flushSoon();
    if (stream.localEnded) return this.#finish(source.status);
    if (flight !== undefined) flight.reply.progressed(stream.position);
    else if (this.#exchange !== undefined) {
      this.#exchange.credit(log.end - stream.position);
      log.dropBefore(stream.position);
    }
  }

  #logWithDebug(source: ReplySource): FrameLog {
    return this.#debugLog ??= withDebugTrailer(source.log, this.#outcome!);
  }

  // ---- passing through

  #passReason(): PassReason {
    const { context } = this.session;
    if (!context.collapses) return "mode";
    return this.route.method.verdict.eligible ? "streaming" : "method";
  }

  #passWhole(bytes: Uint8Array, from: number, to: number, reason: PassReason): void {
    this.#wholeBody(bytes, from, to);
    this.#pass(reason);
  }

  /** Makes a backend call for this caller alone, with what there is of its body. */
  #pass(reason: PassReason, headEndsStream = false): void {
    const { context } = this.session;
    this.#decide("passed", reason);
    this.#phase = "passing";
    this.#armDeadline();
    const body = this.#body ??= new FrameLog();
    this.#takenBytes = this.#creditedBytes = body.dataBytes; // credited as it was gathered
    const exchange = new Exchange(this, {
      route: this.route,
      perCall: this.perCall,
      body,
      headEndsStream,
      deadlineMs: this.deadlineMs,
    });
    exchange.streaming = (this.#scanner?.started ?? 0) > 1;
    this.#exchange = exchange;
    this.#source = exchange;
    context.backend.start(exchange);
  }

  #passOn(bytes: Uint8Array, from: number, to: number, endStream: boolean): void {
    const exchange = this.#exchange!;
    if (exchange.ended) return;
    this.#takenBytes += to - from;
    const scanner = this.#scanner ??= new MessageScanner();
    scanner.scan(bytes, from, to);
    if (scanner.started > 1) exchange.streaming = true;
    exchange.body.appendData(bytes, from, to, endStream);
    this.session.context.backend.bodyGrew(exchange);
  }

  bodyMoved(): void {
    const { body, stream } = this.#exchange!;
    const waiting = body.end - stream!.position; // no less than its DATA
    const due = this.#takenBytes - this.#creditedBytes - waiting;
    if (due <= 0) return;
    this.#creditedBytes += due;
    this.session.connection.consumed(this.stream, due);
    this.session.flushSoon();
  }

  timeIsUp(): void {} // the call's own deadline bounds it

  replyGrew(): void {
    this.readMore();
  }

  replyEnded(): void {
    this.readMore();
  }

  // ---- the end

  /** The caller reset its stream, or its connection is gone. */
  gone(): void {
    if (this.#phase === "done") return;
    this.#withdraw();
    this.#finish(STATUS.cancelled);
  }

  /** Ends this call alone with a failure that is its own: whoever shares with it does not notice. */
  failOwn(failure: Failure): void {
    if (this.#phase === "done") return;
    const { stream, session } = this;
    if (!stream.localEnded) {
      session.connection.sendFinalHeaders(
        stream,
        stream.position === 0 ? failureReply(failure) : failureTrailers(failure),
      );
      session.flushSoon();
    }
    this.#withdraw();
    this.#finish(statusOfFailure(failure).code);
  }

  /** Waits for nothing any more; the backend call ends when nobody else does. */
  #withdraw(): void {
    const { context } = this.session;
    const { flight } = this;
    if (flight !== undefined) {
      if (context.map.leave(this)) flight.reply.cancel();
    } else if (this.#phase === "passing") {
      context.backend.cancel(this.#exchange!);
    }
  }

  #finish(status: number): void {
    const { context } = this.session;
    const { method } = this.route;
    const wasPassing = this.#phase === "passing";
    if (this.#outcome === undefined) this.#decide("rejected");
    else if (this.#outcome === "joined") this.#decide("joined");
    this.#phase = "done";
    this.stream.owner = undefined;
    this.#source = undefined;
    if (this.#stored !== undefined) this.#stored.readerLeft();
    if (this.#exchange !== undefined) this.#exchange.release();
    if (this.#alarm !== undefined) context.timers.cancel(this.#alarm);
    if (this.flight !== undefined) {
      const shared = this.flight.reply;
      context.map.leave(this);
      shared.waiterLeft();
    }
    method.counters.responses.add(status);
    context.counters.durations[this.#outcome!].observe(
      this.session.connection.nowMs - this.#receivedMs,
    );
    if (wasPassing && !method.verdict.eligible && context.limits.invalidates) {
      method.service.generation++;
      context.counters.countInvalidation(method.service.name);
    }
    this.session.callEnded();
  }

  #decide(outcome: Outcome, reason?: PassReason): void {
    this.#outcome = outcome;
    this.route.method.counters.outcomes[outcome]++;
    if (reason !== undefined) this.session.context.counters.passed[reason]++;
  }

  // ---- time

  /** The message did not come with the head: the call will pass when nothing follows for a while. */
  awaitQuiet(): void {
    this.#setAlarm(this.#lastByteMs + this.#patienceMs);
  }

  #wake(nowMs: number, lateMs: number): void {
    if (this.deadlineMs !== NO_DEADLINE && nowMs >= this.deadlineMs) {
      return this.failOwn({ kind: "deadline" });
    }
    if (this.#phase !== "gathering") return this.#armDeadline();
    const silentMs = nowMs - this.#lastByteMs;
    if (silentMs < this.#patienceMs) return this.awaitQuiet();
    if (lateMs > BUSY_LATENESS_MS && silentMs < QUIET_UNARY_MS) {
      return this.#setAlarm(nowMs + QUIET_UNKNOWN_MS);
    }
    // One more turn of the loop delivers whatever lay ready in the socket.
    const seenMs = this.#lastByteMs;
    this.session.context.timers.clock.after(0, () => this.#passIfStillQuiet(seenMs));
  }

  #passIfStillQuiet(seenMs: number): void {
    if (this.#phase !== "gathering") return;
    const isQuiet = this.#lastByteMs === seenMs && this.session.isDrained;
    if (isQuiet) this.#pass(this.route.keyHead === undefined ? "method" : "streaming");
    else this.#setAlarm(this.session.context.timers.refresh() + QUIET_UNKNOWN_MS);
  }

  get #patienceMs(): number {
    return this.route.method.behaviour === "unary" ? QUIET_UNARY_MS : QUIET_UNKNOWN_MS;
  }

  #armDeadline(): void {
    if (this.deadlineMs !== NO_DEADLINE) this.#setAlarm(this.deadlineMs);
  }

  #setAlarm(dueMs: number): void {
    const alarm = this.#alarm ??= new CallbackAlarm((nowMs, lateMs) => this.#wake(nowMs, lateMs));
    const soonest = this.deadlineMs === NO_DEADLINE ? dueMs : Math.min(dueMs, this.deadlineMs);
    this.session.context.timers.set(alarm, soonest);
  }
}
