import type { Stream } from "../../connection/mod.ts";
import { Alarm, type Timers } from "../../transport/mod.ts";
import type { FrameLog, HeaderList } from "../../wire/mod.ts";

/** The status of a call that has not ended. */
export const PENDING = -1;

/** A method and how to call it, made ready once for many calls. */
export interface Method {
  /** The whole request head, interned. */
  readonly head: HeaderList;
  /** The head without `grpc-timeout`, for a call that has less time left than it was given. */
  readonly headWithoutTimeout: HeaderList;
  /** How long a call may take; Infinity for no deadline. */
  readonly deadlineMs: number;
}

/** The owner of a call, which ends it when its deadline has passed. */
export interface CallKeeper {
  readonly timers: Timers;
  expire(call: ClientCall, nowMs: number): void;
}

/** The connection that a call is under way on. */
export interface CallCarrier {
  cancel(call: ClientCall): void;
}

/** Hears of the end of a call. */
export type OnEnd = (call: ClientCall) => void;

/**
 * One call, from when it is made until it has a status, and the alarm of its deadline. The client alone writes its
 * fields.
 */
export class ClientCall extends Alarm {
  readonly method: Method;
  readonly body: FrameLog;
  /** The time that latency and deadline are counted from, by the client's clock. */
  readonly startedMs: number;
  /** The call's gRPC status, or {@linkcode PENDING}. */
  status = PENDING;
  /** `grpc-message` as it came, or what went wrong here. */
  message = "";
  /** HTTP status of the reply; 0 when nothing was answered. */
  httpStatus = 0;
  /** Value of the trailer `x-collapser`; "" without one. */
  outcome = "";
  /** DATA bytes of the reply, message prefixes included. */
  bodyBytes = 0;
  /** Length of the whole reply by its message's prefix, which `bodyBytes` must come to; 0 while that is not known. */
  promisedBytes = 0;
  endedMs = 0;
  /** The reply's DATA as it came, where the caller wants it. */
  pieces: Uint8Array[] | undefined = undefined;
  stream: Stream<ClientCall> | undefined = undefined;
  carrier: CallCarrier | undefined = undefined;
  #keeper: CallKeeper;
  #onEnd: OnEnd;

  /** Positional, since it runs for every call that is made. */
  constructor(
    keeper: CallKeeper,
    method: Method,
    body: FrameLog,
    startedMs: number,
    onEnd: OnEnd,
  ) {
    super();
    this.#keeper = keeper;
    this.method = method;
    this.body = body;
    this.startedMs = startedMs;
    this.#onEnd = onEnd;
  }

  get ended(): boolean {
    return this.status !== PENDING;
  }

  get latencyMs(): number {
    return this.endedMs - this.startedMs;
  }

  /** Ends the call and says so, the first time. Whatever still comes on its stream is nobody's. */
  end(status: number, message: string, nowMs: number): void {
    if (this.ended) return;
    this.status = status;
    this.message = message;
    this.endedMs = nowMs;
    if (this.stream !== undefined) this.stream.owner = undefined;
    this.#keeper.timers.cancel(this);
    this.#onEnd(this);
  }

  override wake(nowMs: number): void {
    this.#keeper.expire(this, nowMs);
  }
}
