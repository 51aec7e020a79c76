import { decodeGrpcMessage, formatTimeout, frameMessage, STATUS } from "../../grpc/mod.ts";
import { type Address, type Dial, dialTcp, Timers } from "../../transport/mod.ts";
import { FrameLog, HeaderCache } from "../../wire/mod.ts";
import { authorityOf } from "./authority.ts";
import { type CallKeeper, ClientCall, type Method, type OnEnd } from "./call.ts";
import { CallQueue } from "./call_queue.ts";
import { ClientPool, type PoolOwner } from "./pool.ts";
import type { ClientSession } from "./session.ts";

const USER_AGENT = "collapser-measure";

/** Longest that a connection may take to be made, its SETTINGS included. */
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Time after a call's deadline until it is given up here: whoever is measured must have the chance to say so first, and
 * we must not wait for ever for one who never does.
 */
const DEADLINE_GRACE_MS = 250;

/** Calls that may wait for room on a connection; some 40 MB of them. Beyond, a server is not slow but gone. */
const MAX_WAITING = 200_000;

const CLOSED = "the client was closed";

/** A method and all that does not differ from call to call. */
export interface MethodOptions {
  /** Value of `:path`: "/package.Service/Method". */
  readonly path: string;
  readonly metadata?: readonly (readonly [name: string, value: string])[];
  /** Deadline of each call, sent as `grpc-timeout` and kept here too; undefined for none. */
  readonly deadlineMs?: number | undefined;
}

export interface ClientOptions {
  /** Connections that are kept open, over which calls are spread. @default 1 */
  readonly connections?: number;
  /** Longest that one connection may take to be made, its SETTINGS included. @default 5000 */
  readonly connectTimeoutMs?: number;
  readonly dial?: Dial;
  /** Timers of the caller, which are not stopped with the client. */
  readonly timers?: Timers;
}

/** The end of a single call. */
export interface Reply {
  /** A gRPC status, the other side's or one of ours. */
  readonly status: number;
  /** `grpc-message` decoded, or what went wrong here. */
  readonly message: string;
  /** The message of the reply without its prefix; empty when the call failed. */
  readonly body: Uint8Array;
  /** HTTP status of the reply; 0 when nothing was answered. */
  readonly httpStatus: number;
  /** The trailer `x-collapser`; "" without one. */
  readonly outcome: string;
  readonly latencyMs: number;
}

/**
 * Opens a client. Resolves when all its connections can take calls; rejects with the first reason why one cannot,
 * having closed the others.
 */
export async function openClient(address: Address, options: ClientOptions = {}): Promise<Client> {
  const client = new Client(address, options);
  try {
    await client.open();
  } catch (error) {
    await client.close();
    throw error;
  }
  return client;
}

/** Unary gRPC calls over a fixed number of connections, made for many at once: a call costs a few microseconds. */
export class Client implements PoolOwner, CallKeeper {
  readonly timers: Timers;
  #authority: string;
  #ownsTimers: boolean;
  #pool: ClientPool;
  #headers = new HeaderCache();
  #waiting = new CallQueue();
  #closed = false;

  constructor(address: Address, options: ClientOptions) {
    const { connections = 1, connectTimeoutMs = CONNECT_TIMEOUT_MS, dial = dialTcp } = options;
    this.#authority = authorityOf(address);
    this.#ownsTimers = options.timers === undefined;
    this.timers = options.timers ?? new Timers();
    const { timers } = this;
    this.#pool = new ClientPool(this, { address, connections, connectTimeoutMs, dial, timers });
  }

  /** Makes the connections; {@linkcode openClient} calls this. */
  open(): Promise<void> {
    return this.#pool.open();
  }

  /** Makes a method ready to be called. */
  method({ path, metadata = [], deadlineMs = Infinity }: MethodOptions): Method {
    const fields: (readonly [string, string])[] = [
      [":method", "POST"],
      [":scheme", "http"],
      [":path", path],
      [":authority", this.#authority],
      ["te", "trailers"],
      ["content-type", "application/grpc"],
      ["user-agent", USER_AGENT],
      ...metadata,
    ];
    const headWithoutTimeout = this.#headers.list(fields);
    if (deadlineMs === Infinity) {
      return { head: headWithoutTimeout, headWithoutTimeout, deadlineMs };
    }
    const head = this.#headers.list([...fields, ["grpc-timeout", formatTimeout(deadlineMs)]]);
    return { head, headWithoutTimeout, deadlineMs };
  }

  /**
   * Makes a call. `onEnd` hears of its end once, and never before this returns. `body` may be shared by calls;
   * {@linkcode requestBody} makes one. The latency, and the deadline, count from `startedMs`.
   */
  call(
    method: Method,
    body: FrameLog,
    onEnd: OnEnd,
    startedMs: number = this.timers.clock.now(),
  ): ClientCall {
    const call = new ClientCall(this, method, body, startedMs, onEnd);
    if (method.deadlineMs !== Infinity) {
      this.timers.set(call, startedMs + method.deadlineMs + DEADLINE_GRACE_MS);
    }
    if (this.#pool.down > 0) this.#pool.revive();
    const session = this.#waiting.size === 0 ? this.#pool.pick() : undefined;
    if (session !== undefined) session.open(call);
    else this.#wait(call);
    return call;
  }

  /** Makes one call and resolves with its reply, for when there are not many. Never rejects. */
  callOnce({ message, ...method }: MethodOptions & { message: Uint8Array }): Promise<Reply> {
    return new Promise((resolve) => {
      const body = requestBody(message);
      const call = this.call(this.method(method), body, (ended) => resolve(replyOf(ended)));
      call.pieces = [];
    });
  }

  /** Ends the calls under way with CANCELLED, and closes the connections. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#endWaiting(STATUS.cancelled, CLOSED);
    await this.#pool.close(CLOSED);
    if (this.#ownsTimers) this.timers.stop();
  }

  // ---- what calls and connections tell

  expire(call: ClientCall, nowMs: number): void {
    call.carrier?.cancel(call);
    call.end(STATUS.deadlineExceeded, "no answer by the deadline", nowMs);
  }

  hasRoom(session: ClientSession): void {
    while (this.#waiting.size > 0 && session.canOpen) {
      const call = this.#waiting.take();
      if (call !== undefined) session.open(call);
    }
  }

  lost(): boolean {
    return this.#waiting.size > 0;
  }

  unreachable(why: string): void {
    this.#endWaiting(STATUS.unavailable, why);
  }

  #wait(call: ClientCall): void {
    if (!this.#closed && this.#waiting.size < MAX_WAITING) return this.#waiting.add(call);
    const [status, why] = this.#closed
      ? [STATUS.cancelled, CLOSED]
      : [STATUS.resourceExhausted, "too many calls wait for a connection"];
    queueMicrotask(() => call.end(status, why, this.timers.clock.now()));
  }

  #endWaiting(status: number, why: string): void {
    const nowMs = this.timers.clock.now();
    for (const call of this.#waiting.takeAll()) call.end(status, why, nowMs);
  }
}

/** A request with one message as it is sent; good for any number of calls. */
export function requestBody(message: Uint8Array): FrameLog {
  const framed = frameMessage(message);
  const log = new FrameLog();
  log.appendData(framed, 0, framed.length, true);
  return log;
}

function replyOf(call: ClientCall): Reply {
  const { status, httpStatus, outcome, latencyMs } = call;
  return {
    status,
    message: decodeGrpcMessage(call.message),
    body: status === STATUS.ok ? messageOf(call) : new Uint8Array(0),
    httpStatus,
    outcome,
    latencyMs,
  };
}

/** The pieces of the reply as one, without the five bytes before the message. */
function messageOf({ pieces = [], bodyBytes }: ClientCall): Uint8Array {
  const whole = new Uint8Array(bodyBytes);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole.subarray(5);
}
