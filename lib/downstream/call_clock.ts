import { Alarm, type Timers } from "../transport/mod.ts";
import { type Failure, NO_DEADLINE } from "../upstream/mod.ts";
import type { Behaviour } from "./behaviour.ts";

/** A call of a method that nothing is known of passes when it has been silent this long: it may be a stream. */
const QUIET_UNKNOWN_MS = 10;

/**
 * One of a method that was seen to half-close after its one message is given this long, and so is one that is within a
 * message: the rest is on its way over a slow link, and until it is there no backend could answer either.
 */
const QUIET_UNARY_MS = 1_000;

/** An alarm that comes this late tells of a busy loop, behind which the caller's bytes may lie unread. */
const BUSY_LATENESS_MS = 5;

/** A caller's call, as its clock sees it. */
export interface TimedCall {
  /** When the caller gives up. */
  readonly deadlineMs: number;
  /** When something last came from the caller. */
  readonly lastByteMs: number;
  readonly isGathering: boolean;
  /** A part of a message has come, and the rest of it has not. */
  readonly isWithinMessage: boolean;
  readonly route: { readonly method: { readonly behaviour: Behaviour } };
  /** The connection that the call came on. */
  readonly session: {
    readonly context: { readonly timers: Timers };
    /** Reads of the socket so far. */
    readonly reads: number;
    /** The last read found less than it had room for. */
    readonly isDrained: boolean;
  };
  guard(work: () => void): void;
  failOwn(failure: Failure): void;
  /** Nothing more has come for too long: this may be a stream. */
  passQuietly(): void;
}

/**
 * The time of one call: its deadline, and how long its message is awaited. Most calls are answered before either
 * matters, so a call makes one only when it has to wait.
 */
export class CallClock extends Alarm {
  #call: TimedCall;

  constructor(call: TimedCall) {
    super();
    this.#call = call;
  }

  /** The message did not come with the head: the call passes when nothing follows for a while. */
  awaitQuiet(): void {
    this.#set(this.#call.lastByteMs + this.#patienceMs);
  }

  awaitDeadline(): void {
    this.#set(Infinity);
  }

  stop(): void {
    this.#call.session.context.timers.cancel(this);
  }

  override wake(nowMs: number, lateMs: number): void {
    const call = this.#call;
    call.guard(() => {
      if (call.deadlineMs !== NO_DEADLINE && nowMs >= call.deadlineMs) {
        call.failOwn({ kind: "deadline" });
      } else if (call.isGathering) {
        this.#judgeSilence(nowMs, lateMs);
      } else {
        this.awaitDeadline();
      }
    });
  }

  #judgeSilence(nowMs: number, lateMs: number): void {
    const call = this.#call;
    const silentMs = nowMs - call.lastByteMs;
    if (silentMs < this.#patienceMs) return this.awaitQuiet();
    if (lateMs > BUSY_LATENESS_MS && silentMs < QUIET_UNARY_MS) {
      return this.#set(nowMs + QUIET_UNKNOWN_MS);
    }
    // One more turn of the loop delivers whatever lay ready in the socket.
    const seenMs = call.lastByteMs;
    const seenReads = call.session.reads;
    call.session.context.timers.clock.after(0, () => this.#passIfStillQuiet(seenMs, seenReads));
  }

  #passIfStillQuiet(seenMs: number, seenReads: number): void {
    const call = this.#call;
    if (!call.isGathering) return;
    // What filled its read exactly may have been all there was: then the turn has brought nothing.
    const nothingWaits = call.session.isDrained || call.session.reads === seenReads;
    if (call.lastByteMs === seenMs && nothingWaits) call.guard(() => call.passQuietly());
    else this.#set(call.session.context.timers.refresh() + QUIET_UNKNOWN_MS);
  }

  get #patienceMs(): number {
    const { route, isWithinMessage, lastByteMs } = this.#call;
    const isPatient = isWithinMessage || route.method.behaviour.at(lastByteMs) === "unary";
    return isPatient ? QUIET_UNARY_MS : QUIET_UNKNOWN_MS;
  }

  #set(dueMs: number): void {
    const { deadlineMs, session } = this.#call;
    const soonestMs = deadlineMs === NO_DEADLINE ? dueMs : Math.min(dueMs, deadlineMs);
    if (soonestMs < Infinity) session.context.timers.set(this, soonestMs);
  }
}
