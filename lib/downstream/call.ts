import { bodyKey, type Flight, Waiter } from "../collapse/mod.ts";
import type { Connection, Stream } from "../connection/mod.ts";
import { MESSAGE_PREFIX_BYTES, MessageScanner, STATUS } from "../grpc/mod.ts";
import type { Outcome, PassReason } from "../observe/mod.ts";
import {
  type Exchange,
  type Failure,
  failureReply,
  failureTrailers,
  NO_DEADLINE,
  type ReplySource,
  statusOfFailure,
  type Upstream,
} from "../upstream/mod.ts";
import { type Field, FrameLog } from "../wire/mod.ts";
import { CallClock, type TimedCall } from "./call_clock.ts";
import type { CallContext } from "./call_context.ts";
import { withDebugTrailer } from "./debug_trailer.ts";
import { FlightCall } from "./flight_call.ts";
import type { FlightWaiter } from "./flight_waiter.ts";
import { ownHealthReply } from "./health_reply.ts";
import { type PassedCall, Passthrough } from "./passthrough.ts";
import { NO_FIELDS, readRequestFields, type RequestFields } from "./request_fields.ts";
import type { RequestRoute } from "./request_route.ts";

/** The connection that a call came on, as the call sees it. */
export interface CallerLink {
  readonly connection: Connection<Call>;
  readonly context: CallContext;
  /** Reads of the socket so far. */
  readonly reads: number;
  /** The last read found less than it had room for. */
  readonly isDrained: boolean;
  /** Too much is held for more to be gathered. */
  readonly isFull: boolean;
  flushSoon(): void;
  /** The call waits for its message; it learns so when the read is over and the message was not in it. */
  awaitMessage(call: Call): void;
  /** A call holds so many bytes of its request more than before. */
  held(moreBytes: number): void;
  /** Something of ours failed on behalf of a call: it ends with 13, and nothing else does. */
  fault(stream: Stream<Call>, error: unknown): void;
  /** A call has ended. */
  callEnded(): void;
}

/**
 * Where a call stands: its one message is awaited; it reads what a flight has gathered or has left behind; it has a
 * backend call of its own; it is over.
 */
type Phase = "gathering" | "reading" | "passing" | "done";

/** A caller's call, from its head to the end of its reply. */
export class Call extends Waiter<FlightCall> implements FlightWaiter, PassedCall, TimedCall {
  readonly session: CallerLink;
  readonly stream: Stream<Call>;
  readonly route: RequestRoute;
  readonly perCall: readonly Field[];
  /** When the caller gives up, by the transport's clock. */
  deadlineMs = NO_DEADLINE;
  /** When something last came from the caller. */
  lastByteMs: number;
  readonly receivedMs: number;
  #phase: Phase = "gathering";
  #outcome: Outcome | undefined = undefined;
  #clock: CallClock | undefined = undefined;
  #fields: Readonly<RequestFields> = NO_FIELDS;
  /** The request's DATA, when it did not come whole in one frame. */
  #body: FrameLog | undefined = undefined;
  #scanner: MessageScanner | undefined = undefined;
  /** What it reads, where that is not its flight's. */
  #source: ReplySource | undefined = undefined;
  /** The stored result that it reads. */
  #stored: FlightCall | undefined = undefined;
  /** The backend call it has to itself. */
  #own: Passthrough | undefined = undefined;
  #debugLog: FrameLog | undefined = undefined;
  /** Bytes of the request that nobody has taken yet. */
  #heldBytes = 0;

  constructor(
    session: CallerLink,
    stream: Stream<Call>,
    head: { route: RequestRoute; perCall: readonly Field[]; nowMs: number },
  ) {
    super();
    this.session = session;
    this.stream = stream;
    this.route = head.route;
    this.perCall = head.perCall;
    this.receivedMs = this.lastByteMs = head.nowMs;
  }

  get isGathering(): boolean {
    return this.#phase === "gathering";
  }

  /** A part of a message has come, and the rest of it has not. */
  get isWithinMessage(): boolean {
    return this.#scanner?.partial ?? false;
  }

  get isOver(): boolean {
    return this.#phase === "done";
  }

  /** The backend call that it has to itself. */
  get ownExchange(): Exchange | undefined {
    return this.#own?.exchange;
  }

  // ---- the request

  /** The head is in: the message is awaited, or the call passes at once. */
  begin(endStream: boolean): void {
    if (this.perCall.length > 0) {
      const read = readRequestFields(this.perCall);
      if ("failure" in read) return this.failOwn(read.failure);
      this.#fields = read;
      if (read.timeoutMs !== undefined) this.deadlineMs = this.receivedMs + read.timeoutMs;
    }
    const { keyHead, method, asksHealth } = this.route;
    if (endStream) this.#pass(this.#passReason, true); // no message is not the same as an empty one
    else if (keyHead === undefined && !asksHealth) this.#pass(this.#passReason);
    else if (method.behaviour === "streaming") this.#pass("streaming");
    else this.session.awaitMessage(this);
  }

  /** DATA of the request. */
  data(bytes: Uint8Array, from: number, to: number, endStream: boolean): void {
    if (this.#phase === "gathering") this.#gather(bytes, from, to, endStream);
    else this.#own?.push(bytes, from, to, endStream);
  }

  /** The request's only DATA, and one whole message: the common case, in which only a leader copies anything. */
  answer(bytes: Uint8Array, from: number, to: number): void {
    const { context, connection } = this.session;
    const { keyHead, method } = this.route;
    if (keyHead === undefined) return this.#answerHealth(bytes, from, to);
    if (method.behaviour === "unknown") method.behaviour = "unary";
    const isTooLarge = to - from - MESSAGE_PREFIX_BYTES > context.limits.maxMessageBytes;
    if (isTooLarge) return this.#passWhole(bytes, from, to, "size");
    if (this.#fields.isAlone) return this.#passWhole(bytes, from, to, "no_store");
    const { map } = context;
    const { nowMs } = connection;
    const { isFresh } = this.#fields;
    const key = bodyKey(bytes, from, to, context.codec);
    const flight = isFresh ? undefined : map.lookUp(keyHead, key, nowMs);
    if (flight === undefined) {
      const isPrivate = !isFresh && map.isPrivate(keyHead, key, nowMs);
      if (isPrivate) this.#passWhole(bytes, from, to, "no_store");
      else this.#lead(key, this.#wholeBody(bytes, from, to));
    } else if (flight.stored) this.#readStored(flight);
    else if (map.isFull(flight)) this.#passWhole(bytes, from, to, "followers");
    else this.#join(flight);
  }

  /** The message did not come with the head. */
  awaitQuiet(): void {
    this.#timed().awaitQuiet();
  }

  /** Nothing more has come for too long: this may be a stream. */
  passQuietly(): void {
    this.#pass(this.route.keyHead === undefined ? "method" : "streaming");
  }

  /** Its connection holds too much for the rest of the message to be awaited. */
  passUnfinished(): void {
    this.#pass(this.route.keyHead === undefined ? "method" : "size");
  }

  /** So much of the request is still to be taken by the backend. */
  holds(bytes: number): void {
    if (bytes === this.#heldBytes || this.isOver) return;
    const more = bytes - this.#heldBytes;
    this.#heldBytes = bytes;
    this.session.held(more);
  }

  #gather(bytes: Uint8Array, from: number, to: number, endStream: boolean): void {
    if (from === to && !endStream) return; // it says nothing, and what is gathered must stay empty until it is not
    const { connection, context } = this.session;
    const body = this.#body ??= new FrameLog();
    const scanner = this.#scanner ??= new MessageScanner();
    this.lastByteMs = connection.nowMs;
    body.appendData(bytes, from, to, endStream);
    scanner.scan(bytes, from, to);
    connection.consumed(this.stream, to - from); // what is gathered is bounded just below
    this.holds(body.end); // frame headers included: DATA may come a byte at a time
    const { method } = this.route;
    if (scanner.started > 1) {
      method.behaviour = "streaming";
      this.#pass("streaming");
    } else if (scanner.messageBytes > context.limits.maxMessageBytes) {
      this.#pass("size");
    } else if (endStream && scanner.messages === 1 && !scanner.partial) {
      const whole = body.data();
      this.answer(whole, 0, whole.length);
    } else if (endStream) {
      this.#pass("streaming");
    } else if (this.session.isFull) {
      this.passUnfinished();
    }
  }

  /** The request has served its purpose: another's is sent in its place. */
  #dropBody(): void {
    this.#body = undefined;
    this.holds(0);
  }

  #wholeBody(bytes: Uint8Array, from: number, to: number): FrameLog {
    if (this.#body !== undefined) return this.#body;
    const body = new FrameLog();
    body.appendData(bytes, from, to, true);
    return this.#body = body;
  }

  #answerHealth(bytes: Uint8Array, from: number, to: number): void {
    const log = ownHealthReply(bytes.subarray(from, to), this.session.context.isServing());
    if (log === undefined) return this.#passWhole(bytes, from, to, "method");
    this.#decide("passed", "method");
    this.#read({ log, ended: true, status: STATUS.ok, largestListBytes: 0 });
  }

  // ---- sharing

  #lead(key: string, body: FrameLog): void {
    const { context, connection } = this.session;
    this.#decide("led");
    this.#phase = "reading";
    this.#awaitDeadline();
    const shared = new FlightCall(context);
    const flight = context.map.lead(this.route.keyHead!, key, {
      reply: shared,
      nowMs: connection.nowMs,
    });
    shared.flight = flight;
    context.map.join(flight, this);
    context.missed.led(this.route, flight);
    shared.start(this, body);
  }

  #join(flight: Flight<FlightCall>): void {
    this.#dropBody();
    this.#outcome = "joined"; // counted when it has come to that: the answer may turn out to be private
    this.#phase = "reading";
    this.#awaitDeadline();
    this.session.context.map.join(flight, this);
    if (flight.reply.log.end > 0) this.readMore();
  }

  #readStored(flight: Flight<FlightCall>): void {
    this.#decide("hit");
    this.#dropBody();
    this.#stored = flight.reply;
    flight.reply.readers++; // until it is done: now, unless its window is too small for the whole reply
    this.#read(flight.reply);
  }

  /** The answer it waited for turned out to be another caller's alone; nothing of it was read. */
  passAfterAll(body: FrameLog): void {
    this.session.context.map.leave(this);
    this.#body = body;
    this.#pass("no_store");
  }

  // ---- passing through

  get #passReason(): PassReason {
    if (!this.session.context.collapses) return "mode";
    return this.route.method.verdict.eligible ? "streaming" : "method";
  }

  #passWhole(bytes: Uint8Array, from: number, to: number, reason: PassReason): void {
    this.#wholeBody(bytes, from, to);
    this.#pass(reason);
  }

  /** Makes a backend call for this caller alone, with what there is of its body. */
  #pass(reason: PassReason, headEndsStream = false): void {
    this.#decide("passed", reason);
    this.#phase = "passing";
    this.#awaitDeadline();
    const body = this.#body ?? new FrameLog();
    this.#own = new Passthrough(this, { body, scanner: this.#scanner, headEndsStream });
    this.#source = this.#own.exchange.reply;
    this.#own.start();
  }

  get target(): RequestRoute {
    return this.route;
  }

  get upstream(): Upstream {
    return this.session.context.backend;
  }

  taken(bytes: number): void {
    this.session.connection.consumed(this.stream, bytes);
    this.session.flushSoon();
  }

  askedOnce({ body }: Exchange): void {
    if (!this.route.method.verdict.eligible) this.session.context.missed.passed(this.route, body);
  }

  // ---- the reply

  /** Reads a reply that is whole already. */
  #read(source: ReplySource): void {
    this.#phase = "reading";
    this.#source = source;
    this.readMore();
    if (!this.isOver) this.#awaitDeadline();
  }

  /** Relays what there is of the reply and has not been relayed. */
  readMore(): void {
    if (this.isOver) return;
    const { stream, session, flight } = this;
    const source = flight === undefined ? this.#source! : flight.reply;
    if (source.largestListBytes > session.connection.peer.maxHeaderListBytes) {
      return this.failOwn({ kind: "headersTooLarge", whose: "reply" });
    }
    const log = this.#fields.wantsDebug && source.ended ? this.#logWithDebug(source) : source.log;
    session.connection.relay(stream, log);
    session.flushSoon();
    if (stream.localEnded) this.#finish(source.status);
    else if (flight !== undefined) flight.reply.progressed(stream.position);
    else this.#own?.progressed(stream.position);
  }

  /** Relays more where other callers are served in the same breath: a fault of ours ends this call and not theirs. */
  readMoreOrFail(): void {
    try {
      this.readMore();
    } catch (error) {
      this.session.fault(this.stream, error);
    }
  }

  #logWithDebug(source: ReplySource): FrameLog {
    const { position, partialBytes } = this.stream;
    return this.#debugLog ??= withDebugTrailer(source.log, {
      outcome: this.#outcome!,
      boundary: position + partialBytes,
    });
  }

  // ---- the end

  /** Runs something for this call that a fault of ours may end: this call, and no other. */
  guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.session.fault(this.stream, error);
    }
  }

  /** The caller reset its stream, or its connection is gone. */
  gone(): void {
    if (this.isOver) return;
    this.#withdraw();
    this.#finish(STATUS.cancelled);
  }

  /** Ends this call alone with a failure that is its own: whoever shares with it does not notice. */
  failOwn(failure: Failure): void {
    if (this.isOver) return;
    const { stream, session } = this;
    if (!stream.localEnded) {
      const hasBegun = stream.position > 0;
      const fields = hasBegun ? failureTrailers(failure) : failureReply(failure);
      session.connection.sendFinalHeaders(stream, fields);
      session.flushSoon();
    }
    this.#withdraw();
    this.#finish(statusOfFailure(failure).code);
  }

  /** Waits for nothing any more; the backend call ends when nobody else does. */
  #withdraw(): void {
    const { flight } = this;
    if (flight === undefined) this.#own?.cancel();
    else if (this.session.context.map.leave(this)) flight.reply.cancel();
    else flight.reply.left(this);
  }

  #finish(status: number): void {
    const { context } = this.session;
    const { method } = this.route;
    if (this.#outcome === undefined) this.#decide("rejected");
    else if (this.#outcome === "joined") this.#decide("joined");
    this.holds(0);
    this.#phase = "done";
    this.stream.owner = undefined;
    this.#source = undefined;
    this.#clock?.stop();
    this.#stored?.readerLeft();
    if (this.flight !== undefined) {
      const shared = this.flight.reply;
      context.map.leave(this);
      shared.waiterLeft();
    }
    method.counters.responses.add(status);
    context.counters.durations[this.#outcome!].observe(context.timers.nowMs - this.receivedMs);
    if (this.#own !== undefined) {
      const { exchange } = this.#own;
      exchange.release();
      if (!method.verdict.eligible && exchange.attempts > 0) this.#invalidate();
    }
    this.session.callEnded();
  }

  /** Something may have been changed: what was answered before must not hide it from this caller. */
  #invalidate(): void {
    const { context } = this.session;
    if (!context.limits.invalidates) return;
    const { service } = this.route.method;
    service.generation++;
    context.counters.countInvalidation(service.name);
  }

  #decide(outcome: Outcome, reason?: PassReason): void {
    this.#outcome = outcome;
    this.route.method.counters.outcomes[outcome]++;
    if (reason !== undefined) this.session.context.counters.passed[reason]++;
  }

  // ---- time

  #awaitDeadline(): void {
    if (this.deadlineMs !== NO_DEADLINE) this.#timed().awaitDeadline();
  }

  #timed(): CallClock {
    return this.#clock ??= new CallClock(this);
  }
}
