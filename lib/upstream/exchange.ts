import type { Stream } from "../connection/mod.ts";
import { formatTimeout, isOneMessage, MessageScanner } from "../grpc/mod.ts";
import { Alarm } from "../transport/mod.ts";
import { Field, FrameLog, type HeaderList } from "../wire/mod.ts";
import type { CachePolicy } from "./cache_policy.ts";
import { type Failure, statusOfFailure } from "./failure.ts";
import type { UpstreamObserver } from "../observe/mod.ts";
import { appendFailure } from "./failure_reply.ts";

/** No deadline. */
export const NO_DEADLINE = 0;

/** No status yet. */
export const NO_STATUS = -1;

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
  /** Ends the call for this reason, by default that nobody waits any more; its owner hears nothing. */
  cancel(exchange: Exchange, failure?: Failure): void;
}

/** The backend that a call was given to. */
export interface Backend extends Upstream {
  readonly name: string;
}

/** The connection that a call was sent on. */
export interface Carrier {
  /** Sends what there is of the body and has not been sent. */
  sendBody(exchange: Exchange): void;
  /** Lets the backend send so many bytes more. */
  credit(stream: Stream<Exchange>, bytes: number): void;
  /** Resets the stream, where it is open. */
  cancel(exchange: Exchange): void;
}

/** Whoever wanted the call made. */
export interface ExchangeOwner {
  /** More of the reply is in the log. */
  replyGrew(): void;
  /** The log has its end, the backend's or one of ours. */
  replyEnded(nowMs: number): void;
  /** Some of the request went out. */
  bodyMoved(): void;
  /** The time for which the exchange was set as an alarm has come. */
  timeIsUp(nowMs: number): void;
  /** Something of ours failed while it was told: whoever waits is told so instead. */
  faulted(): void;
}

/** What a caller reads: a reply as far as it has come. */
export interface ReplySource {
  readonly log: FrameLog;
  /** The log has its end. */
  readonly ended: boolean;
  /** The gRPC status that it ended with. */
  readonly status: number;
  /** The larger of its header lists, as far as they have come (RFC 9113 §6.5.2). */
  readonly largestListBytes: number;
}

/**
 * One call to a backend: a request that is being sent, and the log of its reply. It is its owner's alarm as well, where
 * the owner bounds it in time.
 */
export class Exchange extends Alarm implements ReplySource {
  readonly owner: ExchangeOwner;
  readonly target: Target;
  /** What may decide where it goes; undefined for a call that nobody may share. */
  readonly key: PlacementKey | undefined;
  /** The sidecar makes it by itself, to learn how a backend is. */
  readonly isProbe: boolean;
  readonly perCall: readonly Field[];
  /** The request's DATA frames; it grows while the caller sends. */
  readonly body: FrameLog;
  /** The owner may need the whole body again. */
  readonly keepsBody: boolean;
  /** The request has no DATA at all: its HEADERS end the stream. */
  readonly headEndsStream: boolean;
  /** When the caller gives up, by the transport's clock; it is passed on as what is left. */
  deadlineMs: number;
  /** The deadline that the backend was told of. */
  sentDeadlineMs = NO_DEADLINE;
  #hadDeadline: boolean;
  readonly log = new FrameLog();
  /** Where it went, when there are several. */
  backend: Backend | undefined = undefined;
  session: Carrier | undefined = undefined;
  stream: Stream<Exchange> | undefined = undefined;
  startedMs = 0;
  /** Times it was sent. */
  attempts = 0;
  ended = false;
  /** The gRPC status it ended with. */
  status = NO_STATUS;
  largestListBytes = 0;
  /** It ended by a failure and not by the backend's own status. */
  failure: Failure | undefined = undefined;
  /** It waits in a backend's queue. */
  pending = false;
  /** More than one message went either way, so it no longer counts against the bulkhead. */
  streaming = false;
  /** It holds a place in the bulkhead. */
  counted = false;
  /** It counts against what the policy allows of its method. */
  countedByMethod = false;
  /** Its session will tell the owner what came. */
  touched = false;
  /** The backend has refused it: it can be sent again. */
  isRefused = false;
  /** The reply is for its caller alone. */
  isPrivate = false;
  /** Longest that the reply allows itself to be kept. */
  maxAgeMs = Infinity;
  /** DATA bytes of the reply, and those of them that the backend was given credit for. */
  receivedBytes = 0;
  creditedBytes = 0;
  /** Follows the reply's messages once it is more than one frame. */
  #replyScanner: MessageScanner | undefined = undefined;

  constructor(
    owner: ExchangeOwner,
    request: {
      target: Target;
      perCall: readonly Field[];
      body: FrameLog;
      keepsBody?: boolean;
      headEndsStream?: boolean;
      deadlineMs: number;
      key?: PlacementKey;
      isProbe?: boolean;
    },
  ) {
    super();
    this.owner = owner;
    this.target = request.target;
    this.key = request.key;
    this.isProbe = request.isProbe ?? false;
    this.perCall = request.perCall;
    this.body = request.body;
    this.keepsBody = request.keepsBody ?? false;
    this.headEndsStream = request.headEndsStream ?? false;
    this.deadlineMs = request.deadlineMs;
    this.#hadDeadline = request.deadlineMs !== NO_DEADLINE;
  }

  override wake(nowMs: number): void {
    this.owner.timeIsUp(nowMs);
  }

  /** The fields that belong to this call alone, with the time that is left in place of the time that was given. */
  fieldsToSend(nowMs: number): readonly Field[] {
    const { deadlineMs } = this;
    this.sentDeadlineMs = deadlineMs;
    if (deadlineMs === NO_DEADLINE && this.#hadDeadline) return this.perCall.filter(isNoTimeout);
    if (deadlineMs === NO_DEADLINE) return this.perCall;
    const left = new Field("grpc-timeout", formatTimeout(deadlineMs - nowMs), {
      perCall: true,
    });
    return this.perCall.map((field) => field.name === "grpc-timeout" ? left : field);
  }

  /** Whether it can be sent once more: nothing of the reply has come, and the request is still whole. */
  get canRepeat(): boolean {
    return !this.ended && this.log.end === 0 && this.body.start === 0;
  }

  /** The reply's last message is not whole: no client takes it for an answer, whatever its status. */
  get isBrokenOff(): boolean {
    return this.#replyScanner?.partial ?? false;
  }

  /** What the reply's initial or trailing metadata says about sharing it; the stricter word counts. */
  restrict({ isPrivate, maxAgeMs }: CachePolicy): void {
    if (isPrivate) this.isPrivate = true;
    this.maxAgeMs = Math.min(this.maxAgeMs, maxAgeMs);
  }

  /** DATA of the reply; returns whether it has begun to stream, which is by a second message. */
  receive(bytes: Uint8Array, from: number, to: number): boolean {
    const isWhole = this.receivedBytes === 0 && isOneMessage(bytes, from, to);
    this.receivedBytes += to - from;
    this.log.appendData(bytes, from, to);
    if (isWhole) return false;
    const scanner = this.#replyScanner ??= new MessageScanner();
    // What came before the scanner was one whole message.
    const before = this.receivedBytes > to - from && scanner.started === 0 ? 1 : 0;
    scanner.scan(bytes, from, to);
    return scanner.started + before > 1;
  }

  /** A header list of this size has come. */
  countList(bytes: number): void {
    if (bytes > this.largestListBytes) this.largestListBytes = bytes;
  }

  /** Ends it with the backend's own status; the log has its end already. */
  end(status: number): void {
    this.ended = true;
    this.status = status;
    // Nothing that lives on may lead here: what is dead but old would keep it alive.
    if (this.stream !== undefined) this.stream.owner = undefined;
  }

  /** Ends it with a failure, which becomes the end of the log. Nothing happens when it has ended. */
  fail(failure: Failure): void {
    if (this.ended) return;
    this.failure = failure;
    appendFailure(this.log, failure);
    this.end(statusOfFailure(failure).code);
  }

  /** Tells the owner what has come. A fault of ours in that ends the call for those who wait, and nothing else. */
  tell(nowMs: number, observer: UpstreamObserver): void {
    try {
      if (this.ended) this.owner.replyEnded(nowMs);
      else this.owner.replyGrew();
    } catch (error) {
      observer.faultOfOurs("passing a reply on", error);
      this.owner.faulted();
    }
  }

  /** Its owner is done with it: nothing reads its logs any more. */
  release(): void {
    this.log.clear();
    this.body.clear();
  }

  /** The reader that is furthest has `unreadBytes` of the log to go: the backend may send as much as that was. */
  credit(unreadBytes: number): void {
    const due = this.receivedBytes - this.creditedBytes - Math.max(0, unreadBytes);
    if (due <= 0 || this.stream === undefined || this.session === undefined) return;
    this.creditedBytes += due;
    this.session.credit(this.stream, due);
  }
}

function isNoTimeout({ name }: Field): boolean {
  return name !== "grpc-timeout";
}
