import { formatTimeout } from "../grpc/mod.ts";
import type { UpstreamObserver } from "../observe/mod.ts";
import { Alarm } from "../transport/mod.ts";
import { Field, type FrameLog, type HeaderList } from "../wire/mod.ts";
import type { Failure } from "./failure.ts";
import { GatheredReply } from "./gathered_reply.ts";
import { type Lack, NO_PLACE, type Place } from "./place.ts";

/** No deadline. */
export const NO_DEADLINE = 0;

/** What a call is sent to: the head of its request, and what bounds its method. */
export interface Target {
  /** The request's fields, those of this call alone left out. */
  readonly list: HeaderList;
  readonly method: {
    readonly path: string;
    readonly policy: {
      /** Calls of the method at one backend at once, those that wait there included; undefined where nothing bounds them. */
      readonly maxConcurrent?: number;
    };
  };
}

/** The key of a call that may be shared, in the two parts that it is kept in. */
export interface PlacementKey {
  readonly head: {
    readonly text: string;
    /** A hash of the text, made when somebody first places calls by it. */
    placementHash: number | undefined;
  };
  readonly bodyKey: string;
}

/** Backends as callers' calls see them: several may stand behind it. */
export interface Upstream {
  /** Sends the call, now or when there is room; every end is told to the exchange's owner. */
  start(exchange: Exchange): void;
  /** More of the request is there. */
  bodyGrew(exchange: Exchange): void;
  /** Nobody waits for the call any more: it ends, and its owner hears nothing. */
  cancel(exchange: Exchange): void;
  /** Ends the call for this reason, which its owner hears like any end. */
  settle(exchange: Exchange, failure: Failure): void;
}

/** The backend that a call was given to. */
export interface Backend extends Upstream {
  readonly name: string;
  /** What a call that waits here is short of. */
  lackOf(exchange: Exchange): Lack;
  /** What somebody who gives up on the call is told, and others do not: a call that waits was not left unanswered. */
  reasonFor(exchange: Exchange, failure: Failure): Failure;
}

/** One sending of a call: its stream on a connection. The connection's session makes it, and alone changes it. */
export interface Attempt {
  /** When the head was sent. */
  readonly startedMs: number;
  /** Position in the body up to which it was sent. */
  readonly sentTo: number;
  /** What came is told to the exchange's owner once everything that was read together is in. */
  readonly isTouched: boolean;
  /** Sends what there is of the body and has not been sent. */
  sendBody(): void;
  /** Lets the backend send so many bytes more. */
  credit(bytes: number): void;
  /** Lets go of the stream, and resets it where it is open. */
  abandon(): void;
}

/** Whoever wanted the call made. */
export interface ExchangeOwner {
  /** More of the reply is in the log. */
  replyGrew(): void;
  /** The log has its end, the backend's or one of ours. */
  replyEnded(nowMs: number): void;
  /** Another part of the request than before waits to be sent: some went out, or all of it waits. */
  bodyMoved(): void;
  /** The time for which the exchange was set as an alarm has come. */
  timeIsUp(nowMs: number): void;
  /** Something of ours failed while it was told: whoever waits is told so instead. */
  faulted(): void;
}

/**
 * Whether a call may wait for a place: as long as it takes; only where there is one backend and so nobody else's calls to
 * let through; or not at all, since nobody waits for it, and only few such calls may be under way.
 */
export type MayQueue = "yes" | "alone" | "no";

/** What an exchange is made of. */
export interface ExchangeRequest {
  readonly target: Target;
  /** Decides where the call goes; undefined for one that nobody may share. */
  readonly key?: PlacementKey;
  /** The fields that belong to this call alone. */
  readonly perCall: readonly Field[];
  /** The request's DATA frames; it grows while the caller sends. */
  readonly body: FrameLog;
  /** The owner may need the whole body again. @default false */
  readonly keepsBody?: boolean;
  /** The request has no DATA at all: its HEADERS end the stream. @default false */
  readonly headEndsStream?: boolean;
  /** When the caller gives up, by the transport's clock; it is passed on as what is left. */
  readonly deadlineMs: number;
  /**
   * The least that is passed on where there is a deadline: others than the caller may wait, and have longer.
   * @default 0
   */
  readonly leastTimeoutMs?: number;
  /** What is passed on whatever is left: the policy says how long the method may take. */
  readonly timeoutMs?: number | undefined;
  /** @default "yes" */
  readonly mayQueue?: MayQueue;
  /** The sidecar makes the call by itself, to learn of a backend: it takes no place and is counted nowhere. @default false */
  readonly isProbe?: boolean;
}

/**
 * One call to a backend. Its state is in three parts, each written by one hand: its place (the bulkhead's), its attempt
 * (the session's) and its reply. It has one end (`Endpoint.settle`), whatever the way there. It is its owner's alarm as
 * well, where the owner bounds it in time.
 */
export class Exchange extends Alarm {
  readonly target: Target;
  readonly key: PlacementKey | undefined;
  readonly isProbe: boolean;
  readonly mayQueue: MayQueue;
  readonly perCall: readonly Field[];
  readonly body: FrameLog;
  readonly keepsBody: boolean;
  readonly headEndsStream: boolean;
  /** When whoever it is made for gives up; of a call that may be shared that is one of several, whose time its owner keeps. */
  deadlineMs: number;
  readonly leastTimeoutMs: number;
  readonly #timeoutMs: number | undefined;
  /** The deadline that the backend was told of. */
  sentDeadlineMs = NO_DEADLINE;
  /** More than one message went either way, so the call may last for ever and needs no place. */
  isStreaming = false;
  /** Times the call was sent. */
  attempts = 0;
  /** The backend that has the call now. */
  at: Backend | undefined = undefined;
  /** The name of the backend that had the call last; "" while it is with the first. */
  servedBy = "";
  place: Place = NO_PLACE;
  /** The sending under way; undefined while the call waits to be sent. */
  attempt: Attempt | undefined = undefined;
  /** What is held of it is counted where the body is. */
  readonly reply: GatheredReply;
  /** Undefined once nobody waits for the end, or it was told. */
  #owner: ExchangeOwner | undefined;
  readonly #hadDeadline: boolean;
  #isBodyCleared = false;

  constructor(owner: ExchangeOwner, request: ExchangeRequest) {
    super();
    this.#owner = owner;
    this.target = request.target;
    this.key = request.key;
    this.isProbe = request.isProbe ?? false;
    this.mayQueue = request.mayQueue ?? "yes";
    this.perCall = request.perCall;
    this.body = request.body;
    this.reply = new GatheredReply(request.body.account);
    this.keepsBody = request.keepsBody ?? false;
    this.headEndsStream = request.headEndsStream ?? false;
    this.deadlineMs = request.deadlineMs;
    this.leastTimeoutMs = request.leastTimeoutMs ?? 0;
    this.#timeoutMs = request.timeoutMs;
    this.#hadDeadline = request.deadlineMs !== NO_DEADLINE;
  }

  override wake(nowMs: number): void {
    this.#owner?.timeIsUp(nowMs);
  }

  /** Several may wait for the call, each with a time of its own. */
  get isShared(): boolean {
    return this.key !== undefined;
  }

  /** The fields that belong to this call alone, with the time that is left in place of the time that was given. */
  fieldsToSend(nowMs: number): readonly Field[] {
    const { deadlineMs } = this;
    this.sentDeadlineMs = deadlineMs;
    if (this.#timeoutMs !== undefined) return this.#withTimeout(this.#timeoutMs, nowMs);
    if (deadlineMs === NO_DEADLINE && this.#hadDeadline) return this.perCall.filter(isNoTimeout);
    if (deadlineMs === NO_DEADLINE) return this.perCall;
    this.sentDeadlineMs = Math.max(deadlineMs, nowMs + this.leastTimeoutMs);
    const timeoutMs = Math.max(deadlineMs - nowMs, this.leastTimeoutMs);
    const left = new Field("grpc-timeout", formatTimeout(timeoutMs), { perCall: true });
    return this.perCall.map((field) => field.name === "grpc-timeout" ? left : field);
  }

  #withTimeout(timeoutMs: number, nowMs: number): readonly Field[] {
    this.sentDeadlineMs = nowMs + timeoutMs;
    const field = new Field("grpc-timeout", formatTimeout(timeoutMs), { perCall: true });
    return [...this.perCall.filter(isNoTimeout), field];
  }

  /** Bytes of the body that are there and were not sent. */
  get unsentBytes(): number {
    return this.body.end - (this.attempt?.sentTo ?? 0);
  }

  /** Whether the call can be sent once more: nothing of the reply has come, and the request is still whole. */
  get canRepeat(): boolean {
    return !this.reply.ended && !this.reply.hasBegun && this.body.start === 0;
  }

  /** Another part of the body than before waits to be sent. */
  bodyMoved(): void {
    this.#owner?.bodyMoved();
  }

  /** Nobody waits for the end any more. */
  disown(): void {
    this.#owner = undefined;
  }

  /**
   * Tells the owner what has come, the end once. A fault of ours in that ends the call for those who wait, and nothing
   * else.
   */
  tell(nowMs: number, observer: UpstreamObserver): void {
    const owner = this.#owner;
    if (owner === undefined) return;
    const { ended } = this.reply;
    if (ended) this.#owner = undefined; // nothing that lives on may lead to who is done
    try {
      if (ended) owner.replyEnded(nowMs);
      else owner.replyGrew();
    } catch (error) {
      observer.faultOfOurs("passing a reply on", error);
      owner.faulted();
    }
  }

  /** Nothing is sent of the request any more: its storage is free, or theirs who share it. */
  clearBody(): void {
    if (this.#isBodyCleared) return; // a second time would be in the place of another who shares it
    this.#isBodyCleared = true;
    this.body.clear();
  }

  /** Nothing reads the logs any more: their storage is free. */
  release(): void {
    this.reply.log.clear();
    this.clearBody();
  }

  /**
   * The reader that is furthest has `unreadBytes` of the log to go: the backend may send as much as that was. Returns
   * whether it is told so.
   */
  credit(unreadBytes: number): boolean {
    const { attempt, reply } = this;
    const due = reply.receivedBytes - reply.creditedBytes - Math.max(0, unreadBytes);
    if (due <= 0 || attempt === undefined) return false;
    reply.creditedBytes += due;
    attempt.credit(due);
    return true;
  }
}

function isNoTimeout({ name }: Field): boolean {
  return name !== "grpc-timeout";
}
