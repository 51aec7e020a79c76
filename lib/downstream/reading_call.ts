import { Waiter } from "../collapse/mod.ts";
import type { Stream } from "../connection/mod.ts";
import { STATUS } from "../grpc/mod.ts";
import type { Outcome, PassReason } from "../observe/mod.ts";
import type { FollowedAnswer } from "../trial/mod.ts";
import {
  type Exchange,
  type Failure,
  failureReply,
  failureTrailers,
  isRefusal,
  type MayQueue,
  NO_DEADLINE,
  type ReplySource,
  statusOfFailure,
} from "../upstream/mod.ts";
import { ERROR_CODE, type Field } from "../wire/mod.ts";
import { CallClock } from "./call_clock.ts";
import { CROWDED_STREAMS } from "./caller_limits.ts";
import type { CallerLink } from "./caller_link.ts";
import type { DebugLog } from "./debug_trailer.ts";
import type { FlightCall } from "./flight_call.ts";
import type { Passthrough } from "./passthrough.ts";
import type { RequestBody } from "./request_body.ts";
import type { RequestRoute } from "./request_route.ts";

/**
 * A cancel counts as the caller's deadline when so little of its time is left: a tenth, and no more than what two clocks and
 * the way of a cancel may differ by.
 */
const MAX_SLACK_MS = 50;
const SLACK_SHARE = 0.1;

/**
 * Where a call stands: its one message is awaited; it reads what a flight has gathered or has left behind; it has a
 * backend call of its own; it is over.
 */
type Phase = "gathering" | "reading" | "passing" | "done";

/**
 * A caller's call as a reader: whatever reply it was given to read, a flight's, a stored one or its own, up to the one
 * end that it has. What it is given is decided by `Call`, of which this is the lower half; `Self` is that class.
 */
export abstract class ReadingCall<Self> extends Waiter<FlightCall> {
  readonly session: CallerLink<Self>;
  readonly stream: Stream<Self>;
  readonly route: RequestRoute;
  readonly perCall: readonly Field[];
  /** When the caller gives up, by the transport's clock. */
  deadlineMs = NO_DEADLINE;
  /** When something last came from the caller. */
  lastByteMs: number;
  readonly receivedMs: number;
  protected phase: Phase = "gathering";
  protected outcome: Outcome | undefined = undefined;
  /** The outcome is counted at the end: the answer may turn out to be another. */
  protected isProvisional = false;
  /** Why the call passes, while that is not counted yet. */
  protected passReason: PassReason | undefined = undefined;
  #clock: CallClock | undefined = undefined;
  /** What is kept of the request; undefined while nothing is. */
  protected body: RequestBody | undefined = undefined;
  /** The reply that is read, where that is not the flight's. */
  protected source: ReplySource | undefined = undefined;
  /** The stored result that is read. */
  protected stored: FlightCall | undefined = undefined;
  /** The backend call that the call has to itself. */
  protected own: Passthrough | undefined = undefined;
  /** The answer is compared with one of the call's own, once this caller has it. */
  protected followed: FollowedAnswer | undefined = undefined;
  protected debug: DebugLog | undefined = undefined;

  /** `perCall` is the fields that belong to this call alone, `nowMs` when the head came. */
  constructor(
    session: CallerLink<Self>,
    stream: Stream<Self>,
    route: RequestRoute,
    perCall: readonly Field[],
    nowMs: number,
  ) {
    super();
    this.session = session;
    this.stream = stream;
    this.route = route;
    this.perCall = perCall;
    this.receivedMs = this.lastByteMs = nowMs;
  }

  get isGathering(): boolean {
    return this.phase === "gathering";
  }

  /** A call of a connection that has many open must not wait for one backend among several. */
  get mayQueue(): MayQueue {
    return this.session.connection.openStreams > CROWDED_STREAMS ? "alone" : "yes";
  }

  get isOver(): boolean {
    return this.phase === "done";
  }

  /** The backend call that the call has to itself. */
  get ownExchange(): Exchange | undefined {
    return this.own?.exchange;
  }

  /** Nothing more has come for too long: this may be a stream. */
  abstract passQuietly(): void;
  abstract readonly isWithinMessage: boolean;

  // ---- the reply

  /** Reads a reply that is whole already. */
  protected read(source: ReplySource): void {
    this.phase = "reading";
    this.source = source;
    this.readMore();
    if (!this.isOver) this.awaitDeadline();
  }

  /** Relays what there is of the reply and has not been relayed. */
  readMore(): void {
    if (this.isOver) return;
    const { stream, session, flight } = this;
    if (flight?.reply.holdsBack(this)) return;
    const { method } = this.route;
    const source = flight === undefined ? this.source! : flight.reply;
    if (source.knowsMethod && !method.isConfirmed) session.context.methods.confirm(method);
    if (source.isStream && !method.streams) session.context.methods.streams(method);
    if (source.largestListBytes > session.connection.peer.maxHeaderListBytes) {
      return this.failOwn({ kind: "headersTooLarge", whose: "reply" });
    }
    if (session.connection.draining && this.#isUnsent(source)) return this.#refuse();
    if (source.ended && this.isProvisional) this.#settle(source.failure);
    const log = source.ended && this.debug?.of(source.log, stream, this.outcome!) || source.log;
    session.connection.relay(stream, log);
    session.flushSoon();
    if (stream.localEnded) return this.#finish(source.status);
    if (stream.position < log.end) session.unread.watch();
    if (flight !== undefined) flight.reply.progressed(stream.position);
    else this.own?.progressed(stream.position);
  }

  /** Relays more where other callers are served in the same breath: a fault of ours ends this call and not theirs. */
  readMoreOrFail(): void {
    try {
      this.readMore();
    } catch (error) {
      this.session.fault(this.stream, error);
    }
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
    this.unfollow();
    this.#withdraw();
    this.#finish(this.#isOutOfTime ? STATUS.deadlineExceeded : STATUS.cancelled);
  }

  /** A client whose deadline has passed cancels, and may be a little before our own clock: that is no change of mind. */
  get #isOutOfTime(): boolean {
    const { deadlineMs, receivedMs } = this;
    if (deadlineMs === NO_DEADLINE) return false;
    const slackMs = Math.min(MAX_SLACK_MS, (deadlineMs - receivedMs) * SLACK_SHARE);
    return this.session.context.timers.nowMs >= deadlineMs - slackMs;
  }

  /** Ends this call alone with a failure that is its own: whoever shares with it does not notice. */
  failOwn(failure: Failure): void {
    if (this.isOver) return;
    const { stream, session } = this;
    if (this.isProvisional) this.#settle(failure);
    if (!stream.localEnded) {
      const hasBegun = stream.position > 0;
      const fields = hasBegun ? failureTrailers(failure) : failureReply(failure);
      session.connection.sendFinalHeaders(stream, fields);
      session.flushSoon();
    }
    this.unfollow();
    this.#withdraw();
    this.#finish(statusOfFailure(failure).code);
  }

  /** The call goes without the answer that was to be compared. */
  protected unfollow(): void {
    this.followed?.drop();
    this.followed = undefined;
  }

  /** No backend has seen the call, and the caller has been given nothing. */
  #isUnsent({ ended, failure }: ReplySource): boolean {
    return ended && failure?.kind === "unreachable" && this.stream.position === 0;
  }

  /**
   * Ends the call as one that was not begun (RFC 9113 §8.7): a caller that was told to go makes it again by itself, where
   * it goes to.
   */
  #refuse(): void {
    const { stream, session } = this;
    session.connection.reset(stream, ERROR_CODE.refusedStream);
    session.flushSoon();
    this.#withdraw();
    this.#finish(STATUS.unavailable);
  }

  /** Waits for nothing any more; the backend call ends when nobody else does. */
  #withdraw(): void {
    const { flight } = this;
    if (flight === undefined) this.own?.cancel();
    else if (this.session.context.map.leave(this)) flight.reply.cancel(this.deadlineMs);
    else flight.reply.left(this);
  }

  #finish(status: number): void {
    const { context } = this.session;
    const { method } = this.route;
    if (this.outcome === undefined) this.decide("rejected");
    else if (this.isProvisional) this.decide(this.outcome, this.passReason);
    this.body?.drop();
    this.phase = "done";
    this.stream.owner = undefined;
    this.source = undefined;
    this.#clock?.stop();
    this.followed?.told();
    this.stored?.readerLeft();
    if (this.flight !== undefined) {
      const shared = this.flight.reply;
      context.map.leave(this);
      shared.waiterLeft();
    }
    method.counters.responses.add(status);
    if (status === STATUS.ok) context.counters.good[this.outcome!]++;
    if (!method.isConfirmed) context.methods.ended(method);
    context.counters.durations[this.outcome!].observe(context.timers.nowMs - this.receivedMs);
    this.own?.release();
    this.debug?.release();
    this.session.callEnded();
  }

  /** The call was turned away, whatever it would have been; or it is what it was to be. */
  #settle(failure: Failure | undefined): void {
    if (isRefusal(failure)) this.decide("rejected");
    else this.decide(this.outcome!, this.passReason);
  }

  /** The outcome is counted once it is certain that the call is not turned away, nor given anything else. */
  protected decideLater(outcome: Outcome, reason?: PassReason): void {
    if (!this.isProvisional) this.session.context.counters.undecided++;
    this.outcome = outcome;
    this.passReason = reason;
    this.isProvisional = true;
  }

  protected decide(outcome: Outcome, reason?: PassReason): void {
    const { counters } = this.session.context;
    if (this.isProvisional) counters.undecided--;
    this.outcome = outcome;
    this.isProvisional = false;
    this.route.method.counters.outcomes[outcome]++;
    if (reason !== undefined) counters.passed[reason]++;
  }

  // ---- time

  protected awaitDeadline(): void {
    if (this.deadlineMs !== NO_DEADLINE) this.timed().awaitDeadline();
  }

  protected timed(): CallClock {
    return this.#clock ??= new CallClock(this);
  }
}
