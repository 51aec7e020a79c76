import {
  type Alone,
  bodyKey,
  decide,
  type Flight,
  type KeyHead,
  takesAge,
} from "../collapse/mod.ts";
import { MESSAGE_PREFIX_BYTES, STATUS } from "../grpc/mod.ts";
import type { PassReason } from "../observe/mod.ts";
import type { ShadowAnswer } from "../trial/mod.ts";
import type { Field, FrameLog } from "../wire/mod.ts";
import type { Stream } from "../connection/mod.ts";
import type { TimedCall } from "./call_clock.ts";
import type { CallerLink } from "./caller_link.ts";
import { DebugLog } from "./debug_trailer.ts";
import { FlightCall } from "./flight_call.ts";
import type { FlightWaiter } from "./flight_waiter.ts";
import { GatheringCall } from "./gathering_call.ts";
import { ownHealthReply } from "./health_reply.ts";
import { type PassedCall, Passthrough, type Witness } from "./passthrough.ts";
import { mayRefresh, Refresh } from "./refresh.ts";
import { NO_FIELDS, readRequestFields, type RequestFields } from "./request_fields.ts";
import type { RequestRoute } from "./request_route.ts";

/** A caller's call, from its head to the end of its reply: what it asks for, and how that is answered. */
export class Call extends GatheringCall<Call> implements FlightWaiter, PassedCall, TimedCall {
  #fields: Readonly<RequestFields> = NO_FIELDS;

  // Written out: the constructor that a class with fields has by itself goes by an array of its arguments.
  constructor(
    session: CallerLink<Call>,
    stream: Stream<Call>,
    route: RequestRoute,
    perCall: readonly Field[],
    nowMs: number,
  ) {
    super(session, stream, route, perCall, nowMs);
  }

  // ---- the request

  /** The head is in: the message is awaited, or the call passes at once. */
  begin(endStream: boolean): void {
    if (this.perCall.length > 0) {
      const read = readRequestFields(this.perCall);
      if ("failure" in read) return this.failOwn(read.failure);
      this.#fields = read;
      if (read.wantsDebug) this.debug = new DebugLog(this.session.context.buffered);
      if (read.timeoutMs !== undefined) this.deadlineMs = this.receivedMs + read.timeoutMs;
    }
    const { awaitsMessage, isCircular } = this.route;
    const { instance } = this.session.connection.peer;
    if (isCircular || instance !== 0 && this.session.context.instances.has(instance)) {
      return this.failOwn({ kind: "unreachable", why: "it leads back here" });
    }
    if (endStream) this.#pass(this.#passReason, { headEndsStream: true }); // no message is not the same as an empty one
    else if (!awaitsMessage) this.#pass(this.#passReason);
    else this.session.awaitMessage(this);
  }

  /** DATA of the request. */
  data(bytes: Uint8Array, from: number, to: number, endStream: boolean): void {
    if (this.phase === "gathering") this.gather(bytes, from, to, endStream);
    else this.own?.push(bytes, from, to, endStream);
  }

  /** The request's only DATA, and one whole message: the common case, in which only a leader copies anything. */
  answer(bytes: Uint8Array, from: number, to: number): void {
    const { context: { codec, map }, connection: { nowMs } } = this.session;
    const { keyHead: head, method } = this.route;
    if (head === undefined) return this.#answerApart(bytes, from, to);
    method.behaviour.saw("unary", nowMs);
    const isTooLarge = to - from - MESSAGE_PREFIX_BYTES > method.settings.maxMessageBytes;
    if (isTooLarge) return this.#passWhole(bytes, from, to, "size");
    if (this.#fields.isAlone) return this.#passWhole(bytes, from, to, "no_store");
    const key = this.ownKey + bodyKey(bytes, from, to, codec);
    const decided = decide(map, { head, bodyKey: key }, this.#fields, nowMs);
    if (method.trial !== undefined) this.#followedAnswer(decided, bytes, from, to);
    if (typeof decided !== "string") {
      if (!decided.stored) this.#join(decided);
      else if (!decided.isStale(nowMs)) this.#readStored(decided, "hit");
      else this.#readStale(decided, bytes, from, to);
    } else if (decided === "lead") {
      if (this.hasRoom(to - from)) this.#lead(key, this.whole(bytes, from, to));
    } else if (decided === "notStored") this.failOwn({ kind: "notStored" });
    else this.#passWhole(bytes, from, to, decided === "full" ? "followers" : "no_store");
  }

  /** The message did not come whole in the read that brought the head. */
  awaitQuiet(): void {
    const { behaviour } = this.route.method;
    if (behaviour.at(this.session.connection.nowMs) === "streaming") this.passQuietly();
    else this.timed().awaitQuiet();
  }

  /** Nothing more has come for too long: this may be a stream. */
  passQuietly(): void {
    const { method } = this.route;
    const { nowMs } = this.session.context.timers;
    const isWhole = !this.isWithinMessage && this.body?.log !== undefined;
    // Its message is there and it has waited for the end in vain: others need not.
    if (isWhole && method.behaviour.at(nowMs) === "unary") method.behaviour.saw("streaming", nowMs);
    this.#pass(this.route.head === undefined ? "method" : "streaming");
  }

  /** The caller's connection holds too much for the rest of the message to be awaited. */
  passUnfinished(): void {
    this.#pass(this.route.head === undefined ? "method" : "size");
  }

  /** Has a sample of those who are given another's answer compare it with one of their own. */
  #followedAnswer(
    decided: Flight<FlightCall> | Alone,
    bytes: Uint8Array,
    from: number,
    to: number,
  ) {
    if (typeof decided === "string") return;
    const { route: { list, method }, perCall, deadlineMs } = this;
    const follower = { method, asker: { list, perCall }, deadlineMs };
    const copy = () => this.copyOf(bytes, from, to);
    this.followed = this.session.context.verifier.follow(decided, follower, copy);
  }

  /** The whole message of a call that shares nothing is there. */
  #answerApart(bytes: Uint8Array, from: number, to: number): void {
    if (this.route.shadowHead === undefined) this.#answerHealth(bytes, from, to);
    else this.#rehearse(this.route.shadowHead, bytes, from, to);
  }

  /** The call has a backend call to itself, and is counted as what it would have been. */
  #rehearse(head: KeyHead<ShadowAnswer>, bytes: Uint8Array, from: number, to: number): void {
    const { context: { codec, shadow }, connection: { nowMs } } = this.session;
    const { list, method } = this.route;
    method.behaviour.saw("unary", nowMs);
    if (!this.hasRoom(to - from)) return;
    const isApart = this.#fields.isAlone ||
      to - from - MESSAGE_PREFIX_BYTES > method.settings.maxMessageBytes;
    const key = isApart ? "" : this.ownKey + bodyKey(bytes, from, to, codec);
    const body = this.whole(bytes, from, to);
    if (isApart) return this.#pass("mode", { body });
    const asker = { list, perCall: this.perCall };
    const question = { method, head, bodyKey: key, asker, wishes: this.#fields };
    this.#pass("mode", { body, witness: shadow.begins(question, body) });
  }

  #answerHealth(bytes: Uint8Array, from: number, to: number): void {
    const log = ownHealthReply(bytes.subarray(from, to), this.session.context.isServing());
    if (log === undefined) return this.#passWhole(bytes, from, to, "method");
    this.decide("passed", "method");
    this.body?.drop(); // nobody else is asked
    this.read({ log, ended: true, status: STATUS.ok, largestListBytes: 0, knowsMethod: false });
  }

  // ---- sharing

  #isTooOld({ storedMs }: Flight<FlightCall>): boolean {
    return !takesAge(this.#fields, this.session.context.timers.nowMs - storedMs);
  }

  #lead(key: string, body: FrameLog): void {
    this.phase = "reading";
    this.awaitDeadline();
    const shared = new FlightCall(this.session.context);
    try {
      this.#takeFlight(key, shared);
    } catch (error) { // of ours: nobody else would let go of the request
      body.clear();
      throw error;
    }
    shared.start(this, body);
    // What waits for a place may be turned away, and what is stale may have to stand in.
    if (this.isProvisional && this.flight?.refreshes === undefined && shared.wasSent) {
      this.decide("led");
    }
  }

  #takeFlight(key: string, shared: FlightCall): void {
    const { context, connection } = this.session;
    const flight = context.map.lead(this.route.keyHead!, key, {
      reply: shared,
      nowMs: connection.nowMs,
    });
    shared.flight = flight;
    this.decideLater("led");
    context.map.join(flight, this);
    context.missed.led(this.route, flight);
  }

  #join(flight: Flight<FlightCall>): void {
    this.body?.drop(); // another's request is sent in its place
    this.decideLater("joined"); // the answer may turn out to be private
    this.phase = "reading";
    this.awaitDeadline();
    this.session.context.map.join(flight, this);
    flight.reply.joined(this);
    if (flight.reply.log.end > 0) this.readMore();
  }

  /** The answer that it waited for could not be had; nothing of it was read. */
  answerStale(stale: Flight<FlightCall>): boolean {
    const { context } = this.session;
    const failed = this.flight!.reply;
    if (this.stream.position > 0 || this.#isTooOld(stale)) return false;
    this.unfollow();
    context.map.leave(this);
    failed.left(this);
    this.route.method.counters.staleForErrors++;
    this.#readStored(stale, "stale");
    return true;
  }

  /** Answers with what is stale, and sees to its being fetched anew: with this caller's request, and not in its time. */
  #readStale(flight: Flight<FlightCall>, bytes: Uint8Array, from: number, to: number): void {
    const { context } = this.session;
    if (mayRefresh(flight, context) && context.buffered.hasRoom(to - from)) {
      new Refresh(context, flight, this).begin(this.whole(bytes, from, to));
    }
    this.#readStored(flight, "stale");
  }

  #readStored(flight: Flight<FlightCall>, outcome: "hit" | "stale"): void {
    this.decide(outcome);
    this.body?.drop(); // another's request is sent in its place
    this.stored = flight.reply;
    flight.reply.readers++; // until it is done: now, unless its window is too small for the whole reply
    this.read(flight.reply);
  }

  /** The answer it waited for turned out to be another caller's alone; nothing of it was read. */
  passAfterAll(body: FrameLog): void {
    this.unfollow();
    this.session.context.map.leave(this);
    this.#pass("no_store", { body });
  }

  // ---- passing through

  get #passReason(): PassReason {
    const { verdict, settings: { mode }, trial } = this.route.method;
    if (mode === "off" || trial?.off !== undefined) return "mode";
    return verdict.eligible ? "streaming" : "method";
  }

  protected passGathered(reason: PassReason): void {
    this.#pass(reason);
  }

  #passWhole(bytes: Uint8Array, from: number, to: number, reason: PassReason): void {
    if (!this.hasRoom(to - from)) return;
    this.#pass(reason, { body: this.whole(bytes, from, to) });
  }

  /** Makes a backend call for this caller alone, with what there is of its body. */
  #pass(
    reason: PassReason,
    { body = this.body?.take() ?? this.newLog(), headEndsStream = false, witness }: {
      body?: FrameLog;
      headEndsStream?: boolean;
      witness?: Witness | undefined;
    } = {},
  ): void {
    const { keyHead, shadowHead, method } = this.route;
    if (keyHead !== undefined && this.#fields.isOnlyIfCached) {
      body.clear();
      return this.failOwn({ kind: "notStored" }); // what passes is never stored
    }
    if (!this.hasRoom(0)) {
      witness?.left();
      return body.clear();
    }
    if (shadowHead !== undefined && witness === undefined) {
      this.session.context.shadow.passes(method);
    }
    this.decideLater("passed", shadowHead === undefined ? reason : "mode");
    this.phase = "passing";
    this.awaitDeadline();
    this.own = new Passthrough(this, body, this.body?.scanner, { headEndsStream, witness });
    this.source = this.own.exchange.reply;
    this.own.start();
    if (this.isProvisional && this.own.exchange.attempts > 0) {
      this.decide("passed", this.passReason);
    }
  }
}
